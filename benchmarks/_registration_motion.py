"""Known motions of an image, and how far a matrix is from the true one.

Every matrix maps a fixed pixel ``(row, column, 1)`` to a moving pixel.
"""

from __future__ import annotations

import itertools
from math import atan2, cos, degrees, radians, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import affine_transform
from scipy.optimize import linprog

Matrix = NDArray[np.float64]
Array = NDArray[np.generic]
Box = tuple[int, int, int, int]


def motion(
    shape: tuple[int, ...],
    angle: float = 0.0,
    shift: tuple[float, float] = (0.0, 0.0),
    linear: ArrayLike | None = None,
) -> Matrix:
    """Make a motion about the centre of an image.

    Parameters
    ----------
    shape : tuple of int
        Shape of the image, in pixels.
    angle : float
        Rotation, in degrees.
    shift : tuple of float
        Rows and columns, in pixels.
    linear : array_like, shape (2, 2), optional
        Applied before the rotation.

    Returns
    -------
    ndarray, shape (3, 3), float64
    """
    turn = radians(angle)
    part = np.array([[cos(turn), -sin(turn)], [sin(turn), cos(turn)]])
    if linear is not None:
        part = part @ np.asarray(linear, float)
    centre = (np.array(shape[:2]) - 1) / 2
    matrix = np.eye(3)
    matrix[:2, :2] = part
    matrix[:2, 2] = centre - part @ centre + np.asarray(shift)
    return matrix


def translation(row: float, column: float) -> Matrix:
    """Make a shift by rows and columns, in pixels."""
    matrix = np.eye(3)
    matrix[:2, 2] = row, column
    return matrix


def move(image: Array, matrix: Matrix, order: int = 3) -> NDArray[np.float32]:
    """Move an image: what was at ``x`` comes to lie at ``matrix x``.

    Parameters
    ----------
    image : ndarray, shape (H, W)
        What to move.
    matrix : ndarray, shape (3, 3)
        The motion.
    order : int
        Of the spline.

    Returns
    -------
    ndarray, shape (H, W), float32
        Mirrored beyond the border of the image: cut that away with `window`.
    """
    return resample(image, np.linalg.inv(matrix), image.shape[:2], order)


def resample(
    image: Array, matrix: Matrix, shape: tuple[int, ...], order: int = 3
) -> NDArray[np.float32]:
    """Resample an image at ``matrix x`` for every pixel ``x`` of a grid.

    Parameters
    ----------
    image : ndarray, shape (H, W)
        What to sample.
    matrix : ndarray, shape (3, 3)
        Affine.
    shape : tuple of int
        Shape of the grid, in pixels.
    order : int
        Of the spline.

    Returns
    -------
    ndarray, shape as given, float32
    """
    return affine_transform(
        np.asarray(image, np.float32),
        matrix[:2, :2],
        matrix[:2, 2],
        output_shape=tuple(shape),
        order=order,
        mode="mirror",
    )


def window(shape: tuple[int, ...], source: Matrix, margin: float = 1.0) -> Box:
    """Find the largest window, of the image's aspect, without pixels from outside.

    Parameters
    ----------
    shape : tuple of int
        Shape of the image and of the grid, in pixels.
    source : ndarray, shape (3, 3)
        Affine: pixel of the grid -> pixel of the image.
    margin : float
        Distance from the border of the image, in pixels.

    Returns
    -------
    tuple of int
        First row, first column, last row + 1, last column + 1.
    """
    last = np.array(shape[:2]) - 1.0
    above, most = [], []
    for signs in itertools.product((-1, 1), repeat=2):
        # a corner (row, column) = centre + size * half is linear in (centre, size)
        corner = np.column_stack([np.eye(2), np.array(signs) * last / 2])
        mapped = source[:2, :2] @ corner
        offset = source[:2, 2]
        above += [corner, -corner, mapped, -mapped]
        most += [last, [0.0, 0.0], last - margin - offset, offset - margin]
    found = linprog([0, 0, -1], np.vstack(above), np.concatenate(most), bounds=[(None, None)] * 3)
    if not found.success or found.x[2] <= 0:
        raise ValueError(f"no window of {shape} is inside under {source.tolist()}")
    centre, size = found.x[:2], found.x[2]
    low = np.ceil(centre - size * last / 2 - 1e-9).astype(int)
    high = np.floor(centre + size * last / 2 + 1e-9).astype(int) + 1
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def central(shape: tuple[int, ...], size: tuple[int, int]) -> Box:
    """Return the central window of a size (rows, columns), in pixels."""
    row, column = ((whole - part) // 2 for whole, part in zip(shape, size, strict=False))
    return row, column, row + size[0], column + size[1]


def crop(image: Array, box: Box) -> Array:
    """Cut a window out of an image."""
    return image[box[0] : box[2], box[1] : box[3]]


def cropped(matrix: Matrix, fixed: Box, moving: Box) -> Matrix:
    """Return the matrix between two windows of the images that it relates."""
    return translation(-moving[0], -moving[1]) @ matrix @ translation(fixed[0], fixed[1])


def apply(matrix: Matrix, points: ArrayLike) -> NDArray[np.float64]:
    """Map points, projective matrices included.

    Parameters
    ----------
    matrix : ndarray, shape (3, 3)
        The map.
    points : array_like, shape (n, 2)
        Rows and columns.

    Returns
    -------
    ndarray, shape (n, 2), float64
    """
    points = np.asarray(points, float)
    mapped = np.column_stack([points, np.ones(len(points))]) @ matrix.T
    return np.asarray(mapped[:, :2] / mapped[:, 2:])


def corners(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the four corner pixels of an image, shape (4, 2)."""
    rows, columns = shape[0] - 1.0, shape[1] - 1.0
    return np.array([[0, 0], [0, columns], [rows, 0], [rows, columns]])


def point_error(matrix: Matrix, truth: Matrix, points: ArrayLike) -> float:
    """Mean distance between the images of points under two matrices, in moving pixels."""
    return float(np.linalg.norm(apply(matrix, points) - apply(truth, points), axis=1).mean())


def corner_error(matrix: Matrix, truth: Matrix, shape: tuple[int, ...]) -> float:
    """Mean distance of the four corners of the fixed image under two matrices.

    Parameters
    ----------
    matrix, truth : ndarray, shape (3, 3)
        Fixed pixel -> moving pixel.
    shape : tuple of int
        Shape of the fixed image.

    Returns
    -------
    float
        In moving pixels.
    """
    return point_error(matrix, truth, corners(shape))


def residual(matrix: Matrix, truth: Matrix, shape: tuple[int, ...]) -> tuple[float, float, float]:
    """Return the motion that is left, as in the paper's table.

    Parameters
    ----------
    matrix, truth : ndarray, shape (3, 3)
        Fixed pixel -> moving pixel.
    shape : tuple of int
        Shape of the fixed image.

    Returns
    -------
    tuple of float
        Shift of the centre in x (columns) and y (rows), in pixels; rotation in degrees.
    """
    left = np.linalg.inv(truth) @ matrix
    centre = (np.array(shape[:2]) - 1) / 2
    row, column = apply(left, [centre])[0] - centre
    return column, row, degrees(atan2(left[1, 0] - left[0, 1], left[0, 0] + left[1, 1]))


def mixed_error(matrix: Matrix, truth: Matrix, shape: tuple[int, ...]) -> float:
    """Return the paper's combined error: the norm of `residual`, pixels and degrees mixed."""
    return sqrt(sum(value**2 for value in residual(matrix, truth, shape)))
