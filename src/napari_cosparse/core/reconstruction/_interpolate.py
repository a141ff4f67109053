"""Cubic interpolation on the sampling operator's grid: the start of the solvers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt
from scipy.sparse import coo_array, csr_array

from napari_cosparse.core.bands import each_band
from napari_cosparse.core.types import Plane

from ._kernels import keys
from ._sampling import Axis, SamplingOperator


def bicubic(samples: Plane, sampling: SamplingOperator) -> Plane:
    """Interpolate samples at every pixel of the fine grid, at their true positions.

    Parameters
    ----------
    samples : ndarray, shape (m1, m2), float32
        Any unit, all known.
    sampling : SamplingOperator
        Gives the positions.

    Returns
    -------
    ndarray, shape (N1, N2), float32
        Same unit.
    """
    down, across = cubic_matrix(sampling.rows), cubic_matrix(sampling.columns)
    out = np.empty(sampling.shape, np.float32)

    def work(rows: slice) -> None:
        line = np.ascontiguousarray((down[rows] @ samples).T)
        out[rows] = (across @ line).T

    each_band(work, sampling.shape, sampling.map_)
    return out


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


def fill_nearest(samples: Plane, known: NDArray[np.bool_]) -> Plane:
    """Give unknown samples the value of the nearest known one.

    Parameters
    ----------
    samples : ndarray, shape (m1, m2), float32
        Any unit.
    known : ndarray, shape (m1, m2), bool
        At least one is True.

    Returns
    -------
    ndarray, shape (m1, m2), float32
    """
    if known.all():
        return samples
    nearest = distance_transform_edt(~known, return_distances=False, return_indices=True)
    filled: Plane = samples[tuple(nearest)]
    return filled
