"""How much of a preview the machine computes in time."""

from collections.abc import Generator
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import TypeVar

from napari_cosparse.core.progress import Kept, Progress

from ._preview_axis import LONGEST

SECONDS = 1.6  # of computing; with what napari needs to show a layer, two seconds in all
LEAST = 96  # guide pixels along each axis that are computed on the slowest machine
TRIED = 2, 7  # iterations from whose first to last the machine's speed is told
SHARE = 0.1  # of a solver's time that these take: .08 alone, .12 while the window draws
ONCE = 60  # iterations that it has at most; twice as many where it fills large holes afterwards,
FILLED = 2.4  # which takes so many times as long in all
GROWTH = 1.4  # power of the side with which the time grows: small parts use the cores less well

T = TypeVar("T")


@dataclass(frozen=True)
class Slow:
    """Why a computation was given up.

    Attributes
    ----------
    needed : float
        Seconds that it would have taken.
    """

    needed: float

    def side(self, seconds: float) -> int:
        """Tell how much can be computed instead.

        Parameters
        ----------
        seconds : float
            That there are.

        Returns
        -------
        int
            Guide pixels along each axis, `LEAST` to `LONGEST`.
        """
        share = min(max(seconds / self.needed, 0.0), 1.0)
        return max(LEAST, int(LONGEST * share ** (1 / GROWTH)))


def unless_slow(
    steps: Generator[Progress, None, T], seconds: float
) -> Generator[Progress, None, T | Slow]:
    """Run a solver to its end, or give it up after a few iterations where it will take too long.

    Parameters
    ----------
    steps : generator of Progress
        The solver; it reports each iteration.
    seconds : float
        That it may take.

    Yields
    ------
    Progress
        At each step.

    Returns
    -------
    T or Slow
        What the solver returns, or why it was given up.
    """
    kept, began = Kept(steps), inf
    for done, progress in enumerate(kept, 1):
        yield progress
        if done == TRIED[0]:  # the first one has the window's beginning beside it
            began = perf_counter()
        needed = (perf_counter() - began) / SHARE * (FILLED if progress.total > ONCE else 1)
        if done == TRIED[1] and needed > seconds:
            steps.close()
            return Slow(needed)
    return kept.result
