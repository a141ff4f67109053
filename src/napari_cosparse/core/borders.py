"""Reflective borders and their exact adjoint."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.types import Plane


def reflected(size: int, margin: int) -> NDArray[np.int64]:
    """Pixel that stands at each position of a line padded by reflection.

    The border pixel is repeated (half-sample symmetry); margins longer than the line reflect
    again and again.

    Parameters
    ----------
    size, margin : int
        Length of the line and of the padding on each side, in pixels.

    Returns
    -------
    ndarray, shape (size + 2 * margin,), int
    """
    position = np.arange(-margin, size + margin) % (2 * size)
    return np.minimum(position, 2 * size - 1 - position)


def pad(image: Plane, margin: int) -> Plane:
    """Pad an image by reflection.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        Any unit.
    margin : int
        Padding on each side, in pixels.

    Returns
    -------
    ndarray, shape (h + 2 * margin, w + 2 * margin)
    """
    return np.pad(image, margin, mode="symmetric")


def fold(padded: Plane, margin: int) -> Plane:
    """Add the margin back onto the pixels it reflects: the exact adjoint of `pad`.

    Parameters
    ----------
    padded : ndarray, shape (h + 2 * margin, w + 2 * margin)
        Overwritten.
    margin : int
        Padding on each side, in pixels.

    Returns
    -------
    ndarray, shape (h, w)
    """
    for axis in (0, 1):
        padded = fold_axis(padded, margin, axis)
    return np.ascontiguousarray(padded)


def fold_axis(padded: Plane, margin: int, axis: int) -> Plane:
    """Add the margin back along one axis, in place.

    Parameters
    ----------
    padded : ndarray, shape (h, w), one of them with the margin on both ends
        Overwritten.
    margin : int
        Padding on each side, in pixels.
    axis : int
        0 for rows, 1 for columns.

    Returns
    -------
    ndarray
        View of the part without margin.
    """
    lines = np.moveaxis(padded, axis, 0)
    size = len(lines) - 2 * margin
    source = reflected(size, margin) + margin
    for index in (*range(margin), *range(size + margin, size + 2 * margin)):
        lines[source[index]] += lines[index]
    return np.moveaxis(lines[margin : margin + size], 0, axis)
