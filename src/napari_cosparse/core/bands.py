"""Planes in bands of rows: every full-plane operation of the solvers goes through a `Map`.

Sums are taken row by row and then over all rows at once, so that neither the number of threads
nor the height of the bands changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .borders import reflected
from .mapping import Map
from .types import Plane

T = TypeVar("T")

PIXELS = 1 << 18  # of a band: long enough calls for threads to run beside one another
LEAST_ROWS = 8


def bands(shape: tuple[int, ...], pixels: int = PIXELS) -> list[slice]:
    """Cut the rows of a plane.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the plane.
    pixels : int
        Pixels of a band, about.

    Returns
    -------
    list of slice
        Rows of each band, from the top.
    """
    rows = max(LEAST_ROWS, pixels // max(1, shape[1]))
    return [slice(row, min(row + rows, shape[0])) for row in range(0, shape[0], rows)]


def each_band(
    work: Callable[[slice], T], shape: tuple[int, ...], map_: Map = map, pixels: int = PIXELS
) -> list[T]:
    """Call a function with the rows of each band.

    Parameters
    ----------
    work : callable
        Takes rows; it writes to these rows only.
    shape : tuple of int
        Height and width of the plane.
    map_ : callable
        Like the built-in `map`.
    pixels : int
        Pixels of a band, about.

    Returns
    -------
    list
        What the function returns, from the top.
    """
    return list(map_(work, bands(shape, pixels)))


def inner(a: Plane, b: Plane, map_: Map = map) -> float:
    """Sum of products, accumulated in float64 row by row in a fixed order.

    Parameters
    ----------
    a, b : ndarray, shape (h, w), float32
    map_ : callable
        Like the built-in `map`; changes no bit.

    Returns
    -------
    float
    """
    return total(each_band(lambda rows: row_products(a[rows], b[rows]), a.shape, map_))


def row_products(a: Plane, b: Plane) -> Plane:
    """Sum of products of each row.

    Parameters
    ----------
    a, b : ndarray, shape (h, w)

    Returns
    -------
    ndarray, shape (h,)
    """
    sums: Plane = np.einsum("ij,ij->i", a, b)
    return sums


def total(parts: list[Plane]) -> float:
    """Add the sums of all rows in float64.

    Parameters
    ----------
    parts : list of ndarray
        Row sums of each band, from the top.

    Returns
    -------
    float
    """
    return float(np.concatenate(parts).sum(dtype=np.float64))


def padded_rows(
    image: NDArray[Any], first: int, last: int, margin: int, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Cut rows out of an image with a margin on all sides: its own pixels, or reflected ones.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        Any unit.
    first, last : int
        Rows wanted, half open.
    margin : int
        Width of the margin, in pixels.
    out : ndarray, shape (last - first + 2 * margin, w + 2 * margin), optional
        Where the result goes.

    Returns
    -------
    ndarray, shape (last - first + 2 * margin, w + 2 * margin)
        The same pixels as in `borders.pad` of the whole image.
    """
    height = len(image)
    if margin <= first and last + margin <= height:
        inside = image[first - margin : last + margin]
    else:
        inside = image[reflected(height, margin)[first : last + 2 * margin]]
    width = inside.shape[1]
    if out is None:
        out = np.empty((len(inside), width + 2 * margin), inside.dtype)
    if margin > width:
        out[:] = np.pad(inside, ((0, 0), (margin, margin)), mode="symmetric")
        return out
    # np.pad's Python code holds the interpreter's lock for longer than the copy.
    out[:, margin : margin + width] = inside
    out[:, :margin] = inside[:, :margin][:, ::-1]
    out[:, margin + width :] = inside[:, width - margin :][:, ::-1]
    return out
