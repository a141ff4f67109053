"""Cubic convolution of samples at places that form no grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.types import Plane

from ._kernels import keys

MARGIN = 5  # samples that interpolation continues beyond the target, straight


def continued(samples: Plane) -> Plane:
    """Continue samples straight on all sides.

    Parameters
    ----------
    samples : ndarray, shape (m1, m2)

    Returns
    -------
    ndarray, shape (m1 + 2 * MARGIN, m2 + 2 * MARGIN)
    """
    for axis in (0, 1):
        line = np.moveaxis(samples, axis, 0)
        steps = np.arange(1, MARGIN + 1, dtype=samples.dtype)[:, None]
        second = min(1, len(line) - 1)  # one sample has no slope
        before = line[0] + steps[::-1] * (line[0] - line[second])
        after = line[-1] + steps * (line[-1] - line[-1 - second])
        samples = np.moveaxis(np.concatenate([before, line, after]), 0, axis)
    return samples


def interpolated(padded: Plane, places: NDArray[np.float64]) -> Plane:
    """Interpolate continued samples.

    Parameters
    ----------
    padded : ndarray, shape (m1 + 2 * MARGIN, m2 + 2 * MARGIN)
        What `continued` made of the samples.
    places : ndarray, shape (2, n)
        Rows and columns among the samples.

    Returns
    -------
    ndarray, shape (n,), float64
    """
    limits = zip(places, padded.shape, strict=True)
    down, right = (np.clip(line, 2 - MARGIN, n - 3 - MARGIN) for line, n in limits)
    row, column = np.floor(down).astype(np.int64), np.floor(right).astype(np.int64)
    flat, width = padded.ravel(), padded.shape[1]
    out = np.zeros(len(down))
    across = [keys(np.abs(right - column - step)) for step in range(-1, 3)]
    for step in range(-1, 3):
        start = (row + step + MARGIN) * width + column + MARGIN
        line = sum(weight * flat[start + k] for k, weight in zip(range(-1, 3), across, strict=True))
        out += keys(np.abs(down - row - step)) * line
    return out
