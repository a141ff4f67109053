"""How far to go along a given direction: a search that knows only a function of one number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite

from napari_cosparse.core.space import Array

ROUND_OFF = 2.0**-52
"""Relative change of a cost that float64 cannot show: steps that promise no more are not tried."""

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
    decrease: float = 1e-4,
    refine: float = 0.3,
    trials: int = 60,
) -> Step:
    """Shorten a trial step until it lowers the cost enough (Armijo's rule).

    The parabola through the value and slope at 0 and the last trial proposes the next one. If an
    accepted step is far from the parabola's minimum, that point is tried too and the better one
    is taken: conjugate gradients live on nearly exact steps.

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
    refine : float
        Relative distance from the parabola's minimum from which on that point is tried too;
        infinite for the plain rule.
    trials : int
        Number of points that may be tried, not counting that one.

    Returns
    -------
    Step
        The accepted step, or one of length 0.
    """
    length, count = first, 0
    while count < trials and -slope * length > ROUND_OFF * abs(value):
        count += 1
        trial, point = curve(length)
        if trial < value and trial <= value + decrease * slope * length:
            found = Step(length, trial, point, count, accepted=True)
            return _refined(curve, found, _factor(value, slope, length, trial), refine)
        length *= min(0.8, _factor(value, slope, length, trial))
    return Step(0.0, value, None, count, accepted=False)


def _refined(curve: Curve, found: Step, factor: float, refine: float) -> Step:
    """Try the parabola's minimum as well if it is far from the step that was found."""
    if abs(factor - 1) <= refine:
        return found
    trial, point = curve(factor * found.length)
    count = found.evaluations + 1
    if trial < found.value:
        return Step(factor * found.length, trial, point, count, accepted=True)
    return replace(found, evaluations=count)


def _factor(value: float, slope: float, length: float, trial: float) -> float:
    """Length at which the parabola has its minimum, relative to the trial; from 0.1 to 4."""
    excess = trial - value - slope * length
    if not isfinite(excess):
        return 0.3
    return min(4.0, max(0.1, -slope * length / (2 * excess))) if excess > 0 else 4.0
