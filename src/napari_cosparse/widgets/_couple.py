"""A fixed and a moving layer, and what a registration reads of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np
from napari.layers import Image
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import (
    Grid,
    Start,
    grid_of,
    input_record,
    level_map,
    mirror,
    read,
    start_from,
)

CHOOSE_TWO = (
    "Choose two image layers: fixed stays, moving is brought onto it. File > Open Sample has a "
    "displaced pair to try."
)
COMPARED = 2048  # pixels a side: larger images are averaged before they are compared
Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Couple:
    """A fixed and a moving layer, as they lie now.

    Attributes
    ----------
    fixed, moving : napari.layers.Image
        The layers.
    levels : tuple of int
        Their pyramid levels that are read.
    planes : tuple of tuple of int
        Their planes that are read.
    grids : tuple of Grid
        Pixel grids of these levels.
    start : Start
        How they lie on one another.
    finest : tuple of Grid
        Pixel grids of the finest levels.
    maps : tuple of ndarray, shape (3, 3)
        Pixels of these levels to those of the finest.
    inputs : dict
        Names and origins, for the record.
    """

    fixed: Image
    moving: Image
    levels: tuple[int, int]
    planes: tuple[tuple[int, ...], tuple[int, ...]]
    grids: tuple[Grid, Grid]
    start: Start
    finest: tuple[Grid, Grid]
    maps: tuple[Matrix, Matrix]
    inputs: dict[str, Any]

    def planes_to_read(
        self, invalid: tuple[float | None, float | None]
    ) -> list[tuple[tuple[Image, int, tuple[int, ...]], dict[str, Any]]]:
        """Arguments of `lazy_plane` for both layers.

        Parameters
        ----------
        invalid : tuple of float or None
            Values that mean unknown. A coarser level would have mixed them with others.

        Returns
        -------
        list of tuple
            Positional ones and keywords.
        """
        sizes = [(1.0, 1.0), (1.0, 1.0)]
        if self.start.informative:
            sizes = [self.start.pixel_size_fixed, self.start.pixel_size_moving]
        steps = averaged([grid.shape for grid in self.grids], sizes)
        flips = False, self.start.mirrored
        return [
            (
                (layer, level, plane),
                {"step": step if unknown is None else 1.0, "mirrored": flip},
            )
            for layer, level, plane, step, unknown, flip in zip(
                *((self.fixed, self.moving), self.levels, self.planes, steps, invalid, flips),
                strict=True,
            )
        ]

    def to_finest(self, matrix: Matrix) -> Matrix:
        """Turn a transform between the levels that were read into one of the finest levels."""
        ours = mirror(self.grids[1].shape) @ matrix if self.start.mirrored else matrix
        return self.maps[1] @ ours @ np.linalg.inv(self.maps[0])


def averaged(shapes: Sequence[Sequence[int]], sizes: Sequence[Sequence[float]]) -> list[int]:
    """How many pixels a registration averages along each axis, before it compares two images.

    Parameters
    ----------
    shapes : sequence of two sequences of int
        Rows and columns of both images.
    sizes : sequence of two sequences of float
        Their pixel sizes.

    Returns
    -------
    list of int
        For both images; they are compared at the coarser pixel, on at most 2048 of them.
    """
    pixel = float(np.max(sizes))
    longest = float(np.max(np.multiply(shapes, sizes))) / pixel
    pixel *= max(1, ceil(longest / COMPARED))
    return [max(1, floor(pixel / max(size) + 1e-6)) for size in sizes]


def couple(
    fixed: Image | None,
    moving: Image | None,
    levels: tuple[int, int],
    planes: tuple[tuple[int, ...], tuple[int, ...]],
) -> Couple:
    """Check that two layers can be registered.

    Parameters
    ----------
    fixed, moving : napari.layers.Image or None
        What is chosen.
    levels : tuple of int
        Pyramid levels.
    planes : tuple of tuple of int
        Indices on the leading axes of stacks.

    Returns
    -------
    Couple
        The layers and how they lie on one another.

    Raises
    ------
    InputError
        They cannot; the message says why.
    """
    if fixed is None or moving is None:
        raise InputError(CHOOSE_TWO)
    if fixed is moving:
        raise InputError("Fixed and moving are the same layer: choose two layers.")
    for layer, level, plane in zip((fixed, moving), levels, planes, strict=True):
        read(layer, level).lazy(plane)
    grids = grid_of(fixed, levels[0]), grid_of(moving, levels[1])
    return Couple(
        fixed,
        moving,
        levels,
        planes,
        grids,
        start_from(*grids),
        (grid_of(fixed), grid_of(moving)),
        (level_map(fixed, levels[0]), level_map(moving, levels[1])),
        {
            "fixed": input_record(fixed, levels[0], planes[0]),
            "moving": input_record(moving, levels[1], planes[1]),
        },
    )
