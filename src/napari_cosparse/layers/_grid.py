"""Pixel grids of layers in the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from napari.layers import Image
from numpy.typing import NDArray

from ._read import levels_of
from ._world import is_physical, placement, plane_matrix, world_matrix


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
