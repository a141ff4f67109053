"""Where a target is smooth at its own resolution, so that steps need no encouragement.

The logarithm prefers one jump to a gentle slope: a ramp becomes a staircase whose steps follow
the guide's texture. Where the samples have next to no second differences there is no edge to
sharpen; a floor under eps keeps the cost convex there, and the ramp a ramp.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter

from napari_cosparse.core.bands import each_band
from napari_cosparse.core.types import Plane

from ._interpolate import bicubic
from ._sampling_protocol import Sampling

# Chosen on the validation images: see docs/decisions. In ranges of the target; a steep slope
# (range per sample) raises both, since its own rounding and its steps are larger.
LEAST_FLOOR = 0.02
FLOOR_PER_SLOPE = 1.0
CURVED = 0.08  # second difference from which on there is no floor
CURVED_PER_SLOPE = 1.0
REACH = 2  # samples: an edge lifts the floor this far around it
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))


def smooth_floor(samples: Plane, known: NDArray[np.bool_], sampling: Sampling) -> Plane | None:
    """Floor under eps at each pixel, from the second differences of the samples.

    Parameters
    ----------
    samples : ndarray, shape (m1, m2), float32
        Target in ranges, unknown samples filled.
    known : ndarray, shape (m1, m2), bool
        Samples that count; around unknown ones there is no floor.
    sampling : Sampling
        Gives the positions.

    Returns
    -------
    ndarray, shape (N1, N2), float32, or None
        Floor in ranges; None where it is zero everywhere.
    """
    bend = _second_differences(samples)
    bend[~known] = np.inf
    bend = maximum_filter(bend, 2 * REACH + 1, mode="nearest")
    slope = _slope(samples)
    share = np.clip(1 - bend / (CURVED + CURVED_PER_SLOPE * slope), 0, 1)
    floor = (share * (LEAST_FLOOR + FLOOR_PER_SLOPE * slope)).astype(np.float32)
    if not floor.any():
        return None
    fine, most = bicubic(floor, sampling), floor.max()
    each_band(lambda rows: np.clip(fine[rows], 0, most, out=fine[rows]), fine.shape, sampling.map_)
    return fine


def _slope(samples: Plane) -> Plane:
    """Length of the gradient at each sample, in ranges per sample."""
    lines = [np.gradient(samples, axis=axis) for axis in (0, 1) if samples.shape[axis] > 1]
    return np.sqrt(sum((line**2 for line in lines), np.zeros_like(samples)))


def _second_differences(samples: Plane) -> Plane:
    """Largest absolute second difference of each sample over 4 directions."""
    height, width = samples.shape
    odd = min(height, width) > 1
    padded = (
        np.pad(samples, 1, mode="reflect", reflect_type="odd")
        if odd
        else np.pad(samples, 1, mode="edge")
    )
    bend = np.zeros_like(samples)
    for down, right in STEPS:
        after = padded[1 + down : 1 + down + height, 1 + right : 1 + right + width]
        before = padded[1 - down : 1 - down + height, 1 - right : 1 - right + width]
        np.maximum(bend, np.abs(after + before - 2 * samples), out=bend)
    return bend
