"""Where to start: every shift at once by FFT, for a grid of rotations and scales.

Edges of both images become fields of doubled gradient angles, which do not care which side of an
edge is brighter. Their correlation is divided by what chance would give, so that a small overlap
wins only if it fits beyond chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import fft2, ifft2, irfft2, next_fast_len, rfft2
from scipy.ndimage import maximum_filter

from napari_cosparse.core.edges import edge_directions
from napari_cosparse.core.geometry import rotation_along
from napari_cosparse.core.types import Plane

from ._canvas import canvas_shape, placed, turned
from ._frame import Frame, Matrix
from ._pyramid import Level

LARGEST = 320  # pixels: side of the level that is searched
FLOOR = 0.2  # contrasts per pixel: gradients below count little
ANGLE_STEP = 3.0  # degrees
SCALE_STEP = 1.08
LEAST_OVERLAP = 0.15  # of the smaller image's area
PEAKS = 2  # shifts of each rotation and scale
APART = 4  # pixels of the searched level between two candidates of one rotation


class Candidate(NamedTuple):
    """A motion worth refining.

    Attributes
    ----------
    tau : ndarray, shape (3, 3)
        In normalised coordinates.
    score : float
        How far the correlation exceeds chance, in deviations.
    """

    tau: Matrix
    score: float


def edge_field(level: Level) -> NDArray[np.complex64]:
    """Doubled gradient angle of each pixel, weighted towards clear edges.

    Parameters
    ----------
    level : Level
        One image; unusable pixels and their neighbours get 0.

    Returns
    -------
    ndarray, shape (h, w), complex64
        Of modulus below 1.
    """
    return np.asarray(edge_directions(level.image, level.usable, FLOOR, 3), np.complex64)


def grid_of_motions(
    max_rotation: float, max_scale: float, base: NDArray[np.float64] | None = None
) -> list[NDArray[np.float64]]:
    """Rotations and scales to try.

    Parameters
    ----------
    max_rotation : float
        Largest rotation either way, in degrees; 180 means the whole circle.
    max_scale : float
        Largest magnification; 1 means none. Its inverse is the smallest.
    base : ndarray, shape (2, 2), optional
        Linear part that they are applied after.

    Returns
    -------
    list of ndarray, shape (2, 2)
        Linear parts, fixed pixel -> moving pixel.
    """
    turns = int(np.ceil(min(max_rotation, 180.0) / ANGLE_STEP))
    angles = np.arange(-turns, turns + 1) * ANGLE_STEP
    if turns * ANGLE_STEP >= 180.0:
        angles = angles[1:]
    steps = int(np.ceil(np.log(max_scale) / np.log(SCALE_STEP) - 1e-9))
    scales = SCALE_STEP ** np.arange(-steps, steps + 1.0)
    first = np.eye(2) if base is None else base
    return [s * rotation(a) @ first for s in scales for a in angles]


def sheared(motions: list[NDArray[np.float64]], step: float) -> list[NDArray[np.float64]]:
    """Vary linear parts by what an affine motion has beyond a similarity.

    Parameters
    ----------
    motions : list of ndarray, shape (2, 2)
        Linear parts.
    step : float
        Stretch of one axis against the other (natural logarithm), and shear.

    Returns
    -------
    list of ndarray, shape (2, 2)
        Each motion after no or one step either way of both; equal ones once.
    """
    found: dict[tuple[float, ...], NDArray[np.float64]] = {}
    for motion in motions:
        for stretch in (-step, 0.0, step):
            for shear in (-step, 0.0, step):
                change = np.array([[np.exp(stretch), shear], [shear, np.exp(-stretch)]])
                varied = motion @ change
                found.setdefault(tuple(np.round(varied.ravel() / step * 4)), varied)
    return list(found.values())


def search(
    fixed: Level, moving: Level, frame: Frame, motions: list[NDArray[np.float64]]
) -> Iterator[list[Candidate]]:
    """Best shifts for each linear part.

    Parameters
    ----------
    fixed, moving : Level
        Of one scale.
    frame : Frame
        Centres and unit of length.
    motions : list of ndarray, shape (2, 2)
        Linear parts, see `grid_of_motions` and `sheared`.

    Yields
    ------
    list of Candidate
        For one linear part.
    """
    shapes = [canvas_shape(fixed, turn) for turn in motions]
    other = spectra_of(moving, np.max(shapes, 0))
    for turn in motions:
        canvas = turned(fixed, turn)
        found = peaks_of(scores(fixed, canvas, other), PEAKS, moving.image.shape)
        yield [Candidate(placed(shift, canvas, turn, moving, frame), v) for shift, v in found]


class Spectra(NamedTuple):
    """Of the moving image, padded.

    Attributes
    ----------
    edges : ndarray, shape (h, w), complex64
        Of its `edge_field`.
    squares, area : ndarray, shape (h, w // 2 + 1), complex64
        Of the field's squares, and of where the image is.
    shape : tuple of int
        Padded.
    size : int
        Number of pixels, not padded.
    """

    edges: NDArray[np.complex64]
    squares: NDArray[np.complex64]
    area: NDArray[np.complex64]
    shape: tuple[int, ...]
    size: int


def spectra_of(moving: Level, room: Sequence[int]) -> Spectra:
    """Transform the moving image once for all motions.

    Parameters
    ----------
    moving : Level
        Moving image.
    room : sequence of int, shape (2,)
        Size of the largest canvas that the fixed image is laid on, in pixels.

    Returns
    -------
    Spectra
    """
    field = edge_field(moving)
    sizes = zip(room, field.shape, strict=True)
    shape = tuple(next_fast_len(int(most) + size, real=True) for most, size in sizes)
    known = np.ones(field.shape, np.float32)
    squares, area = rfft2(np.abs(field) ** 2, shape), rfft2(known, shape)
    return Spectra(fft2(field, shape), squares, area, shape, field.size)


def scores(fixed: Level, canvas: Level, other: Spectra) -> Plane:
    """How far edges coincide beyond chance, for each shift.

    Parameters
    ----------
    fixed : Level
        Fixed image.
    canvas : Level
        The same, `turned`.
    other : Spectra
        Of the moving image.

    Returns
    -------
    ndarray, shape (h, w), float32
        In deviations; periodic. 0 where the images share too little.
    """
    match, chance = correlated(canvas, other)
    room = LEAST_OVERLAP * min(fixed.image.size, other.size)
    known = np.conj(rfft2(canvas.usable.astype(np.float32), other.shape))
    score: Plane = match / np.sqrt(np.maximum(chance, 1e-3 * room) / 2)
    score[irfft2(known * other.area, other.shape) < room] = 0
    return score


def correlated(canvas: Level, other: Spectra) -> tuple[Plane, Plane]:
    """Correlation of edges for each shift.

    Parameters
    ----------
    canvas : Level
        Fixed image, `turned`.
    other : Spectra
        Of the moving image.

    Returns
    -------
    match : ndarray, shape (h, w), float32
        Sum of the cosines of the doubled angles between edges, weighted by both; periodic.
    chance : ndarray, shape (h, w), float32
        Sum of the squared weights: twice the variance of `match` for unrelated directions.
    """
    field, shape = edge_field(canvas), other.shape
    match = ifft2(np.conj(fft2(field, shape)) * other.edges).real
    chance = irfft2(np.conj(rfft2(np.abs(field) ** 2, shape)) * other.squares, shape)
    return match, chance


def rotation(angle: float) -> NDArray[np.float64]:
    """Matrix of a rotation.

    Parameters
    ----------
    angle : float
        In degrees, from the row axis towards the column axis.

    Returns
    -------
    ndarray, shape (2, 2)
    """
    turn = np.deg2rad(angle)
    return rotation_along(np.cos(turn), np.sin(turn))


def peaks_of(
    score: Plane, count: int, reach: tuple[int, ...]
) -> list[tuple[tuple[int, int], float]]:
    """Highest local maxima of a correlation over all shifts.

    Parameters
    ----------
    score : ndarray, shape (h, w)
        Periodic; shifts beyond `reach` are negative ones.
    count : int
        How many to return at most.
    reach : tuple of int
        Shape of the moving image.

    Returns
    -------
    list of ((int, int), float)
        Shift and score, best first.
    """
    top = maximum_filter(score, 2 * APART + 1, mode="wrap")
    places = np.flatnonzero((score == top) & (score > 0))
    best = places[np.argsort(score.reshape(-1)[places], kind="stable")[::-1][:count]]
    found = []
    for place in best:
        row, column = divmod(int(place), score.shape[1])
        value = float(score[row, column])
        row -= score.shape[0] if row >= reach[0] else 0
        column -= score.shape[1] if column >= reach[1] else 0
        found.append(((row, column), value))
    return found
