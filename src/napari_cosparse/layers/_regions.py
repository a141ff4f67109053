"""Masks and points drawn on layers, on the pixel grid of an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from napari.layers import Labels, Layer, Points, Shapes
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._grid import Grid
from ._lazy import Blocks
from ._polygons import fill_polygons
from ._read import read
from ._world import (
    Matrix,
    leading_matrix,
    placement,
    plane_matrix,
    unit_factors,
    world_matrix,
)

LARGEST = 2048  # pixels: masks of larger images are drawn in blocks of pixels
BAND = 256  # rows that are looked at together
ELLIPSE = np.linspace(0, 2 * np.pi, 73)[:-1]
AREAS = ("polygon", "rectangle", "ellipse")

Mask = NDArray[np.bool_]


def mask_on(
    grid: Grid, layer: Labels | Shapes, plane: Sequence[int] = (), *, mirrored: bool = False
) -> Mask | Blocks:
    """Rasterise what is drawn on a layer onto the pixels of an image.

    Parameters
    ----------
    grid : Grid
        The image's pixels in the world.
    layer : napari.layers.Labels or Shapes
        Labels other than 0, or closed shapes, are the region; the layer may have any transform.
    plane : sequence of int
        Index on the leading axes of a stack.
    mirrored : bool
        Whether the columns of the mask are to be reversed.

    Returns
    -------
    ndarray or Blocks, shape of the grid, bool
        True where the image is to be used; of more than 2048 pixels a side, in blocks.

    Raises
    ------
    InputError
        Nothing on the layer lies on the image.
    """
    step = -(-max(grid.shape) // LARGEST)
    coarse = _in_blocks(grid, step)
    draw = _labels if isinstance(layer, Labels) else _shapes
    found = draw(coarse, layer, plane)
    if not found.any():
        raise InputError(
            f"nothing drawn on {layer.name!r} lies on {grid.name!r}; draw a closed shape or paint "
            "a label on the part to use, or choose no mask"
        )
    if step > 1:
        return Blocks(found, grid.shape, step, mirrored=mirrored)
    return found[:, ::-1] if mirrored else found


def _in_blocks(grid: Grid, step: int) -> Grid:
    """Pixel grid whose pixels are blocks of another one's."""
    to_fine = np.diag([step, step, 1.0])
    to_fine[:2, 2] = (step - 1) / 2
    shape = -(-grid.shape[0] // step), -(-grid.shape[1] // step)
    return replace(grid, shape=shape, matrix=grid.matrix @ to_fine)


def points_on(grid: Grid, layer: Points) -> NDArray[np.float64]:
    """Positions of the points of a layer on the pixels of an image.

    Parameters
    ----------
    grid : Grid
        The image's pixels in the world.
    layer : napari.layers.Points
        Points; of stacks the last two coordinates count.

    Returns
    -------
    ndarray, shape (n, 2), float64
        Row and column, in pixels.
    """
    return _map(to_pixels(grid, layer), np.asarray(layer.data, np.float64)[:, -2:])


def point_pairs(
    fixed: Grid, moving: Grid, layers: tuple[Points, Points]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pairs of corresponding points, in the order in which they were set.

    Parameters
    ----------
    fixed, moving : Grid
        The images' pixels in the world.
    layers : tuple of napari.layers.Points
        Points on the fixed and on the moving image.

    Returns
    -------
    tuple of ndarray, shape (n, 2), float64
        Row and column in pixels of the fixed and of the moving image.

    Raises
    ------
    InputError
        The layers hold different numbers of points, or the same layer is given twice.
    """
    if layers[0] is layers[1]:
        raise InputError(
            f"{layers[0].name!r} is chosen for both images; put the points of each image on a "
            "layer of its own"
        )
    counts = [len(layer.data) for layer in layers]
    if counts[0] != counts[1] or not counts[0]:
        raise InputError(
            f"{layers[0].name!r} has {counts[0]} points and {layers[1].name!r} has {counts[1]}; "
            "set the same number on both, in the same order"
        )
    return points_on(fixed, layers[0]), points_on(moving, layers[1])


def to_pixels(grid: Grid, layer: Layer) -> Matrix:
    """Map a layer's data coordinates to pixels of a grid.

    Parameters
    ----------
    grid : Grid
        The image's pixels in the world.
    layer : napari.layers.Layer
        Any layer of planes, as it lies now.

    Returns
    -------
    ndarray, shape (3, 3), float64
        (row, column, 1) to (row, column, 1).
    """
    world = plane_matrix(world_matrix(placement(layer)), layer.name)
    factors = unit_factors(layer.units[-2:], grid.units) or (1.0, 1.0)  # as napari draws them
    matrix: Matrix = np.linalg.inv(grid.matrix) @ np.diag([*factors, 1.0]) @ world
    return matrix


def _map(matrix: Matrix, points: NDArray[np.float64]) -> NDArray[np.float64]:
    mapped: NDArray[np.float64] = points @ matrix[:2, :2].T + matrix[:2, 2]
    return mapped


def _labels(grid: Grid, layer: Labels, plane: Sequence[int]) -> Mask:
    """Nearest label below each pixel; none outside of the layer."""
    source = read(layer)
    labels = source.load(plane if len(plane) == len(source.leading) else ())
    back = np.linalg.inv(to_pixels(grid, layer))
    found = np.zeros(grid.shape, bool)
    columns = np.arange(grid.shape[1])
    for first in range(0, grid.shape[0], BAND):
        lines = np.arange(first, min(first + BAND, grid.shape[0]))
        row, column = (
            np.rint(part[0] * lines[:, None] + part[1] * columns + part[2]).astype(np.int64)
            for part in back[:2]
        )
        inside = (row >= 0) & (row < labels.shape[0]) & (column >= 0) & (column < labels.shape[1])
        band = found[first : first + len(lines)]
        band[inside] = labels[row[inside], column[inside]] != 0
    return found


def _shapes(grid: Grid, layer: Shapes, plane: Sequence[int]) -> Mask:
    """Fill closed shapes."""
    return fill_polygons(closed_outlines(grid, layer, plane), grid.shape)


def closed_outlines(
    grid: Grid, layer: Shapes, plane: Sequence[int] = ()
) -> list[NDArray[np.float64]]:
    """Outlines of the closed shapes of a layer; lines and paths have no inside.

    Parameters
    ----------
    grid : Grid
        The image's pixels in the world.
    layer : napari.layers.Shapes
        What is drawn.
    plane : sequence of int
        Index on the leading axes of a stack: shapes of a layer with such axes count where napari
        would show them on that plane.

    Returns
    -------
    list of ndarray, shape (n, 2), float64
        Corners of polygons, row and column in pixels.
    """
    matrix, here = to_pixels(grid, layer), _plane_of(grid, layer, plane)
    drawn = zip(layer.data, layer.shape_type, strict=True)
    return [
        _map(matrix, _outline(data[:, -2:], kind))
        for data, kind in drawn
        if kind in AREAS and _shown(data[:, :-2], here)
    ]


def _plane_of(grid: Grid, layer: Shapes, plane: Sequence[int]) -> NDArray[np.float64]:
    """Where a plane of a stack lies along the last leading axes of another layer."""
    world = (grid.leading @ [*plane, 1.0])[:-1] if len(plane) == len(grid.leading) - 1 else ()
    count = min(len(world), layer.ndim - 2)
    if not count:
        return np.empty(0)
    ours, theirs = grid.leading_units[-count:], layer.units[:-2][-count:]
    factors = unit_factors(ours, theirs) or np.ones(count)  # as napari draws them
    back = np.linalg.inv(leading_matrix(world_matrix(placement(layer))))
    place = np.zeros(layer.ndim - 2)
    place[-count:] = np.asarray(world)[-count:] * factors
    found: NDArray[np.float64] = (back @ [*place, 1.0])[:-1][-count:]
    return found


def _shown(corners: NDArray[np.float64], here: NDArray[np.float64]) -> bool:
    """Whether a shape lies on a plane, or goes through it; coordinates are rounded as in napari."""
    if not here.size:
        return True
    own, at = np.rint(corners[:, -here.size :]), np.rint(here)
    return bool((own.min(0) <= at).all() and (at <= own.max(0)).all())


def _outline(corners: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """Polygon of a shape; napari stores an ellipse as the corners of its box."""
    if kind != "ellipse":
        return np.asarray(corners, np.float64)
    middle, axes = (corners[0] + corners[2]) / 2, (corners[1] - corners[0], corners[3] - corners[0])
    around: NDArray[np.float64] = (
        middle + np.outer(np.cos(ELLIPSE), axes[0]) / 2 + np.outer(np.sin(ELLIPSE), axes[1]) / 2
    )
    return around
