"""Drain the conjugate-gradient driver with a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from napari_cosparse.core.space import Array, Space

from ._beta import Beta, hybrid
from ._conjugate import iterate
from ._objective import Objective
from ._result import Iterate, Result
from ._search import Search, backtrack
from ._stop import Stop


def until(
    iterates: Iterable[Iterate],
    *,
    iterations: int,
    gradient_tolerance: float = 0.0,
    change_tolerance: float = 0.0,
) -> Iterator[Iterate]:
    """Pass iterates on up to the first that meets a rule; that one carries the reason.

    Parameters
    ----------
    iterates : iterable of Iterate
        What `iterate` yields.
    iterations : int
        Number of steps at most.
    gradient_tolerance : float
        Length of the gradient, relative to the one at the start, that counts as small.
    change_tolerance : float
        Relative decrease of the cost in one step below which it counts as constant.

    Yields
    ------
    Iterate
        The same records; the last has a `stop`.
    """
    threshold, before = -1.0, float("inf")
    for record in iterates:
        if record.index == 0:
            threshold = gradient_tolerance * record.gradient_norm
        stop = record.stop
        if record.gradient_norm <= threshold or record.gradient_norm == 0:
            stop = Stop.GRADIENT_SMALL
        elif stop is None and before - record.value < change_tolerance * abs(record.value):
            stop = Stop.CHANGE_SMALL
        elif stop is None and record.index >= iterations:
            stop = Stop.BUDGET_SPENT
        yield record if stop is record.stop else replace(record, stop=stop)
        if stop is not None:
            return
        before = record.value


def minimise(
    space: Space,
    objective: Objective,
    start: Array,
    *,
    iterations: int = 200,
    gradient_tolerance: float = 1e-6,
    change_tolerance: float = 0.0,
    beta: Beta = hybrid,
    search: Search = backtrack,
    restart: int | None = None,
) -> Result:
    """Minimise a cost by nonlinear conjugate gradients.

    Parameters
    ----------
    space : Space
        Search space.
    objective : Objective
        Cost and its gradient in the surrounding flat space.
    start : ndarray
        Point to start from; it is not changed.
    iterations : int
        Number of steps at most.
    gradient_tolerance, change_tolerance : float
        When to stop before, see `until`.
    beta : callable
        Rule for the share of the old direction, see `iterate`.
    search : callable
        Line search, see `iterate`.
    restart : int, optional
        Number of steps after which the direction starts afresh, see `iterate`.

    Returns
    -------
    Result
        Best point, history and the reason for the end.

    Raises
    ------
    InputError
        If the cost at the start is not finite.
    """
    values: list[float] = []
    steps = iterate(space, objective, start, beta=beta, search=search, restart=restart)
    for record in until(
        steps,
        iterations=iterations,
        gradient_tolerance=gradient_tolerance,
        change_tolerance=change_tolerance,
    ):
        if record.index == len(values):  # a failed search repeats the last iterate
            values.append(record.value)
        last = record
    stop = last.stop or Stop.BUDGET_SPENT
    return Result(last.point, last.value, last.gradient_norm, tuple(values), last.evaluations, stop)
