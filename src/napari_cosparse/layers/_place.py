"""Where the samples of one layer lie on the pixel grid of another one."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atan2, cos, degrees, sin

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._grid import Grid, in_units_of, unplaced

DRIFT = 0.1  # guide pixels by which rotation and shear may move a sample and count as none
ROUNDING = 1e-3  # guide pixels over the whole image that are put down to rounding
SHEARED = 1e-3  # what is left of a unit step once the rotation is taken out
LEAST_ANGLE = 0.01  # degrees that are told

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Placing:
    """Where the target's samples lie on the guide's pixel grid.

    Attributes
    ----------
    factor : tuple of float
        Distance of neighbouring samples in guide pixels, along the target's rows and columns.
    origin : tuple of float
        Position (row, column) of target sample (0, 0) in guide pixels.
    transform : ndarray, shape (3, 3), float64, or None
        Guide pixel (row, column, 1) to target pixel, where the target's rows and columns do not
        run along the guide's; None where factor and origin say all.
    because : str
        How the target lies then, as "turned by 12.3 degrees"; empty if there is no transform.
    note : str
        What was assumed about units, as a sentence; empty if nothing.
    """

    factor: tuple[float, float]
    origin: tuple[float, float]
    transform: Matrix | None = field(default=None, compare=False)
    because: str = ""
    note: str = field(default="", compare=False)


def place(target: Grid, guide: Grid) -> Placing | None:
    """Find where the target's samples lie on the guide's pixel grid.

    Parameters
    ----------
    target : Grid
        Grid of the low-resolution layer.
    guide : Grid
        Grid of the high-resolution layer.

    Returns
    -------
    Placing or None
        None where nobody has said how they lie on one another, see `unplaced`: they are taken to
        show the same field of view.

    Raises
    ------
    InputError
        A layer is squashed to a line.
    """
    if unplaced(target, guide):
        return None
    for grid in (target, guide):
        if abs(np.linalg.det(grid.matrix[:2, :2])) < np.finfo(float).tiny:
            raise InputError(f"layer {grid.name!r} is squashed to a line by its transforms")
    lies, note = in_units_of(guide, target)
    matrix = np.linalg.inv(guide.matrix).astype(np.float64) @ lies
    origin = _tidy(matrix[0, 2], 1), _tidy(matrix[1, 2], 1)
    if _is_straight(matrix, target.shape):
        factor = tuple(_tidy(matrix[axis, axis], target.shape[axis]) for axis in (0, 1))
        return Placing((factor[0], factor[1]), origin, note=note)
    transform: Matrix = np.linalg.inv(matrix).astype(np.float64)
    transform[-1] = (0, 0, 1)
    return Placing(steps_of(transform), origin, transform, _how(lies, guide.matrix), note)


def steps_of(transform: Matrix) -> tuple[float, float]:
    """Distance of two samples along the target's own rows and columns.

    Parameters
    ----------
    transform : ndarray, shape (3, 3)
        Guide pixel to target pixel.

    Returns
    -------
    tuple of float
        In guide pixels.
    """
    rows, columns = np.linalg.norm(np.linalg.inv(transform)[:2, :2], axis=0)
    return float(rows), float(columns)


def _is_straight(matrix: Matrix, shape: tuple[int, int]) -> bool:
    """Whether the target's rows and columns run along the guide's, in the same direction."""
    rows, columns = shape
    drift = max(abs(matrix[0, 1]) * (columns - 1), abs(matrix[1, 0]) * (rows - 1))
    return bool(drift <= DRIFT and matrix[0, 0] > 0 and matrix[1, 1] > 0)


def _how(target: Matrix, guide: Matrix) -> str:
    """Say how the axes of the target lie against those of the guide, in the world."""
    ours, theirs = (m[:2, :2] / np.linalg.norm(m[:2, :2], axis=0) for m in (target, guide))
    axes = np.linalg.inv(theirs) @ ours
    parts = []
    flipped = bool(np.linalg.det(axes) < 0)
    if flipped:
        axes = axes @ np.diag([1.0, -1.0])
    angle = atan2(axes[1, 0] - axes[0, 1], axes[0, 0] + axes[1, 1])
    if flipped and abs(degrees(angle)) > 180 - LEAST_ANGLE:
        parts.append("upside down (rows mirrored)")
        axes, angle = -axes, 0.0
    elif flipped:
        straight = abs(degrees(angle)) < LEAST_ANGLE
        parts.append("mirrored left to right" if straight else "mirrored")
    turn = np.array([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]])
    sheared = bool(np.abs(axes - turn).max() > SHEARED)
    if abs(degrees(angle)) >= LEAST_ANGLE or not (parts or sheared):
        parts.append(f"turned by {degrees(angle):.3g} degrees")
    return " and ".join([*parts, *(["sheared"] if sheared else [])])


def _tidy(value: float, count: int) -> float:
    """Undo rounding of matrix products, which would turn integer factors into general ones."""
    whole = float(round(value))
    return whole if abs(value - whole) * count < ROUNDING else round(float(value), 9)
