"""Cubic interpolation along one axis of the sampling operator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from ._axis import Axis
from ._kernels import keys


def cubic_matrix(axis: Axis) -> csr_array:
    """Matrix of cubic convolution from the samples of one axis to its pixels.

    Parameters
    ----------
    axis : Axis
        Positions of the samples.

    Returns
    -------
    csr_array, shape (N, m), float32
        Rows sum to 1; beyond the first and last sample the line continues straight.
    """
    position = (np.arange(axis.size) - axis.origin) / axis.factor
    first = np.floor(position).astype(np.int64)
    taps = first[:, None] + np.arange(-1, 3)
    weights = keys(np.abs(position[:, None] - taps))
    if axis.samples == 1:
        return csr_array(np.ones((axis.size, 1), np.float32))
    # A sample outside the line is the line's straight continuation, 2 a - b.
    rows, columns, values = _continue_straight(taps, weights, axis.samples)
    shape = (axis.size, axis.samples)
    return coo_array((values, (rows, columns)), shape=shape).tocsr().astype(np.float32)


def _continue_straight(
    taps: NDArray[np.int64], weights: NDArray[np.float64], samples: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    rows = np.broadcast_to(np.arange(len(taps))[:, None], taps.shape)
    inner = np.clip(taps, 0, samples - 1)
    beyond = np.abs(taps - inner)  # samples past the end
    second = np.where(taps < 0, 1, samples - 2)
    parts = (
        (rows, inner, weights * (1 + beyond)),
        (rows, np.broadcast_to(second, taps.shape), -weights * beyond),
    )
    stacked = [np.concatenate([part[i].ravel() for part in parts]) for i in range(3)]
    return stacked[0], stacked[1], stacked[2]
