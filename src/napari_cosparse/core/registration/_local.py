"""From a start that was given: refine it from every level, and keep the lowest end."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise

import numpy as np

from napari_cosparse.core.progress import Progress

from ._answer import Answer
from ._cost import Cost
from ._frame import Matrix
from ._motions import distance
from ._newton import CAP, TOLERANCE
from ._scene import Scene
from ._solve import PIXELS
from ._walk import Walk, answer_of, apart, level_stage, walk_all

MOST_STEPS = 8  # from a start to an end, to see whether the cost falls
ROUGHLY = 0.1  # pixels of a coarse level: shortest step; the next level goes on from there
NEAR = 1.0  # pixels of a level: first step from the end of the coarser one


def refine_start(scene: Scene, measure: str, start: Matrix) -> Generator[Progress, None, Answer]:
    """Refine a start that was given on ever finer levels.

    A far start needs the coarse levels. Those lead a near one astray where their lowest cost lies
    elsewhere; so each level walks from the start as well, unless the cost falls all the way from
    there to an end of the coarser level, and the finest one decides.

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
    walks: list[Walk] = []
    made = 0
    for level in range(len(scene.fixed) - 1, -1, -1):
        cost, stage = scene.cost(level, measure, PIXELS), level_stage(level)
        origins = _origins(scene, cost, walks, start)
        tolerance = ROUGHLY if level else TOLERANCE
        reach = CAP if origins[-1] is start else NEAR
        found = yield from walk_all(scene, cost, origins, tolerance, stage, reach)
        walks, made = apart(scene, cost, found), made + sum(w.end.evaluations for w in found)
    best = min(walks, key=lambda walk: walk.end.found.cost)
    return answer_of(best, made)


def _origins(scene: Scene, cost: Cost, walks: list[Walk], start: Matrix) -> list[Matrix]:
    """Return the ends of the coarser level, and the start where it leads to none of them."""
    found = [walk.end.tau for walk in walks]
    if any(_falls(scene, cost, start, tau) for tau in found):
        return found
    return [*found, start]


def _falls(scene: Scene, cost: Cost, start: Matrix, end: Matrix) -> bool:
    """Say whether the cost falls all the way: a walk from the start would lead there."""
    apart = distance(scene, start, end) / cost.scale
    steps = max(1, min(int(np.ceil(apart)), MOST_STEPS))
    between = [start + (end - start) * (step / steps) for step in range(steps)]
    costs = [cost(place, -np.inf).cost for place in between]
    lowest = cost(end).cost  # with its slope: a walk goes on from there
    return all(later < former for former, later in pairwise([*costs, lowest]))
