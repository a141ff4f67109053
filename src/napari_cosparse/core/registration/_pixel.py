"""How the pixels of an image lie in the world: rectangles, or parallelograms if sheared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

SAME = 1e-6  # relative difference of pixel sizes, or shear, that counts as none

Axes = NDArray[np.float64]


def is_general(pixel_size: Any) -> bool:  # noqa: ANN401 - whatever the user gave
    """Whether a pixel size is given as a matrix.

    Parameters
    ----------
    pixel_size : pair of float, or array_like, shape (2, 2)
        As given.

    Returns
    -------
    bool
    """
    return np.ndim(pixel_size) == 2


def axes_of(pixel_size: Any, name: str) -> Axes:  # noqa: ANN401 - whatever the user gave
    """Check a pixel size and write it as a matrix.

    Parameters
    ----------
    pixel_size : pair of float, or array_like, shape (2, 2)
        Rows and columns, or pixel steps (row, column) to steps in the world.
    name : str
        What the image is called in messages.

    Returns
    -------
    ndarray, shape (2, 2)
        As given; of a pair the diagonal matrix.

    Raises
    ------
    InputError
        If it is neither, or mirrors.
    """
    try:
        size = np.asarray(pixel_size, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"pixel size of {name} holds no numbers: {error}") from None
    if size.shape == (2,) and np.isfinite(size).all() and (size > 0).all():
        return np.diag(size)
    if size.shape == (2, 2) and np.isfinite(size).all():
        (a, b), (c, d) = size.tolist()
        if a * d - b * c > SAME * float((size**2).sum()):
            return size
    raise InputError(
        f"pixel size {pixel_size} of {name} must be two positive numbers (rows, columns), or a "
        "(2, 2) matrix of positive determinant from pixel steps to the world; mirror the image "
        "itself if an axis is reversed"
    )


def pixel_shape(axes: Axes) -> Axes:
    """Take out how an image is turned: what is left says which motions are rigid.

    Parameters
    ----------
    axes : ndarray, shape (2, 2)
        Pixel steps to steps in the world.

    Returns
    -------
    ndarray, shape (2, 2)
        Upper triangular with positive diagonal: rows run along the world's; what is sheared by
        less than rounding is diagonal.
    """
    if not axes[0, 1] and not axes[1, 0]:
        return axes
    upper = np.linalg.qr(axes)[1]
    upper = np.sign(np.diag(upper))[:, None] * upper
    upper[1, 0] = 0
    if abs(upper[0, 1]) <= SAME * min(upper[0, 0], upper[1, 1]):
        upper[0, 1] = 0
    return np.asarray(upper)


def sides_of(axes: Axes) -> NDArray[np.float64]:
    """Height and width of a pixel.

    Parameters
    ----------
    axes : ndarray, shape (2, 2)
        Pixel steps to steps in the world.

    Returns
    -------
    ndarray, shape (2,)
        In units of the world.
    """
    return np.asarray(np.hypot(*axes))


def coinciding(pixel_size_fixed: Any, pixel_size_moving: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """Matrix that leaves all points of the world where they are, about pixel (0, 0) of both images.

    Parameters
    ----------
    pixel_size_fixed, pixel_size_moving : pair of float, or array_like, shape (2, 2)
        As given.

    Returns
    -------
    ndarray, shape (3, 3)
        Fixed pixel to moving pixel.
    """
    if not (is_general(pixel_size_fixed) or is_general(pixel_size_moving)):
        return np.diag([*np.divide(pixel_size_fixed, pixel_size_moving), 1.0])
    fixed = axes_of(pixel_size_fixed, "the fixed image")
    moving = axes_of(pixel_size_moving, "the moving image")
    matrix = np.eye(3)
    matrix[:2, :2] = np.linalg.solve(moving, fixed)
    return matrix
