"""Normalised mutual information of two images, with its analytic derivative.

N = (H_U + H_V) / H_UV of a joint histogram: box bins for the fixed image, cubic B-spline (Parzen)
bins for the moving one, so that it is smooth in the motion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.types import Plane

from ._measures import Evaluation, Vector
from ._pyramid import Level
from ._samples import Samples
from ._spline import cubic_slopes, cubic_weights
from ._warped import Warped

LEAST_BINS, MOST_BINS = 8, 32
SAMPLES_PER_BIN = 12  # K = sqrt(n / 12): about a dozen pixels per cell of the joint histogram
BIN_VARIANCE = 1.0 / 3  # of the cubic spline, in squared bins
Indices = NDArray[np.int64]


class FixedBins(NamedTuple):
    """Bin of each sampled pixel of the fixed image."""

    bins: Indices  # (n,)


class Binned(NamedTuple):
    """Moving image over the bins: the four bins that each pixel touches."""

    cells: Indices  # (n,): flat index of the first of the four
    weights: Plane  # (4, n)
    slopes: Plane  # (4, n), per unit of the moving image


class Information:
    """Joint histogram of two levels and what follows from it.

    Parameters
    ----------
    fixed, moving : Level
        The images, for the ranges of their grey levels.
    count : int
        Number of sampled pixels, which sets the number of bins.
    """

    radius = 0

    def __init__(self, fixed: Level, moving: Level, count: int) -> None:
        self.bins = int(np.clip(np.sqrt(count / SAMPLES_PER_BIN), LEAST_BINS, MOST_BINS))
        self._range_fixed = fixed.grey_levels  # those beyond share the outermost bins
        self._low, span = moving.grey_levels
        # the outermost splines must lie within the bins: centres from 1 to bins - 2
        self.per_unit = (self.bins - 3) / span

    def prepare(self, samples: Samples) -> FixedBins:
        """Bins of the fixed image.

        Parameters
        ----------
        samples : Samples
            Single pixels of the fixed image.

        Returns
        -------
        FixedBins
        """
        low, span = self._range_fixed
        place = (samples.values.reshape(-1) - low) / span * self.bins
        return FixedBins(np.clip(place, 0, self.bins - 1).astype(np.int64))

    def place(self, fixed: FixedBins, warped: Warped) -> Binned:
        """Bins of the moving image, together with the fixed ones.

        Parameters
        ----------
        fixed : FixedBins
            Of the same pixels.
        warped : Warped
            The moving image there.

        Returns
        -------
        Binned
        """
        values = warped.values.reshape(-1)
        place = 1 + (values - self._low) * self.per_unit
        inside = np.clip(place, 1, self.bins - 2 - 1e-4)
        whole = np.floor(inside)
        t = (inside - whole).astype(values.dtype)
        moves = (place == inside) * values.dtype.type(self.per_unit)
        cells = fixed.bins * self.bins + whole.astype(np.int64) - 1
        return Binned(cells, cubic_weights(t), cubic_slopes(t) * moves)

    def histogram(self, binned: Binned, weight: Plane) -> Vector:
        """Weighted joint histogram of some pixels.

        Parameters
        ----------
        binned : Binned
            Where the pixels fall.
        weight : ndarray, shape (n,)
            Overlap weights.

        Returns
        -------
        ndarray, shape (bins, bins), float64
        """
        size = self.bins**2
        total = np.zeros(size)
        for tap in range(4):
            share = binned.weights[tap].astype(np.float64) * weight
            total += np.bincount(binned.cells + tap, share, size)[:size]
        return total.reshape(self.bins, self.bins)


class Entropies(NamedTuple):
    """What the joint histogram says."""

    nmi: float  # (H_U + H_V) / H_UV
    table: Vector  # dN / dh
    information: float  # mutual information, nats
    normalised: float  # MI / sqrt(H_U H_V)
    spread: Vector  # (bins,): variance of the moving bins given the fixed bin


def entropies(histogram: Vector) -> Entropies:
    """Entropies of a joint histogram, and the derivative of the normalised information.

    Parameters
    ----------
    histogram : ndarray, shape (k, k)
        Weights of pairs of bins.

    Returns
    -------
    Entropies
    """
    n = max(float(histogram.sum()), 1e-12)
    p = histogram / n
    logs = [_log(p.sum(1)), _log(p.sum(0)), _log(p)]
    h_fixed = -float(p.sum(1) @ logs[0])
    h_moving = -float(p.sum(0) @ logs[1])
    h_joint = max(-float((p * logs[2]).sum()), 1e-12)
    d_fixed = -(logs[0] + h_fixed)[:, None] / n
    d_moving = -(logs[1] + h_moving)[None, :] / n
    d_joint = -(logs[2] + h_joint) / n
    top = h_fixed + h_moving
    table = ((d_fixed + d_moving) * h_joint - top * d_joint) / h_joint**2
    information = top - h_joint
    scale = np.sqrt(max(h_fixed * h_moving, 1e-24))
    return Entropies(top / h_joint, table, information, information / scale, _spread(p))


def _log(p: Vector) -> Vector:
    # an empty cell has no weight of its own; its derivative must stay finite
    return np.log(np.maximum(p, 1e-12))


def _spread(p: Vector) -> Vector:
    """Variance of the column, in squared bins, given the row."""
    columns = np.arange(p.shape[1])
    mass = np.maximum(p.sum(1), 1e-12)
    mean = p @ columns / mass
    variance: Vector = np.maximum(p @ columns**2 / mass - mean**2, 0)
    return variance + BIN_VARIANCE


def evaluate_information(
    information: Information, fixed: FixedBins, warped: Warped, total: float
) -> Evaluation:
    """Cost -N and its derivatives.

    Parameters
    ----------
    information : Information
        Bins.
    fixed : FixedBins
        Of the sampled pixels.
    warped : Warped
        The moving image there.
    total : float
        Weight of all sampled pixels.

    Returns
    -------
    Evaluation
        Its slope has shape (2, 3).
    """
    w = warped.weight.reshape(-1).astype(np.float64)
    binned = information.place(fixed, warped)
    found = entropies(information.histogram(binned, w))
    taps = np.stack([found.table.reshape(-1)[binned.cells + tap] for tap in range(4)])
    through_values = w * np.einsum("tn,tn->n", taps, binned.slopes)
    through_weight = np.einsum("tn,tn->n", taps, binned.weights)
    slope = -(warped.moments(through_values) + warped.weight_moments(through_weight))[0]
    return Evaluation(-found.nmi, slope, 1 / max(w.sum(), 1e-12), float(w.sum()) / total)


def information_curvature(
    information: Information, fixed: FixedBins, warped: Warped, basis: Vector
) -> Vector:
    """Second derivatives, were the moving grey level Gaussian given the fixed bin.

    Parameters
    ----------
    information : Information
        Bins.
    fixed : FixedBins
        Of the sampled pixels.
    warped : Warped
        The moving image there.
    basis : ndarray, shape (d, 3, 3)
        Directions.

    Returns
    -------
    ndarray, shape (d, d)
        Sum over pixels.
    """
    w = warped.weight.reshape(-1).astype(np.float64)
    found = entropies(information.histogram(information.place(fixed, warped), w))
    stiff = w * information.per_unit**2 / found.spread[fixed.bins]
    steps = np.stack([step.reshape(-1) for step in warped.along(basis)]).astype(np.float64)
    total: Vector = (steps * stiff) @ steps.T
    return total
