"""The best motion that a registration has shown so far, for those who cancel it."""

from collections.abc import Generator
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.progress import Progress


@dataclass(frozen=True)
class BestProgress(Progress):
    """A step that knows the best so far.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3), or None
        Fixed pixel to moving pixel; None before the first motion is known.
    """

    matrix: NDArray[np.float64] | None = None


class Best:
    """Compares the steps of a run.

    Costs are comparable within one kind of stage: all starts are refined at one resolution by one
    measure. The next kind of stage begins with the best of the one before, on finer pixels, or is
    another measure because the one before found nothing to be trusted; so the newer one wins.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.matrix: NDArray[np.float64] | None = None
        self._kind, self._cost = "", inf

    def add(self, progress: Progress) -> None:
        """Look at a step.

        Parameters
        ----------
        progress : Progress
            Those without a `matrix` are ignored.
        """
        matrix = getattr(progress, "matrix", None)
        if matrix is None or not isfinite(progress.cost):
            return
        kind = progress.stage.partition(" start ")[0]
        if kind != self._kind or progress.cost <= self._cost:
            self.matrix, self._kind, self._cost = np.asarray(matrix), kind, progress.cost


def with_best(run: Generator[Progress, None, Any]) -> Generator[Progress, None, Any]:
    """Let every step of a registration tell the best motion so far.

    Parameters
    ----------
    run : generator of Progress
        `register_steps`.

    Yields
    ------
    BestProgress
        The step, with the best so far.

    Returns
    -------
    Registration
    """
    best = Best()
    try:
        while True:
            try:
                progress = next(run)
            except StopIteration as end:
                return end.value
            best.add(progress)
            told = progress.stage, progress.step, progress.total, progress.cost
            yield BestProgress(*told, best.matrix)
    finally:
        run.close()
