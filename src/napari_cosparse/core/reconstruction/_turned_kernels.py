"""Kernels of samples whose axes are turned, sheared or mirrored against the fine grid.

A kernel is the product of two one-dimensional ones along the axes of the target. A pixel counts
along each of them as a box as wide as the pixel looks from there (same second moment), so that
without a turn these are the kernels of the separable operator.
"""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from ._kernels import EDGE, Blur, kernel

Matrix = NDArray[np.float64]


def pixel_kernels(
    matrix: Matrix, rows: slice, width: int, samples: tuple[int, int], blur: Blur
) -> csr_array:
    """Weights of rows of pixels in all samples, not normalised.

    Parameters
    ----------
    matrix : ndarray, shape (3, 3)
        Maps pixel (row, column, 1) to sample (row, column, 1).
    rows : slice
        Rows of pixels.
    width : int
        Pixels of a row.
    samples : tuple of int
        Shape (m1, m2) of the target.
    blur : {"gaussian", "box", "bicubic", "none"}
        Kernel.

    Returns
    -------
    csr_array, shape (pixels, m1 * m2), float64
        One row for each pixel, in C order.
    """
    places = positions(matrix, rows, width)
    near = ceil(_reach(matrix, blur) - EDGE)
    first = np.floor(places).astype(np.int64)
    pixel = np.arange(places.shape[1])
    parts: list[tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]] = []
    for down in range(1 - near, near + 1):
        for right in range(1 - near, near + 1):
            sample = first + np.array([[down], [right]])
            weights = _weights(matrix, places - sample, blur)
            count = (weights > EDGE) | (weights < -EDGE)
            for line, size in zip(sample, samples, strict=True):
                count &= (line >= 0) & (line < size)
            index = sample[0] * samples[1] + sample[1]
            parts.append((weights[count], pixel[count], index[count]))
    values, pixels, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
    shape = (places.shape[1], samples[0] * samples[1])
    return coo_array((values, (pixels, columns)), shape=shape).tocsr()


def positions(matrix: Matrix, rows: slice, width: int) -> NDArray[np.float64]:
    """Positions of rows of pixels among the samples.

    Parameters
    ----------
    matrix : ndarray, shape (3, 3)
        Maps pixel (row, column, 1) to sample (row, column, 1).
    rows : slice
        Rows of pixels.
    width : int
        Pixels of a row.

    Returns
    -------
    ndarray, shape (2, pixels)
        Rows and columns among the samples, pixels in C order.
    """
    down = np.arange(rows.start, rows.stop, dtype=np.float64)[:, None]
    right = np.arange(width, dtype=np.float64)
    return np.stack([(a * down + b * right + c).ravel() for a, b, c in matrix[:2]])


def _widths(matrix: Matrix) -> NDArray[np.float64]:
    """How wide a pixel looks along the rows and columns of the target, in samples."""
    widths: NDArray[np.float64] = np.linalg.norm(matrix[:2, :2], axis=1)
    return widths


def _reach(matrix: Matrix, blur: Blur) -> float:
    """Distance from a sample at which its kernel ends, in samples."""
    width = float(_widths(matrix).max())
    if blur == "none":
        return float(np.abs(matrix[:2, :2]).sum(1).max())
    if blur == "bicubic":
        return 2.0
    return max((1 + width) / 2, width * ceil(1 / width)) if blur == "gaussian" else (1 + width) / 2


def _weights(matrix: Matrix, distance: NDArray[np.float64], blur: Blur) -> NDArray[np.float64]:
    """Kernel at signed distances of pixels from a sample, in samples; shape (2, pixels)."""
    if blur == "none":  # interpolation is between pixels: along their own axes
        away = np.linalg.inv(matrix[:2, :2]) @ distance
        return kernel(away[0], 1.0, blur) * kernel(away[1], 1.0, blur)
    lines = zip(distance, _widths(matrix), strict=True)
    along, across = (kernel(line / width, 1 / width, blur) for line, width in lines)
    return along * across
