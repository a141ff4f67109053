"""Cubic interpolation on the sampling operator's grid: the start of the solvers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from napari_cosparse.core.types import Plane

from ._sampling_protocol import Sampling


def bicubic(samples: Plane, sampling: Sampling) -> Plane:
    """Interpolate samples at every pixel of the fine grid, at their true positions.

    Parameters
    ----------
    samples : ndarray, shape (m1, m2), float32
        Any unit, all known.
    sampling : Sampling
        Gives the positions.

    Returns
    -------
    ndarray, shape (N1, N2), float32
        Same unit.
    """
    return sampling.interpolate(samples)


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
