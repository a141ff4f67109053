"""Where to start when the images share grey levels but no edges: joint histograms of all shifts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft2, next_fast_len, rfft2

from napari_cosparse.core.types import Plane

from ._canvas import placed, turned
from ._frame import Frame
from ._pyramid import Level
from ._start import PEAKS, Candidate, peaks_of

BINS = 8
LARGEST = 96  # pixels: side of the level that is searched
LEAST_OVERLAP = 0.3  # of the smaller image's area
TAILS = (1.0, 99.0)  # per cent


def search_information(
    fixed: Level,
    moving: Level,
    frame: Frame,
    motions: list[NDArray[np.float64]],
) -> Iterator[list[Candidate]]:
    """Best shifts for each linear part by the G-test of independence.

    Parameters
    ----------
    fixed, moving : Level
        Of one scale.
    frame : Frame
        Centres and unit of length.
    motions : list of ndarray, shape (2, 2)
        Linear parts, fixed pixel -> moving pixel.

    Yields
    ------
    list of Candidate
        For one linear part; the score is (2 n MI - (K-1)^2) / (sqrt 2 (K-1)), which chance
        keeps at about one wherever the images are independent pixel by pixel.
    """
    scale = max(float(np.linalg.norm(linear, 2)) for linear in motions)
    side = int(np.ceil(np.hypot(*fixed.image.shape) * scale)) + 1
    shape = tuple(next_fast_len(side + size, real=True) for size in moving.image.shape)
    spectra = rfft2(indicators(moving), shape)
    room = LEAST_OVERLAP * min(fixed.image.size, moving.image.size)
    for linear in motions:
        canvas = turned(fixed, linear)
        own = np.conj(rfft2(indicators(canvas), shape))
        tables = np.stack([irfft2(own[a] * spectra, shape) for a in range(BINS)])
        score = g_test(np.maximum(tables, 0), room)
        yield [
            Candidate(placed(shift, canvas, linear, moving, frame), value)
            for shift, value in peaks_of(score, PEAKS, moving.image.shape)
        ]


def indicators(level: Level) -> NDArray[np.float32]:
    """One image per bin: 1 where a usable pixel falls in it.

    Parameters
    ----------
    level : Level
        An image.

    Returns
    -------
    ndarray, shape (bins, h, w)
    """
    values = level.image[level.usable] if level.usable.any() else level.image
    low, high = np.percentile(values, TAILS)
    place = (level.image - low) / max(high - low, 1e-12) * BINS
    bins = np.clip(place, 0, BINS - 1).astype(np.int64)
    chosen = (bins == np.arange(BINS)[:, None, None]) & level.usable
    return np.asarray(chosen, np.float32)


def g_test(tables: Plane, room: float) -> Plane:
    """Deviation of joint histograms from independence.

    Parameters
    ----------
    tables : ndarray, shape (bins, bins, ...)
        Numbers of pixels.
    room : float
        Number of pixels below which the answer is 0.

    Returns
    -------
    ndarray, shape (...)
    """
    n = tables.sum((0, 1))
    mutual = _n_log_n(tables).sum((0, 1)) + _n_log_n(n)
    mutual -= _n_log_n(tables.sum(0)).sum(0) + _n_log_n(tables.sum(1)).sum(0)
    freedom = (BINS - 1) ** 2
    score: Plane = (2 * mutual - freedom) / np.sqrt(2 * freedom)
    score[n < room] = 0
    return score


def _n_log_n(counts: Plane) -> Plane:
    out: Plane = counts * np.log(np.maximum(counts, 0.5))
    return out
