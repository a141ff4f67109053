"""From sums of co-sparsity to a cost: mutual and coupled, and how it changes with the sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Evaluation(NamedTuple):
    """A cost and its derivatives along the algebra's basis.

    Attributes
    ----------
    cost : float
        No unit.
    slope : ndarray, shape (d,)
        First derivatives; NaN where they were not asked for.
    scale : float
        Factor from sums over pixels to the cost, for the curvature.
    overlap : float
        Share of the sampled weight that lies inside the moving image.
    """

    cost: float
    slope: Vector
    scale: float
    overlap: float

    def lacks_slope(self, most: float) -> bool:
        """Say whether the slope is missing and needed.

        Parameters
        ----------
        most : float
            It is needed where the cost is at most this.

        Returns
        -------
        bool
        """
        return self.cost <= most and bool(np.isnan(self.slope).any())


class Measured(NamedTuple):
    """A cost and its derivatives with respect to J, MU and MV.

    Attributes
    ----------
    cost : float
        No unit.
    factors : ndarray, shape (3,)
        Derivatives.
    scale : float
        Factor from sums over pixels to the cost, for the curvature.
    """

    cost: float
    factors: Vector
    scale: float


def mutual(sums: Vector, total: float) -> Measured:  # noqa: ARG001
    """C = (J - MU - MV) / sqrt(MU MV): normalised mutual co-sparsity, in [-1, 0] in practice.

    Parameters
    ----------
    sums : ndarray, shape (3,)
        J, MU and MV over all pixels.
    total : float
        Weight of all sampled pixels; has no influence.

    Returns
    -------
    Measured
    """
    joint, fixed, moving = sums
    product = fixed * moving
    if product <= 0:
        return Measured(0.0, np.zeros(3), 0.0)
    q = float(np.sqrt(product))
    deficit = joint - fixed - moving
    factors = np.array(
        [1 / q, -1 / q - deficit / (2 * q * fixed), -1 / q - deficit / (2 * q * moving)]
    )
    return Measured(deficit / q, factors, 1 / q)


def coupled(sums: Vector, total: float) -> Measured:
    """J per sampled pixel: the coupled sparsity of the paper, eq. (coupling), over the overlap.

    Parameters
    ----------
    sums : ndarray, shape (3,)
        J, MU and MV over all pixels.
    total : float
        Weight of all sampled pixels.

    Returns
    -------
    Measured
        Its minima are degenerate: little overlap, or a zoom into flat parts, lower it as well.
    """
    share = 1 / total
    return Measured(sums[0] * share, np.array([share, 0.0, 0.0]), share)
