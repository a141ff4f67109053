"""Do the edges of a target and its guide coincide? A check before upsampling.

Both images become fields of doubled gradient angles, which do not care which side of an edge is
brighter; the field of one is correlated with shifted copies of the other's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import fft2, ifft2, next_fast_len
from scipy.ndimage import gaussian_filter

from napari_cosparse.core.edges import edge_directions
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.ranges import robust_range
from napari_cosparse.core.types import Plane

from ._scale import as_numbers, check_guide_shape

SMOOTHING = 1.0  # pixels
FLOOR = 0.02  # of the range per pixel: gradients below count little
LEAST_GAIN = 1.2  # how much better the best shift must be than none
LEAST_PEAK = 6.0  # how far the best shift must stand out, in deviations of all shifts
EDGE_SHARE = 0.25  # of the width: largest shift that is looked for
LARGEST = 48  # pixels
LEAST_SCORE = 0.05  # correlation below which nothing is said
REACH = 9  # pixels: a gradient this near a hole is the hole's


@dataclass(frozen=True)
class Alignment:
    """Outcome of `check_alignment`.

    Attributes
    ----------
    shift : tuple of float
        Rows and columns by which the target's edges lie beyond the guide's, in guide pixels;
        the best whole shift.
    score, score_unshifted : float
        Correlation of the edge fields at that shift and without one, in [-1, 1].
    coincide : bool
        False where another shift fits clearly better than none.
    because : str
        The verdict in one sentence.
    """

    shift: tuple[float, float]
    score: float
    score_unshifted: float
    coincide: bool
    because: str


def check_alignment(target: ArrayLike, guide: ArrayLike, tolerance: float = 2.0) -> Alignment:
    """Compare the edges of two images on one grid over all shifts.

    Parameters
    ----------
    target : array_like, shape (N1, N2)
        Target on the guide's grid, for instance the upsampled one; NaN where unknown.
    guide : array_like, shape (N1, N2) or (N1, N2, channels)
        Guide.
    tolerance : float
        Shift that is not worth a warning, in guide pixels.

    Returns
    -------
    Alignment
        Its `coincide` is True where in doubt.

    Raises
    ------
    InputError
        If the shapes differ.
    """
    fixed, moving = as_numbers(guide, "guide"), as_numbers(target, "target")
    check_guide_shape(fixed.shape)
    gray = fixed if fixed.ndim == 2 else fixed[..., : 3 if fixed.shape[2] in (3, 4) else 1].mean(2)
    if gray.shape != moving.shape:
        raise InputError(
            f"target has shape {moving.shape} but the guide {gray.shape}; upsample the target first"
        )
    scores, none = _shift_scores(_edge_field(gray), _edge_field(moving))
    return _verdict(scores, none, tolerance)


def _edge_field(image: Plane) -> NDArray[np.complex128]:
    """Edges of an image in any unit, holes filled."""
    finite = np.isfinite(image)
    if min(image.shape) < 2 or not finite.any():
        return np.zeros(image.shape, np.complex128)
    low, span = robust_range(image[finite])
    smooth = gaussian_filter(np.where(finite, (image - low) / span, 0.0), SMOOTHING)
    return np.asarray(edge_directions(smooth, finite, FLOOR, REACH), np.complex128)


def _shift_scores(
    fixed: NDArray[np.complex128], moving: NDArray[np.complex128]
) -> tuple[NDArray[np.float64], tuple[int, int]]:
    """Correlation at every shift up to the largest, and the position of no shift."""
    reach = tuple(int(min(LARGEST, EDGE_SHARE * size)) for size in fixed.shape)
    shape = tuple(next_fast_len(size + r) for size, r in zip(fixed.shape, reach, strict=True))
    product = np.conj(fft2(fixed, shape)) * fft2(moving, shape)
    correlation = ifft2(product).real
    norm = np.sqrt((np.abs(fixed) ** 2).sum() * (np.abs(moving) ** 2).sum())
    scores = np.roll(correlation, reach, (0, 1))[: 2 * reach[0] + 1, : 2 * reach[1] + 1]
    if norm:
        scores /= norm
    return scores, (reach[0], reach[1])


def _verdict(scores: NDArray[np.float64], none: tuple[int, int], tolerance: float) -> Alignment:
    peak = np.unravel_index(int(scores.argmax()), scores.shape) if scores.any() else none
    shift = int(peak[0]) - none[0], int(peak[1]) - none[1]
    best, here = float(scores[peak]), float(scores[none])
    far = max(abs(shift[0]), abs(shift[1])) > tolerance
    spread = float(np.median(np.abs(scores - np.median(scores)))) / 0.6745
    clear = best > LEAST_GAIN * max(here, 0) and best > LEAST_PEAK * spread and best > LEAST_SCORE
    coincide, reason = True, "no other shift fits clearly better"
    if far and clear:
        coincide = False
        reason = (
            f"edges do not coincide: the target fits the guide best when moved by "
            f"({-shift[0]}, {-shift[1]}) pixels (rows, columns); register the images first"
        )
    moved = float(shift[0]), float(shift[1])
    return Alignment(moved, best, here, coincide, reason)
