"""From starts to an answer: refine the best few, then the best of those on finer levels."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import Progress

from ._answer import Answer
from ._cost import Cost
from ._error import deviation
from ._frame import Matrix
from ._motions import distance
from ._newton import State
from ._scene import Scene
from ._start import Candidate
from ._starts import distinct, margin
from ._walk import (
    COARSE_TOLERANCE,
    Walk,
    answer_of,
    level_stage,
    level_tolerance,
    walk_all,
)

TOGETHER = 0.01  # of the larger side: refined candidates nearer than this agree
PIXELS_START = 30_000
PIXELS = 15_000
MANY_PIXELS = 60_000  # where those above leave the motion unsure
CLEARLY = 0.9  # of the best start's score: one below is clearly worse
DEVIATIONS = 2.0  # by which the end of a clearly worse start must be lower
PART = 10  # blocks: about 50 parts of the image
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
    origins, stage = [start.tau for start in chosen], "refine start {number} of {count}"
    walks = yield from walk_all(scene, cost, origins, COARSE_TOLERANCE, stage)
    ends = [walk.end for walk in walks]
    first = _lowest(ends) if by_cost or measure == "nmi" else _choose(cost, chosen, ends)
    best = ends[first]
    together = TOGETHER * max(scene.frame.shape_fixed)
    agree = [distance(scene, end.tau, best.tau) <= max(together, 1.0) for end in ends]
    answer = yield from descend(scene, measure, best.tau, level - 1, finest, walks[first])
    others = sum(end.evaluations for end in ends if end is not best)
    return replace(
        answer,
        agreement=float(np.mean(agree)),
        margin=margin(scene, starts, answer.tau),
        score=starts[0].score,
        evaluations=answer.evaluations + others,
    )


def _choose(cost: Cost, starts: list[Candidate], ends: list[State]) -> int:
    """Take the lowest end, or that of the clearly best start where it is as low but for chance."""
    lowest = _lowest(ends)
    low, top = ends[lowest], ends[0]
    if starts[lowest].score > CLEARLY * starts[0].score:
        return lowest
    parts = [cost.without_each(end.tau, PART, slopes=False) for end in (top, low)]
    higher = top.found.cost - low.found.cost
    return 0 if higher < DEVIATIONS * deviation(*parts) else lowest


def _lowest(ends: list[State]) -> int:
    return min(range(len(ends)), key=lambda i: ends[i].found.cost)


def descend(
    scene: Scene,
    measure: str,
    tau: Matrix,
    coarsest: int,
    finest: int = 0,
    before: Walk | None = None,
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
    before : Walk, optional
        On an earlier level.
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
    walk, made = before, before.end.evaluations if before is not None else 0
    for level in range(coarsest, finest - 1, -1):
        cost, stage = scene.cost(level, measure, pixels), level_stage(level)
        (walk,) = yield from walk_all(scene, cost, [tau], level_tolerance(level), stage)
        tau, made = walk.end.tau, made + walk.end.evaluations
    if walk is None:
        found, made = scene.cost(finest, measure, pixels)(tau), 1
        walk = Walk(State(tau, found, made, Stop.CHANGE_SMALL))
    return answer_of(walk, made)
