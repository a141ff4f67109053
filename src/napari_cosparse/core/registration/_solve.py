"""From starts to an answer: refine the best few, then the best of those on finer levels."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import Progress

from ._frame import Matrix, corner_motion
from ._newton import State
from ._scene import Scene
from ._start import PEAKS, Candidate, grid_of_motions, search
from ._start_nmi import LARGEST as LARGEST_NMI
from ._start_nmi import search_information

CANDIDATES = 4
LARGEST_COARSE = 160  # pixels: side of the level that most rotations and scales are ruled out on
KEPT_MOTIONS = 6
WORTH = 0.6  # of the best score: candidates below are not refined
APART = {"mutual": 0.05, "coupled": 0.05, "nmi": 0.03}
"""Of the larger side: candidates nearer than this are one. Neighbours on the grid of rotations lead
to one edge, but whether they do is what speaks for an answer of mutual information."""
TOGETHER = 0.01  # of the larger side: refined candidates nearer than this agree
ITERATIONS = 40
PIXELS_START = 30_000
PIXELS = 15_000
COARSE_TOLERANCE = 0.03  # pixels of the level
RIVAL_APART = 0.05  # of the larger side: another start, not a neighbour on the grid


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


@dataclass(frozen=True)
class Plan:
    """How to look for a start.

    Attributes
    ----------
    max_rotation : float
        Degrees either way.
    max_scale : float
        Magnification either way.
    linear : ndarray, shape (2, 2)
        Linear part that the motions are applied after.
    """

    max_rotation: float
    max_scale: float
    linear: NDArray[np.float64]


Steps = Generator[Progress, None, Answer]


def search_starts(
    scene: Scene, measure: str, plan: Plan
) -> Generator[Progress, None, list[Candidate]]:
    """Look for starts over all shifts and the plan's rotations and scales.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"mutual", "coupled", "nmi"}
        "nmi" compares grey levels, the others edges.
    plan : Plan
        What to try.

    Yields
    ------
    Progress
        After each rotation and scale.

    Returns
    -------
    list of Candidate
        Best first.
    """
    motions = grid_of_motions(plan.max_rotation, plan.max_scale)
    levels = _search_levels(scene, measure, len(motions))
    found: list[Candidate] = []
    for level in levels:
        found = []
        pair = scene.fixed[level], scene.moving[level]
        method = search_information if measure == "nmi" else search
        for number, some in enumerate(method(*pair, scene.frame, motions, plan.linear)):
            found += some
            yield Progress("search for a start", number + 1, len(motions))
        best = np.argsort([-c.score for c in found], kind="stable")[: PEAKS * KEPT_MOTIONS]
        motions = [motions[i] for i in sorted({int(place) // PEAKS for place in best})]
    if scene.group.name == "SO":
        found = _about_centres(scene, found)
    return sorted(found, key=lambda c: -c.score)


def _about_centres(scene: Scene, found: list[Candidate]) -> list[Candidate]:
    """Drop the shifts of starts of a group that has none; those that need one say little."""
    apart = APART["mutual"] * max(scene.frame.shape_fixed)
    turned = []
    for candidate in found:
        tau = candidate.tau.copy()
        tau[:2, 2] = 0
        near = distance(scene, candidate.tau, tau) <= apart
        turned.append(Candidate(tau, candidate.score if near else candidate.score / 2))
    return turned


def _search_levels(scene: Scene, measure: str, motions: int) -> list[int]:
    """Levels to search on; of many motions most are ruled out on a coarser one."""
    if measure == "nmi":
        return [scene.level_within(LARGEST_NMI)]
    level = scene.start_level
    coarse = scene.level_within(LARGEST_COARSE)
    return [level] if motions <= 2 * KEPT_MOTIONS or coarse == level else [coarse, level]


def distance(scene: Scene, first: Matrix, second: Matrix) -> float:
    """Mean distance of the fixed image's corners under two motions.

    Parameters
    ----------
    scene : Scene
        For the frame.
    first, second : ndarray, shape (3, 3)
        In normalised coordinates.

    Returns
    -------
    float
        In pixels of the moving image.
    """
    pixels = scene.frame.to_pixels
    return corner_motion(pixels(first), pixels(second), scene.frame.shape_fixed)


def distinct(scene: Scene, measure: str, starts: list[Candidate]) -> list[Candidate]:
    """Best starts that lie apart and are worth refining.

    Parameters
    ----------
    scene : Scene
        For the frame.
    measure : {"mutual", "coupled", "nmi"}
        What is minimised.
    starts : list of Candidate
        Best first.

    Returns
    -------
    list of Candidate
        At most four.
    """
    kept: list[Candidate] = []
    apart = APART[measure] * max(scene.frame.shape_fixed)
    for start in starts:
        if len(kept) == CANDIDATES or start.score < WORTH * starts[0].score:
            break
        if all(distance(scene, start.tau, other.tau) > apart for other in kept):
            kept.append(start)
    return kept


def margin(scene: Scene, starts: list[Candidate], tau: Matrix) -> float:
    """Lead of the starts near an answer over those elsewhere.

    Parameters
    ----------
    scene : Scene
        For the frame.
    starts : list of Candidate
        All that the search returned.
    tau : ndarray, shape (3, 3)
        The answer.

    Returns
    -------
    float
        1 - score elsewhere / score near; negative if a start elsewhere is better, NaN if none
        was searched.
    """
    apart = RIVAL_APART * max(scene.frame.shape_fixed)
    near = [s.score for s in starts if distance(scene, s.tau, tau) <= 2 * apart]
    far = [s.score for s in starts if distance(scene, s.tau, tau) > 2 * apart]
    if not starts:
        return float("nan")
    if not near or max(near) <= 0:
        return -1.0
    return 1 - max(far, default=0.0) / max(near)


def solve(scene: Scene, measure: str, starts: list[Candidate], finest: int = 0) -> Steps:
    """Refine starts and return the best.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"mutual", "coupled", "nmi"}
        What is minimised.
    starts : list of Candidate
        From `search_starts`, best first.
    finest : int
        Level to end on.

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
        steps = scene.walk(cost, start.tau, ITERATIONS, COARSE_TOLERANCE)
        ends.append((yield from _walk(scene, steps, stage, histories[-1])))
    first = min(range(len(ends)), key=lambda i: ends[i].found.cost)
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


