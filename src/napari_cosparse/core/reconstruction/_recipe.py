"""Which atoms act, and how strongly the guide speaks, at a given factor.

All figures were chosen on the validation images (docs/decisions, "Recipe by factor").
"""

from __future__ import annotations

from math import log2, sqrt

import numpy as np

from napari_cosparse.core.operators import OperatorPair

DENSE = 3.0  # below it distances 2, 4, 8 are nearly blind to what is missing, of period 2 to 3
FINE = 2.5  # up to this factor the guide speaks with FINE_SHARE of its usual strength
FULL = 4.0  # from this factor on with all of it
FINE_SHARE = 0.1


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
        sqrt(d)/2 from factor 4 on, a tenth of that up to 2.5, geometric in between.
    """
    d = effective_factor(factor)
    position = np.clip(log2(d / FINE) / log2(FULL / FINE), 0.0, 1.0)
    return float(sqrt(d) / 2 * FINE_SHARE ** (1 - position))


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
