"""Where one layer's pixels lie on another layer's pixel grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from napari.layers import Image
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._read import levels_of
from ._world import is_physical, placement, plane_matrix, unit_factors, world_matrix

DRIFT = 0.1  # guide pixels by which rotation and shear may move a sample before we refuse
ROUNDING = 1e-3  # guide pixels over the whole image that are put down to rounding


@dataclass(frozen=True, eq=False)
class Grid:
    """Pixel grid of a layer's planes in the world.

    Attributes
    ----------
    name : str
        Name of the layer.
    shape : tuple of int
        Rows and columns.
    matrix : ndarray, shape (3, 3), float64
        Maps pixel (row, column, 1) to the world, in `units`; pixel centres are integers.
    units : tuple of pint.Unit
        Unit of the two world axes.
    """

    name: str
    shape: tuple[int, int]
    matrix: NDArray[np.float64]
    units: tuple[Any, Any]

    @property
    def is_default(self) -> bool:
        """Whether nobody has said where the layer lies: identity and pixels."""
        in_pixels = not any(is_physical(unit) for unit in self.units)
        return in_pixels and bool(np.array_equal(self.matrix, np.eye(3)))


@dataclass(frozen=True)
class Placing:
    """Where the target's samples lie on the guide's pixel grid.

    Attributes
    ----------
    factor : tuple of float
        Distance of neighbouring samples in guide pixels, along rows and columns.
    origin : tuple of float
        Position (row, column) of target sample (0, 0) in guide pixels.
    """

    factor: tuple[float, float]
    origin: tuple[float, float]


def grid_of(layer: Image, level: int = 0) -> Grid:
    """Pixel grid of a layer, with its scale, translate, rotate, shear and affine.

    Parameters
    ----------
    layer : napari.layers.Image or Labels
        A plane, or a stack of planes that lie on one another.
    level : int
        Pyramid level of a multiscale layer. Pixels of a coarse level are taken as means of blocks,
        so their centres lie in the middle of the block.

    Returns
    -------
    Grid
        The grid of that level.

    Raises
    ------
    InputError
        The planes are tilted out of the last two world axes.
    """
    matrix = plane_matrix(world_matrix(placement(layer, level)), layer.name)
    return Grid(layer.name, levels_of(layer)[level], matrix, layer.units[-2:])


def place(target: Grid, guide: Grid) -> Placing | None:
    """Find factor and origin of the target on the guide's pixel grid.

    Parameters
    ----------
    target : Grid
        Grid of the low-resolution layer.
    guide : Grid
        Grid of the high-resolution layer.

    Returns
    -------
    Placing or None
        None where both layers have default transforms but different shapes: they then say nothing
        about their positions and are taken to show the same field of view.

    Raises
    ------
    InputError
        The units cannot be converted, or the target is rotated, sheared or mirrored against the
        guide.
    """
    if target.is_default and guide.is_default and target.shape != guide.shape:
        return None
    to_guide = np.linalg.inv(guide.matrix).astype(np.float64)
    matrix = to_guide @ _unit_matrix(target, guide) @ target.matrix
    _check_axes(matrix, target, guide)
    factor = tuple(_tidy(matrix[axis, axis], target.shape[axis]) for axis in (0, 1))
    origin = tuple(_tidy(matrix[axis, 2], 1) for axis in (0, 1))
    return Placing((factor[0], factor[1]), (origin[0], origin[1]))


def _unit_matrix(target: Grid, guide: Grid) -> NDArray[np.float64]:
    """Convert the target's world coordinates to the guide's units."""
    factors = unit_factors(target.units, guide.units)
    if factors is None:
        ours, theirs = (", ".join(sorted({str(unit) for unit in g.units})) for g in (target, guide))
        raise InputError(
            f"target {target.name!r} is measured in {ours} and guide {guide.name!r} in "
            f"{theirs}, so their positions cannot be compared; give both layers units of one "
            "kind, or take them as showing the same field of view"
        )
    return np.diag([*factors, 1.0])


def _check_axes(matrix: NDArray[np.float64], target: Grid, guide: Grid) -> None:
    """Refuse targets whose rows and columns do not run along the guide's."""
    rows, columns = target.shape
    drift = max(abs(matrix[0, 1]) * (columns - 1), abs(matrix[1, 0]) * (rows - 1))
    names = f"target {target.name!r} is {{}} against guide {guide.name!r}"
    if drift > DRIFT:
        raise InputError(
            names.format("rotated or sheared") + f" (by {drift:.1f} guide pixels over its extent, "
            f"{DRIFT} are allowed); for now its rows and columns must run along the guide's, so "
            "resample it first"
        )
    if matrix[0, 0] <= 0 or matrix[1, 1] <= 0:
        raise InputError(
            names.format("mirrored")
            + f" (its steps are {matrix[0, 0]:.3g} and {matrix[1, 1]:.3g} guide pixels); flip its "
            "pixels and make its scale positive"
        )


def _tidy(value: float, count: int) -> float:
    """Undo rounding of matrix products, which would turn integer factors into general ones."""
    whole = float(round(value))
    return whole if abs(value - whole) * count < ROUNDING else round(float(value), 9)
