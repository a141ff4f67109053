"""Walks of the solver on one level: from several origins, told as they go."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import Progress

from ._answer import Answer, Walked
from ._cost import Cost
from ._frame import Matrix
from ._motions import distance
from ._newton import CAP, TOLERANCE, State
from ._scene import Scene

ITERATIONS = 40
COARSE_TOLERANCE = 0.03  # pixels of the level: shortest step
JOINED = 1.0  # pixels of the level: a walk this near to the end of an earlier one leads there


class Walk(NamedTuple):
    """A walk that has ended.

    Attributes
    ----------
    end : State
        The last state.
    history : tuple of float
        Cost of each accepted step.
    """

    end: State
    history: tuple[float, ...] = ()


def walk_all(
    scene: Scene,
    cost: Cost,
    origins: Sequence[Matrix],
    tolerance: float,
    stage: str,
    reach: float = CAP,
) -> Generator[Progress, None, list[Walk]]:
    """Walk downhill from each origin; a walk ends where it comes upon the end of an earlier one.

    Parameters
    ----------
    scene : Scene
        The pair.
    cost : Cost
        One level's cost.
    origins : sequence of ndarray, shape (3, 3)
        In normalised coordinates.
    tolerance : float
        Shortest step, in pixels of the level.
    stage : str
        What is being done; may name {number} and {count} of the origins.
    reach : float
        How far the first step is tried, in pixels of the level.

    Yields
    ------
    Progress
        After each accepted step.

    Returns
    -------
    list of Walk
        One for each origin.
    """
    walks: list[Walk] = []
    for number, origin in enumerate(origins, 1):
        steps = until_joined(
            scene,
            scene.walk(cost, origin, ITERATIONS, tolerance, reach=reach),
            [walk.end for walk in walks],
            JOINED * cost.scale,
        )
        name = stage.format(number=number, count=len(origins))
        walks.append((yield from report(scene, steps, name)))
    return walks


def apart(scene: Scene, cost: Cost, walks: list[Walk]) -> list[Walk]:
    """Drop walks that came upon the end of an earlier one.

    Parameters
    ----------
    scene : Scene
        The pair.
    cost : Cost
        Of the level.
    walks : list of Walk
        From `walk_all`.

    Returns
    -------
    list of Walk
    """
    kept: list[Walk] = []
    for walk in walks:
        if not _joined(scene, walk.end, [k.end for k in kept], JOINED * cost.scale):
            kept.append(walk)
    return kept


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
        if _joined(scene, state, ends, reach):
            return state._replace(stop=Stop.CHANGE_SMALL)


def _joined(scene: Scene, state: State, ends: list[State], reach: float) -> bool:
    lower = [end for end in ends if end.found.cost <= state.found.cost]
    return any(distance(scene, end.tau, state.tau) <= reach for end in lower)


def report(
    scene: Scene, steps: Generator[State, None, State], stage: str
) -> Generator[Progress, None, Walk]:
    """Report each step of a solver as progress.

    Parameters
    ----------
    scene : Scene
        The pair, for who listens.
    steps : generator
        From `Scene.walk`.
    stage : str
        What is being done.

    Yields
    ------
    Progress

    Returns
    -------
    Walk
    """
    history: list[float] = []
    while True:
        try:
            state = next(steps)
        except StopIteration as end:
            return Walk(end.value, tuple(history))
        history.append(state.found.cost)
        made = min(len(history), ITERATIONS)
        yield Walked(stage, made, ITERATIONS, state.found.cost, state.tau, scene)


def level_stage(level: int) -> str:
    """Words for the refinement on a level.

    Parameters
    ----------
    level : int
        0 is the finest.

    Returns
    -------
    str
    """
    return f"refine at 1/{2**level} resolution" if level else "refine at full resolution"


def level_tolerance(level: int) -> float:
    """Shortest step on a level, in pixels of the level.

    Parameters
    ----------
    level : int
        0 is the finest.

    Returns
    -------
    float
    """
    return COARSE_TOLERANCE if level else TOLERANCE


def answer_of(walk: Walk, evaluations: int) -> Answer:
    """Make an answer of the last walk, without rivals.

    Parameters
    ----------
    walk : Walk
        At the finest level.
    evaluations : int
        Of the cost, at all levels.

    Returns
    -------
    Answer
        Its margin and score are NaN.
    """
    end, nan = walk.end, float("nan")
    return Answer(
        end.tau,
        end.found.cost,
        1.0,
        nan,
        nan,
        evaluations,
        end.stop or Stop.BUDGET_SPENT,
        walk.history,
        end.found.overlap,
    )
