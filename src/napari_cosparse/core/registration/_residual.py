"""Shift that is left in each part of the image: parallax and distortion that one matrix leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.fft import fft2, ifft2, irfft2, next_fast_len, rfft2
from scipy.ndimage import affine_transform

from ._frame import Matrix
from ._pyramid import Level
from ._scene import Scene
from ._start import edge_field

CELLS = 8  # along each side
LARGEST = 512  # pixels: side of the level that is compared
REACH = 8  # pixels of the level
CLEAR = 5.0  # deviations beyond chance: a peak below says nothing
LEAST_CELL = 12  # pixels of the level


def residual_map(scene: Scene, tau: Matrix) -> NDArray[np.float32] | None:
    """Best local shift in each cell of the fixed image.

    Parameters
    ----------
    scene : Scene
        The pair.
    tau : ndarray, shape (3, 3)
        The answer.

    Returns
    -------
    ndarray, shape (8, 8), or None
        Length of the shift in working pixels; NaN where edges are too few. None where the cells
        would be too small.
    """
    fixed, laid = overlaid(scene, tau)
    if min(fixed.image.shape) < CELLS * LEAST_CELL:
        return None
    first, second = edge_field(fixed), edge_field(laid)
    rows, columns = (np.linspace(0, size, CELLS + 1).astype(int) for size in first.shape)
    out = np.full((CELLS, CELLS), np.nan, np.float32)
    for i in range(CELLS):
        for j in range(CELLS):
            cell = slice(rows[i], rows[i + 1]), slice(columns[j], columns[j + 1])
            out[i, j] = _local_shift(first[cell], second[cell]) * fixed.scale
    return out


def overlaid(scene: Scene, tau: Matrix) -> tuple[Level, Level]:
    """Lay the moving image on the fixed one, on the level on which parts are compared.

    Parameters
    ----------
    scene : Scene
        The pair.
    tau : ndarray, shape (3, 3)
        The motion, in normalised coordinates.

    Returns
    -------
    fixed, laid : Level
        Both on the pixels of the fixed level.
    """
    number = scene.level_within(LARGEST)
    fixed = scene.fixed[number]
    return fixed, warped(scene, fixed, scene.moving[number], tau)


def warped(scene: Scene, fixed: Level, moving: Level, tau: Matrix) -> Level:
    """Lay a level of the moving image on the fixed one.

    Parameters
    ----------
    scene : Scene
        For the frame.
    fixed, moving : Level
        Of one scale.
    tau : ndarray, shape (3, 3)
        The motion, in normalised coordinates.

    Returns
    -------
    Level
        On the pixels of the fixed level.
    """
    matrix = scene.frame.to_pixels(tau)
    linear, offset = matrix[:2, :2], matrix[:2, 2] / fixed.scale
    shape = fixed.image.shape
    image = affine_transform(moving.image, linear, offset, shape, order=1, mode="nearest")
    usable = affine_transform(moving.usable.astype(np.float32), linear, offset, shape, order=1)
    return Level(image, usable > 1 - 1e-3, fixed.scale)


def _local_shift(first: NDArray[np.complex64], second: NDArray[np.complex64]) -> float:
    """Length of the shift between two windows; NaN if none stands out."""
    # wide enough that shifts within reach do not wrap around
    shape = tuple(next_fast_len(size + REACH, real=True) for size in first.shape)
    match = ifft2(np.conj(fft2(first, shape)) * fft2(second, shape)).real
    own, other = rfft2(np.abs(first) ** 2, shape), rfft2(np.abs(second) ** 2, shape)
    chance = irfft2(np.conj(own) * other, shape)
    room = chance > 0.1 * max(float(chance.max()), 1e-6)
    score = np.where(room, match / np.sqrt(np.maximum(chance, 1e-6) / 2), 0)
    near = np.roll(score, (REACH, REACH), (0, 1))[: 2 * REACH + 1, : 2 * REACH + 1]
    best = np.unravel_index(int(near.argmax()), near.shape)
    if near[best] < CLEAR:
        return float("nan")
    return float(np.hypot(int(best[0]) - REACH, int(best[1]) - REACH))
