"""From a start that was given: refine it from every level, and keep the lowest end."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import Progress

from ._frame import Matrix
from ._newton import State
from ._scene import Scene, distance
from ._solve import COARSE_TOLERANCE, ITERATIONS, JOINED, PIXELS, Answer, report, until_joined

TOLERANCE = 0.01  # pixels: shortest step at the finest level


@dataclass
class _Level:
    """Ends of the walks of one level."""

    states: list[State] = field(default_factory=list)
    histories: list[list[float]] = field(default_factory=list)
    made: int = 0


def refine_start(scene: Scene, measure: str, start: Matrix) -> Generator[Progress, None, Answer]:
    """Refine a start that was given on ever finer levels.

    A far start needs the coarse levels. Those lead a near one astray where their lowest cost lies
    elsewhere; so each level walks from the start as well where an end of the coarser level is no
    better than it, and the finest one decides.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "coupled", "nmi"}
        What is minimised.
    start : ndarray, shape (3, 3)
        In normalised coordinates.

    Yields
    ------
    Progress
        After each accepted step.

    Returns
    -------
    Answer
    """
    ends, made = _Level(), 0
    for level in range(len(scene.fixed) - 1, -1, -1):
        origins = _origins(scene, measure, level, ends.states, start)
        ends = yield from _walk_all(scene, measure, level, origins)
        made += ends.made
    best = min(range(len(ends.states)), key=lambda i: ends.states[i].found.cost)
    state, nan = ends.states[best], float("nan")
    return Answer(
        state.tau,
        state.found.cost,
        1.0,
        nan,
        nan,
        made,
        state.stop or Stop.BUDGET_SPENT,
        tuple(ends.histories[best]),
        state.found.overlap,
    )


def _origins(
    scene: Scene, measure: str, level: int, states: list[State], start: Matrix
) -> list[Matrix]:
    """Return the ends of the coarser level, and the start where they are no better than it."""
    found, cost = [state.tau for state in states], scene.cost(level, measure, PIXELS)
    here = cost(start).cost
    if found and all(cost(tau).cost < here for tau in found):
        return found
    return [*found, start]


def _walk_all(
    scene: Scene, measure: str, level: int, origins: list[Matrix]
) -> Generator[Progress, None, _Level]:
    """Walk from each origin, and drop what comes upon the end of an earlier walk."""
    cost = scene.cost(level, measure, PIXELS)
    stage = f"refine at 1/{2**level} resolution" if level else "refine at full resolution"
    reach, ends = JOINED * cost.scale, _Level()
    for origin in origins:
        walk = scene.walk(cost, origin, ITERATIONS, COARSE_TOLERANCE if level else TOLERANCE)
        history: list[float] = []
        steps = until_joined(scene, walk, list(ends.states), reach)
        state = yield from report(scene, steps, stage, history)
        ends.made += state.evaluations
        if not _joined(scene, state, ends.states, reach):
            ends.states.append(state)
            ends.histories.append(history)
    return ends


def _joined(scene: Scene, state: State, ends: list[State], reach: float) -> bool:
    lower = [end for end in ends if end.found.cost <= state.found.cost]
    return any(distance(scene, end.tau, state.tau) <= reach for end in lower)
