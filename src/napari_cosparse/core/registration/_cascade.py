"""Which measure to believe: both together first, then grey levels, the whole circle, a mirror."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np

from napari_cosparse.core.progress import Progress

from ._answer import Answer
from ._concentration import elsewhere
from ._frame import Matrix
from ._local import refine_start
from ._repeats import repeated
from ._scene import Scene
from ._solve import descend, solve
from ._start import Candidate
from ._starts import LARGEST_COARSE, Plan, largest_margin, search_starts
from ._verdict import FLOOR_MARGIN, Verdict, judge, judge_quickly
from ._verdict_after import agreed, in_few_places, one_of_many
from ._verdict_words import ALLOW, MEASURE_NAMES

FIRST_ROTATION = 30.0  # degrees either way
WIDE_GAIN = 1.1  # how much better a start on the whole circle must be
MIRROR_GAIN = 1.1  # how much better a start in the mirror must be


@dataclass(frozen=True)
class Outcome:
    """An answer and its verdict.

    Attributes
    ----------
    answer : Answer
        The motion.
    measure : {"both", "mutual", "nmi", "coupled"}
        Where it comes from.
    verdict : Verdict
        Whether to believe it.
    reflected : bool
        Whether it belongs to the mirrored moving image.
    edges : float
        Score of the best start by edges, as far as they were asked; NaN if not.
    """

    answer: Answer
    measure: str
    verdict: Verdict
    reflected: bool = False
    edges: float = float("nan")


@dataclass(frozen=True)
class Order:
    """What was asked for.

    Attributes
    ----------
    measure : {"auto", "both", "mutual", "nmi", "coupled"}
        As in `register`.
    max_rotation : float or None
        Degrees; None tries 30 and, where that is not trusted, the whole circle.
    plan : Plan
        How to look for a start.
    start : ndarray, shape (3, 3), or None
        Where to start instead of searching.
    verdict : bool
        Whether to ask backwards.
    mirror : bool
        Whether to look into the mirror where nothing is trusted.
    before : ndarray, shape (3, 3)
        Where the images lie: kept where the search finds nothing.
    """

    measure: str
    max_rotation: float | None
    plan: Plan
    start: Matrix | None
    verdict: bool
    mirror: bool = True
    before: Matrix = field(default_factory=lambda: np.eye(3))


Steps = Generator[Progress, None, Outcome]


def decide(scene: Scene, order: Order) -> Steps:
    """Find an answer and say whether to believe it.

    Parameters
    ----------
    scene : Scene
        The pair.
    order : Order
        What was asked for.

    Yields
    ------
    Progress

    Returns
    -------
    Outcome
        The first that is trusted, else the best.
    """
    first = "both" if order.measure == "auto" else order.measure
    outcome = yield from _upright(scene, first, order)
    outcome = yield from _unmistaken(scene, order, outcome)
    if not order.verdict or (outcome.verdict.trusted and not outcome.verdict.doubtful):
        return outcome
    # a part of a mirror image may fit by chance or symmetry; mirrored back, all of it fits
    return (yield from _look_into_mirror(scene, first, order, outcome))


def _upright(scene: Scene, first: str, order: Order) -> Steps:
    """Ask one measure after the other, the mirror left out."""
    outcome = yield from attempt(scene, first, order)
    if not order.verdict or outcome.verdict.trusted:
        return outcome
    if order.start is None and order.max_rotation is None and order.measure != "nmi":
        wide = yield from _whole_circle(scene, first, order, outcome)
        if wide.verdict.trusted:
            return wide
        outcome = _better(outcome, wide)
    if order.measure != "auto":
        return outcome
    other = replace((yield from attempt(scene, "nmi", order)), edges=outcome.edges)
    if other.verdict.trusted:
        return other
    clearer = _clearer(outcome, other)
    rest = other if clearer.answer is outcome.answer else outcome
    alike = agreed(scene, clearer.answer, rest.answer) if order.start is None else None
    if alike is None:
        return clearer
    return replace(clearer, verdict=replace(alike, backward=clearer.verdict.backward))


def _unmistaken(scene: Scene, order: Order, outcome: Outcome) -> Steps:
    """Take trust back where only a caption agrees, or a neighbour one period away as well."""
    answer, verdict = outcome.answer, outcome.verdict
    if verdict.trusted:
        places = yield from elsewhere(scene, answer.tau, order.plan, order.before)
        verdict = in_few_places(verdict, *places)
    if verdict.trusted and np.isfinite(answer.margin):
        verdict = one_of_many(verdict, *repeated(scene, answer.tau))
    return replace(outcome, verdict=verdict)


def attempt(scene: Scene, measure: str, order: Order) -> Steps:
    """One measure, from the order's start or a searched one.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "nmi", "coupled"}
        What is minimised.
    order : Order
        What was asked for.

    Yields
    ------
    Progress

    Returns
    -------
    Outcome
    """
    if order.start is not None:
        answer = yield from refine_start(scene, measure, order.start)
        return (yield from _judged(scene, measure, answer, order))
    starts = yield from search_starts(scene, measure, order.plan)
    return (yield from _from_starts(scene, measure, order, starts))


def _from_starts(scene: Scene, measure: str, order: Order, starts: list[Candidate]) -> Steps:
    if not starts or starts[0].score < 0:
        answer = yield from descend(scene, measure, order.before, -1)
        return Outcome(replace(answer, agreement=0.0), measure, _nothing_found(scene))
    answer = yield from solve(scene, measure, starts)
    return (yield from _judged(scene, measure, answer, order))


def _nothing_found(scene: Scene) -> Verdict:
    level = scene.level_within(LARGEST_COARSE)
    fixed, moving = (side[level].usable.mean() for side in (scene.fixed, scene.moving))
    reason = (
        f"no start was found at 1/{2**level} resolution, where {fixed:.0%} of the fixed and "
        f"{moving:.0%} of the moving image are known"
    )
    return Verdict(
        trusted=False, reason=reason, way="fill small holes, enlarge masks, or give a start"
    )


def _judged(scene: Scene, measure: str, answer: Answer, order: Order) -> Steps:
    if order.verdict:
        verdict = yield from judge(scene, measure, answer, order.plan)
    else:
        verdict = judge_quickly(answer, measure)
    edges = float("nan") if measure == "nmi" else answer.score
    return Outcome(answer, measure, verdict, edges=edges)


def _whole_circle(scene: Scene, measure: str, order: Order, before: Outcome) -> Steps:
    """Try all rotations where the small ones were not convincing."""
    plan = replace(order.plan, max_rotation=180.0)
    starts = yield from search_starts(scene, measure, plan)
    reached = max(0.0, float(np.nan_to_num(before.answer.score)))
    if not starts or starts[0].score < WIDE_GAIN * reached:
        return before
    if largest_margin(scene, starts) < FLOOR_MARGIN:  # no answer from these would be trusted
        return replace(before, edges=starts[0].score)
    return (yield from _from_starts(scene, measure, replace(order, plan=plan), starts))


def _better(first: Outcome, second: Outcome) -> Outcome:
    """Of two answers that are not trusted the one whose start stood out more."""
    return second if second.answer.score > first.answer.score else first


def _clearer(first: Outcome, second: Outcome) -> Outcome:
    """Of two answers that are not trusted the one that more starts and no rival speak for."""
    ranks = [o.answer.agreement + float(np.nan_to_num(o.answer.margin)) for o in (first, second)]
    best, rest = (first, second) if ranks[0] >= ranks[1] else (second, first)
    note = f"{best.verdict.note}, and {MEASURE_NAMES[rest.measure]} do no better"
    return replace(best, verdict=replace(best.verdict, note=note))


def _look_into_mirror(scene: Scene, measure: str, order: Order, before: Outcome) -> Steps:
    """Find out whether the moving image is a mirror image, if that is asked for."""
    if not order.mirror or order.start is not None:
        return before
    measure = "both" if measure == "nmi" else measure
    mirrored, plan = scene.mirrored(), order.plan
    if order.max_rotation is None:
        plan = replace(plan, max_rotation=180.0)  # upside down: reversed columns and a half turn
    starts = yield from search_starts(mirrored, measure, plan)
    if not starts or not starts[0].score > MIRROR_GAIN * np.nan_to_num(before.edges):
        return before
    if largest_margin(mirrored, starts) < FLOOR_MARGIN:
        return before
    seen = yield from _from_starts(mirrored, measure, replace(order, plan=plan), starts)
    seen = yield from _unmistaken(mirrored, replace(order, plan=plan), seen)
    if not seen.verdict.trusted:
        return before
    return replace(seen, reflected=True)


def describe(outcome: Outcome, *, allow_reflection: bool) -> Verdict:
    """Word the verdict for the user.

    Parameters
    ----------
    outcome : Outcome
        What was found.
    allow_reflection : bool
        Whether a mirror image is acceptable.

    Returns
    -------
    Verdict
    """
    verdict = outcome.verdict
    if not outcome.reflected:
        return verdict
    if allow_reflection:
        return replace(verdict, reason=f"the moving image is a mirror image; {verdict.reason}")
    reason = (
        "the moving image is a mirror image of the fixed one, as its reversed columns fit by "
        f"{MEASURE_NAMES[outcome.measure]}"
    )
    return replace(verdict, trusted=False, reason=reason, note="", way=ALLOW)
