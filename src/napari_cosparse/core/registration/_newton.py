"""Quasi-Newton descent in the algebra of a group, with a step cap in pixels.

The first direction comes from the majorised curvature; its length from a line search that starts
at the cap; later steps from BFGS updates of both.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.descent import Stop

from ._cost import Cost
from ._frame import Matrix
from ._measures import Evaluation

CAP = 3.0  # pixels of the level: longest step, as mean motion of the corners
TOLERANCE = 0.01  # pixels of the level: shortest step worth making
ARMIJO = 1e-4
DAMPING = 1e-6
Vector = NDArray[np.float64]
Exponential = Callable[[Vector], Matrix]


class State(NamedTuple):
    """A motion and what its cost says.

    Attributes
    ----------
    tau : ndarray, shape (3, 3)
        Group element.
    found : Evaluation
        Cost and derivatives there.
    evaluations : int
        Made so far.
    stop : Stop or None
        Why the solver stopped; None while it runs.
    """

    tau: Matrix
    found: Evaluation
    evaluations: int
    stop: Stop | None = None


def refine(
    cost: Cost,
    tau: Matrix,
    exponential: Exponential,
    iterations: int,
    tolerance: float = TOLERANCE,
    *,
    gradient_only: bool = False,
    bend: Vector | None = None,
    reach: float = CAP,
) -> Generator[State, None, State]:
    """Walk downhill from a motion.

    Parameters
    ----------
    cost : Cost
        One level's cost.
    tau : ndarray, shape (3, 3)
        Where to start.
    exponential : callable
        Algebra coordinates to group element.
    iterations : int
        Most accepted steps.
    tolerance : float
        Corner motion below which the walk ends, in pixels of the level.
    gradient_only : bool
        Walk along the Riemannian gradient, as the paper does; the basis must be orthonormal in
        the group's inner product.
    bend : ndarray, shape (d, d), optional
        Second derivatives at the motion, positive definite, where they are known: the steps have
        their length from the first one on.
    reach : float
        How far the first step is tried, in pixels of the level, where they are not.

    Yields
    ------
    State
        After each accepted step.

    Returns
    -------
    State
        The last, with the reason for stopping.
    """
    state = State(tau, cost(tau), 1)
    size = len(cost.basis)
    scaled = bend is not None and not gradient_only
    model = bend if bend is not None else np.eye(size)
    if bend is None and not gradient_only:
        model = _damped(cost.curvature(tau))
    for _ in range(iterations):
        step = -np.asarray(np.linalg.solve(model, state.found.slope), np.float64)
        length = motion_of(step, state.tau, cost)
        if not length > 0:
            return state._replace(stop=Stop.GRADIENT_SMALL)
        if scaled:
            if length < tolerance:
                return state._replace(stop=Stop.CHANGE_SMALL)
            reach = min(CAP, length)
        unit = np.asarray(step / length)
        after, reach, made = _search(cost, state, unit, reach, tolerance, exponential)
        if after is None:
            return state._replace(stop=Stop.CHANGE_SMALL, evaluations=made)
        change = np.asarray(reach * unit)
        turned = np.asarray(after.found.slope - state.found.slope)
        if not gradient_only:
            model, scaled = _updated(model, change, turned, scaled=scaled)
        reach, state = min(CAP, 2 * reach), after
        yield state
    return state._replace(stop=Stop.BUDGET_SPENT)


def _damped(curvature: Vector) -> Vector:
    scale = float(np.trace(curvature)) / len(curvature)
    if not np.isfinite(scale) or scale <= 0:
        return np.eye(len(curvature))
    return curvature + DAMPING * scale * np.eye(len(curvature))


def _updated(model: Vector, step: Vector, turned: Vector, scaled: bool) -> tuple[Vector, bool]:
    """BFGS update of the curvature; the first one also sets its scale."""
    bend = float(step @ turned)
    if bend <= 0:
        return model, scaled
    if not scaled:
        model = model * (bend / float(step @ model @ step))
    pushed = model @ step
    shrunk = model - np.outer(pushed, pushed) / float(step @ pushed)
    return shrunk + np.outer(turned, turned) / bend, True


def motion_of(step: Vector, tau: Matrix, cost: Cost) -> float:
    """Mean motion of the corners of the fixed image that a step makes.

    Parameters
    ----------
    step : ndarray, shape (d,)
        Algebra coordinates.
    tau : ndarray, shape (3, 3)
        Where the step starts.
    cost : Cost
        For its basis, frame and scale.

    Returns
    -------
    float
        In pixels of the level.
    """
    tangent = np.tensordot(step, cost.basis, 1)
    moved = (tangent @ tau @ cost.frame.corners)[:2]
    return float(np.hypot(*moved).mean()) * cost.frame.radius / cost.scale


def _search(
    cost: Cost,
    state: State,
    step: Vector,
    reach: float,
    tolerance: float,
    exponential: Exponential,
) -> tuple[State | None, float, int]:
    """Backtrack along a step of one pixel until the cost has fallen enough."""
    made, slope = state.evaluations, float(step @ state.found.slope)
    while reach >= tolerance / 2:
        tau = exponential(reach * step) @ state.tau
        most = state.found.cost + ARMIJO * reach * slope
        found = cost(tau, most)
        made += 1
        if found.cost <= most:
            return State(tau, found, made), reach, made
        reach /= 2
    return None, reach, made
