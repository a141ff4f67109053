"""Pixel grids of layers in the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from napari.layers import Image
from numpy.typing import NDArray

from ._read import levels_of
from ._world import (
    is_physical,
    leading_matrix,
    placement,
    plane_matrix,
    unit_factors,
    world_matrix,
)


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
    leading : ndarray, shape (n + 1, n + 1), float64
        Maps the index (..., 1) of a plane of a stack to the other world axes, in `leading_units`.
    leading_units : tuple of pint.Unit
        Unit of these n axes.
    """

    name: str
    shape: tuple[int, int]
    matrix: NDArray[np.float64]
    units: tuple[Any, Any]
    leading: NDArray[np.float64] = field(default_factory=lambda: np.eye(1))
    leading_units: tuple[Any, ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether nobody has said where the layer lies: identity and pixels."""
        return not self.is_physical and bool(np.array_equal(self.matrix, np.eye(3)))

    @property
    def is_physical(self) -> bool:
        """Whether an axis has a unit other than pixels."""
        return any(is_physical(unit) for unit in self.units)


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
    world = world_matrix(placement(layer, level))
    matrix, size = plane_matrix(world, layer.name), levels_of(layer)[level]
    leading = leading_matrix(world)
    return Grid(layer.name, size, matrix, layer.units[-2:], leading, layer.units[:-2])


def in_units_of(wanted: Grid, other: Grid) -> tuple[NDArray[np.float64], str]:
    """Bring a layer's world to the units of another one, and say what was assumed.

    Where one of them has no unit, or the units cannot be converted, the numbers are taken as they
    are: so napari draws them.

    Parameters
    ----------
    wanted : Grid
        Whose units are taken.
    other : Grid
        Whose pixels are to be placed.

    Returns
    -------
    matrix : ndarray, shape (3, 3), float64
        Pixel of `other` to the world, in units of `wanted`.
    note : str
        A sentence; empty if nothing had to be assumed.
    """
    factors = unit_factors(other.units, wanted.units)
    if factors is not None:
        return np.diag([*factors, 1.0]) @ other.matrix, ""
    return other.matrix, _assumed(wanted, other)


def unplaced(first: Grid, second: Grid) -> bool:
    """Whether nobody has said how two layers lie on one another.

    Parameters
    ----------
    first, second : Grid
        Pixel grids in the world.

    Returns
    -------
    bool
        True where both have default transforms but different shapes, and where one has, in
        pixels, and the other is measured in a physical unit.
    """
    if first.is_physical != second.is_physical:
        return first.is_default or second.is_default
    return first.is_default and second.is_default and first.shape != second.shape


def _assumed(wanted: Grid, other: Grid) -> str:
    if wanted.is_physical and other.is_physical:
        return (
            f"The units {wanted.units[0]} and {other.units[0]} cannot be converted: the numbers "
            "are compared as they are, as napari draws them."
        )
    known, unknown = (wanted, other) if wanted.is_physical else (other, wanted)
    if unplaced(wanted, other):
        return f"The pixel size of {unknown.name!r} is not known."
    unit = next(unit for unit in known.units if is_physical(unit))
    return f"{unknown.name!r} has no unit: its numbers are taken as {unit}s, as napari draws them."