def descend(
    scene: Scene,
    measure: str,
    tau: Matrix,
    coarsest: int,
    finest: int = 0,
    state: State | None = None,
) -> Steps:
    """Refine one motion on ever finer levels.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"mutual", "coupled", "nmi"}
        What is minimised.
    tau : ndarray, shape (3, 3)
        Where to start.
    coarsest, finest : int
        First and last level; no step is made if the first is the finer.
    state : State, optional
        Outcome of an earlier level.

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
        cost = scene.cost(level, measure, PIXELS)
        history = []
        stage = f"refine at 1/{2**level} resolution" if level else "refine at full resolution"
        tolerance = COARSE_TOLERANCE if level else 0.01
        state = yield from _walk(
            scene, scene.walk(cost, tau, ITERATIONS, tolerance), stage, history
        )
        tau, made = state.tau, made + state.evaluations
    if state is None:
        state = State(tau, scene.cost(finest, measure, PIXELS)(tau), 1, Stop.CHANGE_SMALL)
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


def _walk(
    scene: Scene, steps: Generator[State, None, State], stage: str, history: list[float]
) -> Generator[Progress, None, State]:
    """Report each step of a solver as progress."""
    for made in range(1, 10**9):
        try:
            state = next(steps)
        except StopIteration as end:
            last: State = end.value
            return last
        history.append(state.found.cost)
        yield Walked(stage, min(made, ITERATIONS), ITERATIONS, state.found.cost, state.tau, scene)
    raise AssertionError  # pragma: no cover
