"""Nonlinear conjugate gradients in any search space: one driver for all problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.space import Array, Space

from ._beta import Beta, Products, hybrid
from ._objective import Counted, Objective
from ._result import Iterate, Onward
from ._search import Search, Step, backtrack
from ._stop import Stop


@dataclass(frozen=True)
class _State:
    """Where the driver stands: a point, its gradient, the next direction and first trial."""

    iterate: Iterate
    gradient: Array
    direction: Array
    slope: float
    first: float


def iterate(
    space: Space,
    objective: Objective,
    start: Array | Iterate,
    *,
    beta: Beta = hybrid,
    search: Search = backtrack,
    restart: int | None = None,
    resumable: bool = False,
) -> Iterator[Iterate]:
    """Yield the start and one record per accepted step; the caller decides when to stop.

    The last record, if the generator ends by itself, has a `stop`: no step along the direction
    nor along the negative gradient lowers the cost.

    Parameters
    ----------
    space : Space
        Search space.
    objective : Objective
        Cost and its gradient in the surrounding flat space.
    start : ndarray or Iterate
        Point to start from, it is not changed; or a record with `onward`, to go on from there with
        the same bits. That record is yielded first.
    beta : callable
        Rule for the share of the old direction, for instance `hybrid` (the paper's).
    search : callable
        Line search.
    restart : int, optional
        Number of steps after which the direction starts afresh; number of coordinates if None.
    resumable : bool
        Give each record what it takes to go on from it: two more arrays as large as the point.

    Yields
    ------
    Iterate
        Record of the start and of each step.

    Raises
    ------
    InputError
        If the cost at the start is not finite.
    """
    counted = Counted(objective)
    if isinstance(start, Iterate):
        state = _state_of(start, counted)
    else:
        state = _first_state(space, counted, start)
    period = restart or state.gradient.size
    while state.iterate.stop is None:
        yield _told(state) if resumable else state.iterate
        step = _search(space, counted, state, search)
        if not step.accepted:  # once more along the steepest direction, then tell the truth
            state = _downhill(space, state)
            step = _search(space, counted, state, search)
        state = _advance(space, counted, state, step, beta, period)
    yield state.iterate


def _first_state(space: Space, counted: Counted, start: Array) -> _State:
    value = counted.value(start)
    if not isfinite(value):
        raise InputError(f"the cost at the start is {value}; start from an admissible point")
    gradient = space.gradient(start, counted.gradient(start))
    square = space.inner(start, gradient, gradient)
    record = Iterate(0, start, value, sqrt(square), 0.0, counted.evaluations, restarted=True)
    first = space.first_length(start, -gradient)
    return _State(record, gradient, -gradient, -square, first)


def _state_of(record: Iterate, counted: Counted) -> _State:
    """Take up a record, and the count of evaluations."""
    if record.onward is None:
        raise InputError(f"iterate {record.index} has no onward; make it with resumable=True")
    counted.values = record.evaluations
    far = record.onward
    return _State(replace(record, onward=None), far.gradient, far.direction, far.slope, far.first)


def _told(state: _State) -> Iterate:
    """Record of a state with all that it takes to go on."""
    onward = Onward(state.gradient, state.direction, state.slope, state.first)
    return replace(state.iterate, onward=onward)


def _search(space: Space, counted: Counted, state: _State, search: Search) -> Step:
    """Search along the state's direction."""

    def curve(length: float) -> tuple[float, Array]:
        point = space.retract(state.iterate.point, length * state.direction)
        return counted.value(point), point

    return search(curve, state.iterate.value, state.slope, state.first)


def _downhill(space: Space, state: _State) -> _State:
    """Stay, and take the steepest direction."""
    direction = -state.gradient
    first = space.first_length(state.iterate.point, direction)
    return replace(state, direction=direction, slope=-(state.iterate.gradient_norm**2), first=first)


def _advance(
    space: Space, counted: Counted, state: _State, step: Step, beta: Beta, period: int
) -> _State:
    """Go to the end of an accepted step and choose the next direction there."""
    if step.point is None:
        failed = replace(state.iterate, evaluations=counted.evaluations, stop=Stop.NO_DESCENT)
        return replace(state, iterate=failed)
    gradient = space.gradient(step.point, counted.gradient(step.point))
    products, old_direction = _compare(space, state, step.length, step.point, gradient)
    index = state.iterate.index + 1
    share = beta(products) if index % period else 0.0
    slope = share * products.dir_new - products.new_new
    if not -inf < slope < 0:  # also where a quotient overflowed
        share, slope = 0.0, -products.new_new
    record = Iterate(
        index,
        step.point,
        step.value,
        sqrt(products.new_new),
        step.length,
        counted.evaluations,
        restarted=share == 0,
    )
    direction = share * old_direction - gradient
    first = step.length * min(10.0, state.slope / slope) if slope else step.length
    return _State(record, gradient, direction, slope, first)


def _compare(
    space: Space, state: _State, length: float, to: Array, gradient: Array
) -> tuple[Products, Array]:
    """Carry the old gradient and direction to the new point and take all inner products there."""
    old, along = state.iterate.point, length * state.direction
    old_gradient = space.transport(old, along, to, state.gradient)
    old_direction = space.transport(old, along, to, state.direction)
    products = Products(
        new_new=space.inner(to, gradient, gradient),
        new_old=space.inner(to, gradient, old_gradient),
        old_old=space.inner(to, old_gradient, old_gradient),
        dir_new=space.inner(to, old_direction, gradient),
        dir_old=space.inner(to, old_direction, old_gradient),
    )
    return products, old_direction
