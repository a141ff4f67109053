"""Apply a registration to points and shapes.

Points of the moving image go forwards to the fixed image, so they use the inverse of the matrix,
which maps fixed pixels to moving pixels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError

from ._apply_checks import Registered, invertible, real_array

DIRECTIONS = ("moving to fixed", "fixed to moving")
ROUND_OFF = 1e-6  # pixels


@dataclass(frozen=True)
class Extent:
    """A part of the fixed image's pixel grid.

    Attributes
    ----------
    origin : tuple of int
        Fixed pixel (row, column) of the first pixel; may be negative.
    shape : tuple of int
        Rows and columns.
    """

    origin: tuple[int, int]
    shape: tuple[int, int]


def apply_to_points(
    points: ArrayLike,
    matrix: ArrayLike | Registered,
    *,
    direction: str = "moving to fixed",
) -> NDArray[np.float64]:
    """Carry points from one image to the other.

    Parameters
    ----------
    points : array_like, shape (n, d)
        Positions in pixels; the last two coordinates are row and column, others are kept.
    matrix : array_like, shape (3, 3), or Registration
        Maps fixed pixel (row, column, 1) to moving pixel (row, column, 1).
    direction : {"moving to fixed", "fixed to moving"}
        From which image to which. The first, as for images, applies the inverse of the matrix.

    Returns
    -------
    ndarray, shape (n, d), float64
        Positions in pixels of the other image.

    Raises
    ------
    InputError
        If an argument breaks a rule, or the registration is not trusted.
    """
    if direction not in DIRECTIONS:
        raise InputError(
            f"direction {direction!r} must be one of {', '.join(map(repr, DIRECTIONS))}"
        )
    found: NDArray[np.float64] = np.array(real_array("points", points), np.float64)
    if found.ndim != 2 or found.shape[1] < 2:
        raise InputError(
            f"points have shape {found.shape}; they must be (n, 2), or (n, d) with row and "
            "column last"
        )
    motion = invertible(matrix)
    if direction == "moving to fixed":
        motion = np.asarray(np.linalg.inv(motion), np.float64)
    found[:, -2:] = np.einsum("nj,ij->ni", found[:, -2:], motion[:2, :2]) + motion[:2, 2]
    return found


def apply_to_shapes(
    shapes: Iterable[ArrayLike],
    matrix: ArrayLike | Registered,
    *,
    direction: str = "moving to fixed",
) -> list[NDArray[np.float64]]:
    """Carry the vertices of shapes from one image to the other.

    Parameters
    ----------
    shapes : iterable of array_like, shape (n, d)
        Vertices of each shape, as napari's Shapes layer holds them. A sheared rectangle or ellipse
        is none any more: carry it as a polygon.
    matrix : array_like, shape (3, 3), or Registration
        Maps fixed pixel (row, column, 1) to moving pixel (row, column, 1).
    direction : {"moving to fixed", "fixed to moving"}
        From which image to which.

    Returns
    -------
    list of ndarray, shape (n, d), float64
        Vertices in pixels of the other image.

    Raises
    ------
    InputError
        If an argument breaks a rule, or the registration is not trusted.
    """
    if not isinstance(shapes, Iterable):
        raise InputError(f"shapes {shapes!r} must be a list of arrays of vertices, (n, d) each")
    return [apply_to_points(shape, matrix, direction=direction) for shape in shapes]


def moving_extent(moving_shape: tuple[int, int], matrix: ArrayLike | Registered) -> Extent:
    """Smallest part of the fixed grid that contains the whole moving image, with all its pixels.

    Parameters
    ----------
    moving_shape : tuple of int
        Rows and columns of the moving image, in pixels.
    matrix : array_like, shape (3, 3), or Registration
        Maps fixed pixel (row, column, 1) to moving pixel (row, column, 1).

    Returns
    -------
    Extent
        `origin` and `shape` for `apply_transform`.

    Raises
    ------
    InputError
        If the matrix breaks a rule, or the registration is not trusted.
    """
    sides = [(-0.5, size - 0.5) for size in moving_shape[:2]]
    corners = np.array([[row, column] for row in sides[0] for column in sides[1]])
    mapped = apply_to_points(corners, matrix)
    first = np.floor(mapped.min(axis=0) + 0.5 + ROUND_OFF).astype(int)
    last = np.ceil(mapped.max(axis=0) - 0.5 - ROUND_OFF).astype(int)
    rows, columns = (int(size) for size in np.maximum(last - first, 0) + 1)
    return Extent((int(first[0]), int(first[1])), (rows, columns))
