"""Rules for the share of the old direction in nonlinear conjugate gradients.

Each is a function of five inner products at the new point. On a quadratic function with exact
steps all of them except `steepest` agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Products:
    """Inner products at the new point; what is old has been transported there.

    Attributes
    ----------
    new_new, new_old, old_old : float
        Products of the new and the old gradient.
    dir_new, dir_old : float
        Products of the old direction with the new and the old gradient.
    """

    new_new: float
    new_old: float
    old_old: float
    dir_new: float
    dir_old: float


Beta = Callable[[Products], float]


def _ratio(numerator: float, denominator: float) -> float:
    """Quotient, or 0 (which restarts the method) where it has no value."""
    return numerator / denominator if denominator else 0.0


def steepest(products: Products) -> float:  # noqa: ARG001 - same signature as the other rules
    """Steepest descent: forget the old direction."""
    return 0.0


def fletcher_reeves(products: Products) -> float:
    """Rule of Fletcher and Reeves (1964)."""
    return _ratio(products.new_new, products.old_old)


def polak_ribiere_plus(products: Products) -> float:
    """Rule of Polak and Ribiere (1969), cut at zero as Powell proposed."""
    return max(0.0, _ratio(products.new_new - products.new_old, products.old_old))


def hestenes_stiefel(products: Products) -> float:
    """Rule of Hestenes and Stiefel (1952), eq. (hs) of the paper."""
    return _ratio(products.new_new - products.new_old, products.dir_new - products.dir_old)


def dai_yuan(products: Products) -> float:
    """Rule of Dai and Yuan (1999), eq. (dy) of the paper."""
    return _ratio(products.new_new, products.dir_new - products.dir_old)


def hybrid(products: Products) -> float:
    """Hybrid of Dai and Yuan (2001), eq. (dyhs): max(0, min(DY, HS))."""
    return max(0.0, min(dai_yuan(products), hestenes_stiefel(products)))
