"""What every long computation reports while it runs.

Long functions are generators that yield `Progress` and return their result, so that the caller
(a loop, a progress bar, a worker thread with a cancel button) decides when to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from .errors import InputError

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class Progress:
    """One step of a long computation.

    Attributes
    ----------
    stage : str
        What is being done, in words a user understands.
    step : int
        Number of steps done so far, over all stages.
    total : int
        Number of steps at most.
    cost : float
        Value of the cost after this step; NaN where a step has none.
    """

    stage: str
    step: int
    total: int
    cost: float = float("nan")


class Kept(Generic[S, T]):
    """Iterate over a generator and keep what it returns.

    Parameters
    ----------
    steps : generator
        A computation.

    Attributes
    ----------
    result : object
        What it returned; there once the iteration has ended.
    """

    def __init__(self, steps: Generator[S, None, T]) -> None:
        self._steps = steps
        self.result: T

    def __iter__(self) -> Iterator[S]:
        """Yield what the generator yields."""
        self.result = yield from self._steps


def drain(
    steps: Generator[Progress, None, T], report: Callable[[Progress], None] | None = None
) -> T:
    """Run a generator of progress to its end and return its result.

    Parameters
    ----------
    steps : generator of Progress
        The computation.
    report : callable, optional
        Called with each `Progress`.

    Returns
    -------
    T
        What the generator returns.

    Raises
    ------
    InputError
        If `report` cannot be called; nothing runs then.
    """
    if report is not None and not callable(report):
        raise InputError(f"report {report!r} must be callable: it is given each step's Progress")
    kept = Kept(steps)
    for progress in kept:
        if report is not None:
            report(progress)
    return kept.result


def retold(
    steps: Generator[S, None, T], tell: Callable[[S], Progress]
) -> Generator[Progress, None, T]:
    """Report each step of a computation in other words.

    Parameters
    ----------
    steps : generator
        The computation.
    tell : callable
        Makes a report of what it yields.

    Yields
    ------
    Progress
        At each step.

    Returns
    -------
    T
        What the generator returns.
    """
    kept = Kept(steps)
    for step in kept:
        yield tell(step)
    return kept.result


def reported(steps: Generator[None, None, T], progress: Progress) -> Generator[Progress, None, T]:
    """Report one and the same progress at each step of a computation.

    Parameters
    ----------
    steps : generator
        The computation.
    progress : Progress
        What to say of it.

    Yields
    ------
    Progress
        At each step.

    Returns
    -------
    T
        What the generator returns.
    """
    return (yield from retold(steps, lambda _: progress))
