"""How two layers lie on one another before a registration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from napari.layers import Image
from numpy.typing import ArrayLike

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import pixel_shape

from ._grid import Grid, in_units_of, unplaced
from ._read import levels_of
from ._world import Matrix

PROBES = 33  # points along each axis by which the overlap is measured


@dataclass(frozen=True, eq=False)
class Start:
    """How two layers lie on one another now.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3), float64
        Fixed pixel (row, column, 1) to moving pixel. Where `mirrored`, to the moving image whose
        columns are reversed.
    pixel_size_fixed, pixel_size_moving : tuple of float
        Along rows and columns, in the fixed layer's units.
    pixels_fixed, pixels_moving : tuple
        The same for `register`; where the layer is sheared, two rows of the matrix from steps in
        pixels to steps in a world that is turned with it.
    overlap : float
        Share of the fixed image that lies on the moving one.
    mirrored : bool
        Whether one of the layers is shown mirrored against the other.
    informative : bool
        False where nobody has said how large the pixels are, see `unplaced`.
    note : str
        What was assumed about units; empty if nothing.
    """

    matrix: Matrix
    pixel_size_fixed: tuple[float, float]
    pixel_size_moving: tuple[float, float]
    pixels_fixed: tuple[Any, Any]
    pixels_moving: tuple[Any, Any]
    overlap: float
    mirrored: bool
    informative: bool
    note: str


def start_from(fixed: Grid, moving: Grid) -> Start:
    """Find how two layers lie on one another, whatever their transforms and units are.

    Parameters
    ----------
    fixed, moving : Grid
        Pixel grids in the world.

    Returns
    -------
    Start
        The transform that their present placement means.

    Raises
    ------
    InputError
        A layer is squashed to a line.
    """
    for grid in (fixed, moving):
        if abs(np.linalg.det(grid.matrix[:2, :2])) < np.finfo(float).tiny:
            raise InputError(f"layer {grid.name!r} is squashed to a line by its transforms")
    ours, note = in_units_of(fixed, moving)
    mirrored = bool(np.linalg.det(ours[:2, :2]) * np.linalg.det(fixed.matrix[:2, :2]) < 0)
    seen = ours @ mirror(moving.shape) if mirrored else ours
    matrix = np.linalg.inv(seen) @ fixed.matrix
    return Start(
        matrix=matrix,
        pixel_size_fixed=pixel_size(fixed.matrix),
        pixel_size_moving=pixel_size(ours),
        pixels_fixed=_pixels(fixed.matrix),
        pixels_moving=_pixels(seen),
        overlap=overlap_of(matrix, fixed.shape, moving.shape),
        mirrored=mirrored,
        informative=not unplaced(fixed, moving),
        note=note,
    )


def _pixels(matrix: Matrix) -> tuple[Any, Any]:
    """Sides of a pixel; of a parallelogram its edges."""
    shape = pixel_shape(matrix[:2, :2])
    if not shape[0, 1]:
        return pixel_size(matrix)
    (height, slant), (_, width) = shape.tolist()
    return (height, slant), (0.0, width)


def mirror(shape: tuple[int, int]) -> Matrix:
    """Matrix that reverses the columns of an image; it is its own inverse.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns.

    Returns
    -------
    ndarray, shape (3, 3), float64
        Pixel to pixel.
    """
    return np.array([[1.0, 0, 0], [0, -1, shape[1] - 1], [0, 0, 1]])


def level_map(layer: Image, level: int) -> Matrix:
    """Map pixels of a pyramid level to those of the finest.

    Parameters
    ----------
    layer : napari.layers.Image
        Multiscale or not.
    level : int
        Pyramid level.

    Returns
    -------
    ndarray, shape (3, 3), float64
        (row, column, 1) to (row, column, 1).
    """
    fine, coarse = levels_of(layer)[0], levels_of(layer)[level]
    steps = [n / m for n, m in zip(fine, coarse, strict=True)]
    matrix = np.diag([*steps, 1.0])
    matrix[:2, 2] = [(step - 1) / 2 for step in steps]
    return matrix


def overlap_of(matrix: ArrayLike, fixed: tuple[int, int], moving: tuple[int, int]) -> float:
    """Share of the fixed image that lies on the moving one.

    Parameters
    ----------
    matrix : array_like, shape (3, 3)
        Fixed pixel to moving pixel.
    fixed, moving : tuple of int
        Shapes, in pixels.

    Returns
    -------
    float
        Between 0 and 1, to about 3 %.
    """
    lines = [np.linspace(-0.5, n - 0.5, PROBES + 1)[:-1] + 0.5 * n / PROBES for n in fixed]
    points = np.stack([*np.meshgrid(*lines, indexing="ij"), np.ones((PROBES, PROBES))])
    rows, columns = (np.asarray(matrix) @ points.reshape(3, -1))[:2]
    inside = (rows >= -0.5) & (rows <= moving[0] - 0.5)
    inside &= (columns >= -0.5) & (columns <= moving[1] - 0.5)
    return float(inside.mean())


def pixel_size(matrix: Matrix) -> tuple[float, float]:
    """Height and width of a pixel.

    Parameters
    ----------
    matrix : ndarray, shape (3, 3)
        Pixel to world.

    Returns
    -------
    tuple of float
        In units of the world.
    """
    rows, columns = np.linalg.norm(matrix[:2, :2], axis=0)
    return float(rows), float(columns)
