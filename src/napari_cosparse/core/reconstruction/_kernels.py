"""Blur kernels of a sample, as sparse matrices."""

from __future__ import annotations

from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from napari_cosparse.core.borders import reflected

Blur = Literal["gaussian", "box", "bicubic", "none"]

KEYS = -0.5
EDGE = 1e-9  # positions are exact to rounding only; a pixel that touches a kernel's end counts out


def kernel_matrix(
    positions: NDArray[np.float64], size: int, factor: float, blur: Blur
) -> csr_array:
    """Matrix of normalised kernels around positions, with reflective borders.

    Parameters
    ----------
    positions : ndarray, shape (m,), float64
        Sample positions, in pixels.
    size : int
        Number of pixels N.
    factor : float
        Distance of two samples, in pixels.
    blur : {"gaussian", "box", "bicubic", "none"}
        Kernel.

    Returns
    -------
    csr_array, shape (m, N), float64
        Rows sum to 1.
    """
    reach = ceil(2 * factor) + 1 if blur == "bicubic" else ceil(factor) + 1
    steps = np.arange(-reach, reach + 1)
    pixels = np.round(positions).astype(np.int64)[:, None] + steps
    weights = kernel(pixels - positions[:, None], factor, blur)
    weights /= weights.sum(1, keepdims=True)
    margin = 2 * reach + 2
    columns = reflected(size, margin)[np.clip(pixels + margin, 0, size + 2 * margin - 1)]
    rows = np.broadcast_to(np.arange(len(positions))[:, None], columns.shape)
    shape = (len(positions), size)
    matrix = coo_array((weights.ravel(), (rows.ravel(), columns.ravel())), shape=shape).tocsr()
    matrix.eliminate_zeros()
    return matrix


def kernel(distance: NDArray[np.float64], factor: float, blur: Blur) -> NDArray[np.float64]:
    """Kernel values at signed distances from a sample, not normalised.

    Parameters
    ----------
    distance : ndarray, float64
        In pixels.
    factor : float
        Distance of two samples, in pixels.
    blur : {"gaussian", "box", "bicubic", "none"}
        Kernel.

    Returns
    -------
    ndarray, float64
    """
    far = np.abs(distance)
    values: NDArray[np.float64]
    if blur == "gaussian":
        near = far <= max(ceil(factor - EDGE) - 1, 0.5) + EDGE
        values = np.where(near, np.exp(-0.5 * (distance / (factor / 3)) ** 2), 0.0)
    elif blur == "box":
        overlap = np.minimum(distance + 0.5, factor / 2) - np.maximum(distance - 0.5, -factor / 2)
        values = np.where(overlap > EDGE, overlap, 0.0)
    elif blur == "bicubic":
        values = keys(far / factor)
    else:
        values = np.maximum(1 - far, 0.0)
    return values


def keys(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cubic convolution kernel of Keys (1981) at distances in samples.

    Parameters
    ----------
    distance : ndarray, float64
        Not negative.

    Returns
    -------
    ndarray, float64
        The kernel with a = -1/2, which reproduces quadratics.
    """
    near = ((KEYS + 2) * distance - (KEYS + 3)) * distance**2 + 1
    far = (((distance - 5) * distance + 8) * distance - 4) * KEYS
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
