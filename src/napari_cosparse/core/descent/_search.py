"""How far to go along a given direction: a search that knows only a function of one number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from napari_cosparse.core.space import Array

Curve = Callable[[float], tuple[float, Array]]


@dataclass(frozen=True)
class Step:
    """What a line search found.

    Attributes
    ----------
    length : float
        Length of the step in units of the direction; 0 if none was accepted.
    value : float
        Cost at the end of the step.
    point : ndarray or None
        End of the step; None if none was accepted.
    evaluations : int
        Number of points that were tried.
    accepted : bool
        Whether the step lowers the cost enough.
    """

    length: float
    value: float
    point: Array | None
    evaluations: int
    accepted: bool


Search = Callable[[Curve, float, float, float], Step]


def backtrack(
    curve: Curve,
    value: float,
    slope: float,
    first: float,
    *,
    decrease: float = 0.1,
    trials: int = 60,
) -> Step:
    """Shorten a trial step until it lowers the cost enough (Armijo's rule).

    The parabola through the value and slope at 0 and the last trial proposes the next one. If the
    first trial is accepted and the parabola has its minimum elsewhere, that point is tried too,
    since conjugate gradients live on nearly exact steps.

    Parameters
    ----------
    curve : callable
        Returns value and point at a step length.
    value : float
        Cost at length 0.
    slope : float
        Derivative of the cost by the length at 0; negative.
    first : float
        First trial length.
    decrease : float
        Share of the decrease promised by the slope that a step must reach, in (0, 1/2).
    trials : int
        Number of points that may be tried.

    Returns
    -------
    Step
        The accepted step, or one of length 0.
    """
    length = first
    for count in range(1, trials + 1):
        trial, point = curve(length)
        if trial <= value + decrease * slope * length:
            return Step(length, trial, point, count, accepted=True)
        length *= _shrink(value, slope, length, trial)
    return Step(0.0, value, None, trials, accepted=False)


def _shrink(value: float, slope: float, length: float, trial: float) -> float:
    """Factor for the next trial: the parabola's minimum, kept between 0.1 and 0.8."""
    if not isfinite(trial):
        return 0.3
    excess = trial - value - slope * length
    return min(0.8, max(0.1, -slope * length / (2 * excess)))
