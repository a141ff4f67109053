"""The default solver: graduated non-convexity over projected L-BFGS (numerics notes, section 3)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.bands import each_band
from napari_cosparse.core.descent import Descent, Stop, lbfgs
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.types import Plane

from ._problem import Problem
from ._stage_cost import StageCost

Mask = NDArray[np.bool_]  # shape (N1, N2)

CHANGE = 1e-4  # mean decrease per response in a stage's last step that counts as converged
NOTHING = 1e-3  # decrease of the whole cost that ends a stage: one response moves by 3 % of eps


@dataclass(frozen=True)
class Schedule:
    """Smoothing of the logarithm from stage to stage.

    Attributes
    ----------
    first, last : float
        eps of the first and last stage, in ranges of the target.
    stages : int
        Number of stages; eps falls geometrically.
    iterations : int
        L-BFGS iterations in each stage.
    """

    first: float
    last: float
    stages: int
    iterations: int

    @property
    def smoothings(self) -> list[float]:
        """Eps of each stage, in ranges."""
        return [float(eps) for eps in np.geomspace(self.first, self.last, self.stages)]


EXACT = Schedule(0.1, 0.002, 6, 8)
NOISY = Schedule(0.25, 0.006, 6, 10)


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver hands back.

    Attributes
    ----------
    image : ndarray, shape (N1, N2), float32
        In ranges of the target.
    costs : tuple of float
        Cost after each iteration; comparable inside a stage only.
    iterations, evaluations : int
        Accepted steps, and evaluations of cost and gradient.
    stop : Stop
        Why the last stage ended; where large holes were filled apart, the less settled of the two.
    """

    image: Plane
    costs: tuple[float, ...]
    iterations: int
    evaluations: int
    stop: Stop


def graduate(
    problem: Problem, start: Plane, schedule: Schedule
) -> Generator[Progress, None, Solution]:
    """Minimise with a smoothing that shrinks from stage to stage.

    Large holes are filled when the rest is done, from what it came to: solved together with them,
    what is known at their rims is drawn along by pixels that nothing holds (docs/decisions,
    "Holes are filled last").

    Parameters
    ----------
    problem : Problem
        Prior, bounds and samples.
    start : ndarray, shape (N1, N2), float32
        First image, in ranges; overwritten.
    schedule : Schedule
        Stages.

    Yields
    ------
    Progress
        One for each iteration.

    Returns
    -------
    Solution
    """
    course = _Course(problem, schedule, start if problem.noise else problem.exact.to_point(start))
    del start  # or it would be held until the end
    parts = _parts(problem.holes())
    for number, part in enumerate(parts):
        yield from course.stages(part, number, len(parts))
    return course.solution()


class _Part(NamedTuple):
    """Pixels that are solved together, the others held as they are."""

    name: str
    holes: Mask | None
    filled: bool = False  # the holes are solved, which no known sample sees; else all but them

    def hold(self, direction: Plane, map_: Map) -> None:
        """Set a direction to 0 at the pixels that are held, in place."""
        if self.holes is None:
            return
        holes, filled = self.holes, self.filled

        def work(rows: slice) -> None:
            direction[rows][holes[rows] != filled] = 0

        each_band(work, direction.shape, map_)


def _parts(holes: Mask | None) -> list[_Part]:
    """List what is solved, one after the other."""
    first = _Part("", holes)
    return [first] if holes is None else [first, _Part("holes, ", holes, filled=True)]


class _Course:
    """Stages of a solve, and what they came to."""

    def __init__(self, problem: Problem, schedule: Schedule, image: Plane) -> None:
        self._problem, self._schedule, self._image = problem, schedule, image
        self._costs: list[float] = []
        self._evaluations = 0
        self._stops: list[Stop] = []  # of each part that took a step

    def stages(self, part: _Part, number: int, of: int) -> Iterator[Progress]:
        """Go through all stages with one part."""
        problem, schedule, stop = self._problem, self._schedule, None
        length = schedule.stages * schedule.iterations
        for stage, eps in enumerate(schedule.smoothings):
            objective = StageCost(problem, eps)
            before = np.inf
            for done in islice(
                _descents(problem, objective, self._image, part), schedule.iterations
            ):
                self._image = done.point
                self._costs.append(done.value)
                change, before = before - done.value, done.value
                settled = change < CHANGE * problem.responses
                stop = Stop.CHANGE_SMALL if settled else Stop.BUDGET_SPENT
                step = number * length + stage * schedule.iterations + done.index
                name = f"{part.name}stage {stage + 1} of {schedule.stages}"
                yield Progress(name, step, of * length, done.value)
                if change < NOTHING:  # further steps follow rounding, and take many trials
                    break
            self._evaluations += objective.evaluations
        if stop is not None:
            self._stops.append(stop)

    def solution(self) -> Solution:
        """Clip what was found to the bounds."""
        stop = self._why()
        image, costs = self._problem.within_bounds(self._image), tuple(self._costs)
        return Solution(image, costs, len(costs), self._evaluations, stop)

    def _why(self) -> Stop:
        """Tell why the solve ended."""
        if Stop.BUDGET_SPENT in self._stops:  # in one part is enough
            return Stop.BUDGET_SPENT
        if self._stops:
            return self._stops[-1]
        last = StageCost(self._problem, self._schedule.smoothings[-1])
        still = last.is_stationary(self._image)
        return Stop.GRADIENT_SMALL if still else Stop.NO_DESCENT


def _descents(
    problem: Problem, objective: StageCost, image: Plane, part: _Part
) -> Iterator[Descent]:
    """L-BFGS on one stage's cost; exact samples stay exact all the way, held pixels as they are."""
    map_, shape = problem.prior.map_, problem.prior.shape
    inverse = objective.curvature(image)
    each_band(lambda rows: np.reciprocal(inverse[rows], out=inverse[rows]), shape, map_)

    def project(direction: Plane) -> Plane:
        if not problem.noise and not part.filled:
            direction = problem.exact.to_direction(direction)
        part.hold(direction, map_)  # no sample sees pixels of both kinds: the two commute
        return direction

    return lbfgs(
        objective, image, project=project, inverse=inverse, map_=map_, corner=problem.corner
    )
