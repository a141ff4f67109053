"""From starts to an answer: refine the best few, then the best of those on finer levels."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import Progress

from ._cost import Cost
from ._error import deviation
from ._frame import Matrix
from ._newton import State
from ._scene import Scene, distance
from ._start import Candidate
from ._starts import distinct, margin

TOGETHER = 0.01  # of the larger side: refined candidates nearer than this agree
JOINED = 1.0  # pixels of the level: a walk this near to the end of an earlier one leads there
ITERATIONS = 40
PIXELS_START = 30_000
PIXELS = 15_000
MANY_PIXELS = 60_000  # where those above leave the motion unsure
COARSE_TOLERANCE = 0.03  # pixels of the level
CLEARLY = 0.9  # of the best start's score: one below is clearly worse
DEVIATIONS = 2.0  # by which the end of a clearly worse start must be lower
PART = 10  # blocks: about 50 parts of the image


@dataclass(frozen=True)
class Answer:
    """What a measure found.

    Attributes
    ----------
    tau : ndarray, shape (3, 3)
        In normalised coordinates.
    cost : float
        At the finest level that was used.
    agreement : float
        Share of the refined starts that ended together with the best.
    margin : float
        Lead of the best start over the best that lies elsewhere, relative to it.
    score : float
        Of the best start; NaN if none was searched.
    evaluations : int
        Of the cost.
    stop : Stop
        Why the last level ended.
    history : tuple of float
        Costs of the accepted steps of the finest level.
    overlap : float
        Share of the fixed image's pixels.
    """

    tau: Matrix
    cost: float
    agreement: float
    margin: float
    score: float
    evaluations: int
    stop: Stop
    history: tuple[float, ...]
    overlap: float


@dataclass(frozen=True)
class Walked(Progress):
    """Progress of a solver, with where it is.

    Attributes
    ----------
    tau : ndarray, shape (3, 3)
        In normalised coordinates.
    scene : Scene
        The pair that is registered; backward runs have another.
    """

    tau: Matrix = field(default_factory=lambda: np.eye(3))
    scene: Scene | None = None


Steps = Generator[Progress, None, Answer]


def solve(
    scene: Scene,
    measure: str,
    starts: list[Candidate],
    finest: int = 0,
    *,
    by_cost: bool = False,
) -> Steps:
    """Refine starts and return the best.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "coupled", "nmi"}
        What is minimised.
    starts : list of Candidate
        From `search_starts`, best first.
    finest : int
        Level to end on.
    by_cost : bool
        Take the lowest end, whatever its start: a check must not lean on the same starts.

    Yields
    ------
    Progress
        After each accepted step.

    Returns
    -------
    Answer
    """
    level = max(scene.start_level, finest)
    chosen = distinct(scene, measure, starts)
    cost = scene.cost(level, measure, PIXELS_START)
    ends: list[State] = []
    histories: list[list[float]] = []
    for number, start in enumerate(chosen):
        stage = f"refine start {number + 1} of {len(chosen)}"
        histories.append([])
        walk = scene.walk(cost, start.tau, ITERATIONS, COARSE_TOLERANCE)
        steps = until_joined(scene, walk, list(ends), JOINED * cost.scale)
        ends.append((yield from report(scene, steps, stage, histories[-1])))
    first = _lowest(ends) if by_cost or measure == "nmi" else _choose(cost, chosen, ends)
    best = ends[first]
    together = TOGETHER * max(scene.frame.shape_fixed)
    agree = [distance(scene, end.tau, best.tau) <= max(together, 1.0) for end in ends]
    answer = yield from descend(scene, measure, best.tau, level - 1, finest, best)
    evaluations = answer.evaluations + sum(end.evaluations for end in ends if end is not best)
    return Answer(
        answer.tau,
        answer.cost,
        float(np.mean(agree)),
        margin(scene, starts, answer.tau),
        starts[0].score,
        evaluations,
        answer.stop,
        answer.history or tuple(histories[first]),
        answer.overlap,
    )


def _choose(cost: Cost, starts: list[Candidate], ends: list[State]) -> int:
    """Take the lowest end, or that of the clearly best start where it is as low but for chance."""
    lowest = _lowest(ends)
    low, top = ends[lowest], ends[0]
    if starts[lowest].score > CLEARLY * starts[0].score:
        return lowest
    parts = [cost.without_each(end.tau, PART) for end in (top, low)]
    higher = top.found.cost - low.found.cost
    return 0 if higher < DEVIATIONS * deviation(*parts) else lowest


def _lowest(ends: list[State]) -> int:
    return min(range(len(ends)), key=lambda i: ends[i].found.cost)


def until_joined(
    scene: Scene, steps: Generator[State, None, State], ends: list[State], reach: float
) -> Generator[State, None, State]:
    """Break a walk off where it comes upon the end of an earlier one that lies no higher.

    Parameters
    ----------
    scene : Scene
        The pair.
    steps : generator
        From `Scene.walk`.
    ends : list of State
        Of earlier walks under the same cost.
    reach : float
        Mean distance of the corners, in working pixels.

    Yields
    ------
    State
        After each accepted step.

    Returns
    -------
    State
        The last.
    """
    while True:
        try:
            state = next(steps)
        except StopIteration as end:
            last: State = end.value
            return last
        yield state
        lower = [end for end in ends if end.found.cost <= state.found.cost]
        if any(distance(scene, end.tau, state.tau) <= reach for end in lower):
            return state._replace(stop=Stop.CHANGE_SMALL)


def descend(
    scene: Scene,
    measure: str,
    tau: Matrix,
    coarsest: int,
    finest: int = 0,
    state: State | None = None,
    pixels: int = PIXELS,
) -> Steps:
    """Refine one motion on ever finer levels.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "coupled", "nmi"}
        What is minimised.
    tau : ndarray, shape (3, 3)
        Where to start.
    coarsest, finest : int
        First and last level; no step is made if the first is the finer.
    state : State, optional
        Outcome of an earlier level.
    pixels : int
        Number of pixels of a level that suffices.

    Yields
    ------
    Progress
        After each accepted step.

    Returns
    -------
    Answer
    """
    made = state.evaluations if state is not None else 0
    history: list[float] = []
    for level in range(coarsest, finest - 1, -1):
        cost = scene.cost(level, measure, pixels)
        history = []
        stage = f"refine at 1/{2**level} resolution" if level else "refine at full resolution"
        tolerance = COARSE_TOLERANCE if level else 0.01
        state = yield from report(
            scene, scene.walk(cost, tau, ITERATIONS, tolerance), stage, history
        )
        tau, made = state.tau, made + state.evaluations
    if state is None:
        state = State(tau, scene.cost(finest, measure, pixels)(tau), 1, Stop.CHANGE_SMALL)
    nan = float("nan")
    return Answer(
        tau,
        state.found.cost,
        1.0,
        nan,
        nan,
        made,
        state.stop or Stop.BUDGET_SPENT,
        tuple(history),
        state.found.overlap,
    )


def report(
    scene: Scene, steps: Generator[State, None, State], stage: str, history: list[float]
) -> Generator[Progress, None, State]:
    """Report each step of a solver as progress.

    Parameters
    ----------
    scene : Scene
        The pair, for who listens.
    steps : generator
        From `Scene.walk`.
    stage : str
        What is being done.
    history : list of float
        Gets the cost of each accepted step.

    Yields
    ------
    Progress

    Returns
    -------
    State
        The last.
    """
    for made in range(1, 10**9):
        try:
            state = next(steps)
        except StopIteration as end:
            last: State = end.value
            return last
        history.append(state.found.cost)
        yield Walked(stage, min(made, ITERATIONS), ITERATIONS, state.found.cost, state.tau, scene)
    raise AssertionError  # pragma: no cover
