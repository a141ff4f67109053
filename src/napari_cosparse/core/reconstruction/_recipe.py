"""Which atoms act, and how strongly the guide speaks, at a given factor.

All figures were chosen on the validation images (docs/decisions, "Recipe by factor").
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from napari_cosparse.core.operators import OperatorPair

DENSE = 3.0  # below it distances 2, 4, 8 are nearly blind to what is missing, of period 2 to 3
KNOTS = ((2.5, 0.06), (4.0, 0.75))  # factor, strength of the guide; constant before
GROWTH = 0.75  # exponent of the strength's growth with the factor from the last knot on


def effective_factor(factor: tuple[float, float]) -> float:
    """Geometric mean of the factors of both axes.

    Parameters
    ----------
    factor : tuple of float
        Distances of two samples, in guide pixels.

    Returns
    -------
    float
    """
    return sqrt(factor[0] * factor[1])


def guide_strength(factor: tuple[float, float]) -> float:
    """Strength r of the guide: rho = r range(target) / range(guide) (contract, "Factor 2").

    Parameters
    ----------
    factor : tuple of float
        Distances of two samples, in guide pixels.

    Returns
    -------
    float
        0.75 at factor 4 and d**0.75 from there on; 0.06 up to 2.5, straight in logarithms in
        between.
    """
    d = effective_factor(factor)
    (fine, weak), (full, strong) = KNOTS
    if d >= full:
        return float(strong * (d / full) ** GROWTH)
    return float(np.exp(np.interp(log(d), (log(fine), log(full)), (log(weak), log(strong)))))


def groups_for(pair: OperatorPair, factor: tuple[float, float]) -> OperatorPair:
    """Part of a bank that acts at a factor: below 3, the atoms of neighbouring pixels alone.

    Parameters
    ----------
    pair : OperatorPair
        The bank.
    factor : tuple of float
        Distances of two samples, in guide pixels.

    Returns
    -------
    OperatorPair
    """
    if effective_factor(factor) >= DENSE - 1e-6:
        return pair
    dense = tuple(group for group in pair.groups if group.dense)
    return OperatorPair(dense, pair.metadata) if dense else pair
