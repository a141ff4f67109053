"""Large holes in a target: they are filled last, so that nothing known depends on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from ._sampling_protocol import Sampling

GAP = 4  # samples; wider holes say nothing of how much to trust the samples around them
RIM = 3  # samples: side of the square around a known one that is solved together with it
HALF = 0.5  # of the way from a sample that is no hole to one that is


def without_gaps(known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell where known samples have a say: among them, that is, but not in large holes.

    Pixels far from all of them are filled, but are no reason to trust the others more.

    Parameters
    ----------
    known : ndarray, shape (m1, m2), bool
        Samples that are known.

    Returns
    -------
    ndarray, shape (m1, m2), bool
        These, and gaps between them of up to `GAP` rows or columns.
    """
    if known.all():
        return known
    wider = np.pad(known, GAP).astype(np.uint8)  # what lies outside is no gap
    closed = minimum_filter(maximum_filter(wider, GAP + 1), GAP + 1)
    return closed[GAP:-GAP, GAP:-GAP].astype(bool)


def large_holes(known: NDArray[np.bool_], sampling: Sampling) -> NDArray[np.bool_] | None:
    """Find the pixels that lie farther than a sample from known ones and the gaps between them.

    Parameters
    ----------
    known : ndarray, shape (m1, m2), bool
        Samples that are known.
    sampling : Sampling
        Where they lie.

    Returns
    -------
    ndarray, shape (N1, N2), bool, or None
        None if there is no such pixel, or no other. No known sample sees any of them.
    """
    far = ~maximum_filter(without_gaps(known), RIM)
    if not far.any():
        return None
    seen = sampling.diagonal(known.astype(np.float32))
    holes: NDArray[np.bool_] = sampling.interpolate(far.astype(np.float32)) > HALF
    holes &= seen == 0
    return holes if holes.any() and not holes.all() else None
