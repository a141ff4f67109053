"""Noise level of a target, from its samples alone."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import convolve, maximum_filter, minimum_filter

# Annihilates planes and every straight axis-parallel edge; unit gain for white noise
# (Immerkaer 1996).
MASK = np.array([[1.0, -2.0, 1.0], [-2.0, 4.0, -2.0], [1.0, -2.0, 1.0]]) / 6.0
BLOCK = 8
QUANTILE = 0.05
LEAST_BLOCKS = 12
# Where all blocks hold edges, the smallest residuals of each still tell the noise; they say less
# exactly, and so count only where they say clearly less: on white noise they do not.
CALM_SHARE = 0.25
CLEARLY_LESS = 0.65
# Rare counts: some samples are empty, which says nothing of the noise, and a good part of the rest
# is larger than all its neighbours, as in noise (one in nine); beside edges it is 2 % at most.
EMPTY = 0.1  # of the samples, at least
COUNTS = 0.01  # of the samples, at least; fewer are a few dots
PEAKS = 0.06  # of the counts, at least
FEW = 5  # steps of the lattice: median of the counts, at most; grey values of a scan are more
# Images with fewer blocks: a low quantile of the absolute values, since edges are everywhere.
SMALL_QUANTILE = 0.25
QUIET_SHARE = 0.75
# What these are for unit white noise: the quantile of the blocks' RMS, that of the RMS of their
# smallest residuals, the quantile of the absolute values.
QUANTILE_OF_BLOCKS = 0.75
QUANTILE_OF_CALM = 0.116
QUANTILE_OF_ABSOLUTES = 0.3186
# Below this share of the range samples count as exact.
FLOOR = 0.002
# Rounding a plane leaves a residual of at most 2/3 of a step (RMS), at slopes of half a step.
ROUNDING = 0.7


Scalar = TypeVar("Scalar", bound=np.generic)


def estimate_noise(
    samples: NDArray[np.floating], known: NDArray[np.bool_], step: float = 0.0
) -> float:
    """Estimate the standard deviation of white noise in a piecewise smooth image.

    The quietest small blocks decide, so that edges and texture do not count as
    noise, and where edges are in all of them their quietest samples; rounding to a
    lattice (integer types) does not count either. Of rare counts it is the mean
    over the image.

    Parameters
    ----------
    samples : ndarray, shape (m1, m2)
        Samples in units of the range.
    known : ndarray, shape (m1, m2), bool
        Samples that count.
    step : float
        Distance of two levels if the samples are rounded to a lattice; else 0.

    Returns
    -------
    float
        Same unit; 0 where the samples are exact as far as one can see.
    """
    if min(samples.shape) < 3:
        return 0.0
    residual = convolve(samples.astype(np.float64), MASK, mode="mirror")[1:-1, 1:-1]
    if known.all():  # as it is as a rule, and the filter takes as long as the rest
        usable = known[1:-1, 1:-1]
    else:
        usable = minimum_filter(known, 3, mode="constant")[1:-1, 1:-1]
    level, rms = _quiet_level(residual, usable)
    if level > FLOOR and rms > ROUNDING * step:
        return level
    if _has_rare_counts(samples, known, step):
        return float(np.sqrt(np.mean(residual[usable] ** 2)))
    return 0.0


def _has_rare_counts(samples: NDArray[np.floating], known: NDArray[np.bool_], step: float) -> bool:
    """Tell whether parts of an image are empty and the rest looks like single counts."""
    lowest = samples.min(where=known, initial=np.inf)
    counts = known & (samples > lowest)
    number, of = int(np.count_nonzero(counts)), int(np.count_nonzero(known))
    if not COUNTS * of < number < (1 - EMPTY) * of:
        return False
    if np.median(samples[counts]) - lowest > (FEW + 0.5) * step:
        return False
    around = np.ones((3, 3), bool)
    around[1, 1] = False
    peaks = samples > maximum_filter(np.where(known, samples, lowest), footprint=around)
    return int(np.count_nonzero(peaks & counts)) > PEAKS * number


def _quiet_level(residual: NDArray[np.float64], usable: NDArray[np.bool_]) -> tuple[float, float]:
    """Noise level by the quiet parts, and the RMS of the residual there."""
    height, width = (size // BLOCK * BLOCK for size in residual.shape)

    def blocks(image: NDArray[Scalar]) -> NDArray[Scalar]:
        cut = image[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK)
        return cut.swapaxes(1, 2).reshape(-1, BLOCK**2)

    known = blocks(usable)
    full = known.mean(1) > 0.5
    if full.sum() < LEAST_BLOCKS:
        return _small_level(np.abs(residual[usable]))
    known, squares = known[full], blocks(residual)[full]
    np.square(squares, out=squares)
    power = squares.sum(1, where=known) / known.sum(1)
    rms = float(np.sqrt(np.quantile(power, QUANTILE)))
    level, calm = rms / QUANTILE_OF_BLOCKS, _calm_level(squares, known)
    if calm < CLEARLY_LESS * level:
        return calm, calm * QUANTILE_OF_BLOCKS
    return level, rms


def _calm_level(squares: NDArray[np.float64], known: NDArray[np.bool_]) -> float:
    """Noise level by the smallest residuals of each block, one row each; overwrites these."""
    count = np.ceil(CALM_SHARE * known.sum(1)).astype(int)
    squares[~known] = np.inf
    squares.sort(1)
    smallest = squares[:, : count.max()]
    power = smallest.sum(1, where=np.arange(smallest.shape[1]) < count[:, None]) / count
    return float(np.sqrt(np.quantile(power, QUANTILE))) / QUANTILE_OF_CALM


def _small_level(values: NDArray[np.float64]) -> tuple[float, float]:
    """Do the same for an image that is too small for blocks."""
    if not values.size:
        return 0.0, 0.0
    quiet = np.sort(values)[: max(1, round(QUIET_SHARE * values.size))]
    rms = float(np.sqrt(np.mean(quiet**2)))
    return float(np.quantile(values, SMALL_QUANTILE)) / QUANTILE_OF_ABSOLUTES, rms
