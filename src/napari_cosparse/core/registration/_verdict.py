"""Whether to believe an answer, and why, in one sentence."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from napari_cosparse.core.progress import Progress

from ._answer import Answer
from ._consistency import backward, halves, pushed
from ._scene import Scene
from ._starts import Plan

LIMIT = 2.0  # pixels: backward runs that differ more are not believed
CLEAR_LIMIT, CLEAR_LEAD = 3.0, 0.8  # pixels, where no other start comes anywhere near
CLOSE = 1.0  # pixels: so near that a small lead over rivals does not matter
LITTLE_SHARED = 0.6  # of the smaller image: below, a repetition may pass for a match
LEAST_MARGIN = 0.25
FLOOR_MARGIN = 0.15  # below, a start elsewhere is as good: mirrored depth agrees backwards too
LEAST_AGREEMENT = 0.6  # of the starts, for mutual information
HALVES = 9.0  # pixels, for mutual information
LEAST_OVERLAP = 0.15
SURE_MARGIN = 0.35  # without backward runs
SURE_SCORE = 15.0  # deviations, without backward runs
LARGE = 700  # pixels: the limits grow with the side beyond this
MEASURE_NAMES = {
    "both": "co-sparsity with mutual information",
    "mutual": "mutual co-sparsity",
    "nmi": "normalised mutual information",
    "coupled": "coupled sparsity",
}


@dataclass(frozen=True)
class Verdict:
    """What the checks said.

    Attributes
    ----------
    trusted : bool
        Whether to believe the answer.
    because : str
        Why, in one sentence.
    backward, swapped : float
        Distances of the backward runs, in working pixels; NaN if not made.
    """

    trusted: bool
    because: str
    backward: float = float("nan")
    swapped: float = float("nan")


def judge(
    scene: Scene, measure: str, answer: Answer, plan: Plan
) -> Generator[Progress, None, Verdict]:
    """Ask the question backwards and judge the answer.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "coupled", "nmi"}
        The measure that gave the answer.
    answer : Answer
        What is judged.
    plan : Plan
        How starts were looked for.

    Yields
    ------
    Progress

    Returns
    -------
    Verdict
    """
    early = _hopeless(answer)
    if early is not None:
        return early
    back = yield from backward(scene, measure, answer.tau, plan)
    if measure == "nmi":
        return (yield from _judge_information(scene, answer, back))
    other = float("inf")
    if back <= _backward_limit(scene, answer):
        other = yield from pushed(scene, measure, answer.tau)
    return _consistent(scene, measure, answer, back, other)


def _limit(scene: Scene) -> float:
    return LIMIT * max(1.0, max(scene.frame.shape_fixed) / LARGE)


def _backward_limit(scene: Scene, answer: Answer) -> float:
    """Find the limit of the backward runs.

    Wider without a rival start: wrong answers have one. Narrower where the scene may repeat.
    """
    if _may_repeat(scene, answer):
        return _limit(scene) * CLOSE / LIMIT
    clear = np.isfinite(answer.margin) and answer.margin >= CLEAR_LEAD
    return _limit(scene) * (CLEAR_LIMIT / LIMIT if clear else 1.0)


def _may_repeat(scene: Scene, answer: Answer) -> bool:
    """Whether the images share little, and not all starts lead to the answer.

    One period off, a repetitive scene fits in all that both images show then.
    """
    fixed, moving = (np.prod(s) for s in (scene.frame.shape_fixed, scene.frame.shape_moving))
    covered = abs(np.linalg.det(answer.tau[:2, :2])) * fixed
    shared = answer.overlap * max(1.0, float(covered / moving))  # of the smaller image
    return shared < LITTLE_SHARED and answer.agreement < 1


def _hopeless(answer: Answer) -> Verdict | None:
    if answer.overlap < LEAST_OVERLAP:
        return Verdict(
            trusted=False,
            because=f"the images overlap by {answer.overlap:.0%} at the answer, less than the "
            f"{LEAST_OVERLAP:.0%} that can be judged: give a start, or a region or masks that "
            "show the same scene; or fill scattered holes, which count with their neighbours",
        )
    if not np.isfinite(answer.tau).all():
        return Verdict(trusted=False, because="the search left the images; give a start")
    return None


def _consistent(scene: Scene, measure: str, answer: Answer, back: float, other: float) -> Verdict:
    worst, limit = max(back, other), _backward_limit(scene, answer)
    name = MEASURE_NAMES[measure]
    if worst > limit:
        apart = f"{worst:.1f} px" if np.isfinite(worst) else f"{back:.1f} px"
        reason = (
            f"registering backwards gives another answer, {apart} away (limit {limit:.1f} px), so "
            f"{name} cannot tell which is right"
        )
        if _may_repeat(scene, answer):
            reason += f"; at an overlap of {answer.overlap:.0%} a repetition may pass for a match"
        return Verdict(trusted=False, because=reason, backward=back, swapped=other)
    lead = answer.margin
    close = CLOSE * _limit(scene) / LIMIT
    if lead < FLOOR_MARGIN or (lead < LEAST_MARGIN and worst > close):
        reason = (
            f"another start fits almost as well (lead {lead:.0%}) and the backward runs differ by "
            f"{worst:.1f} px"
        )
        return Verdict(trusted=False, because=reason, backward=back, swapped=other)
    reason = f"{name} finds the same answer backwards to {worst:.2f} px"
    if np.isfinite(lead):
        reason += f" and leads the best rival start by {lead:.0%}"
    return Verdict(trusted=True, because=reason, backward=back, swapped=other)


def _judge_information(
    scene: Scene, answer: Answer, back: float
) -> Generator[Progress, None, Verdict]:
    limit = _limit(scene)
    name = MEASURE_NAMES["nmi"]
    if back > limit:
        reason = f"{name} gives another answer backwards, {back:.1f} px away (limit {limit:.1f} px)"
        return Verdict(trusted=False, because=reason, backward=back)
    if answer.agreement <= LEAST_AGREEMENT:
        reason = f"only {answer.agreement:.0%} of the starts agree under {name}"
        return Verdict(trusted=False, because=reason, backward=back)
    gap = yield from halves(scene, "nmi", answer.tau)
    if gap > HALVES * limit / LIMIT:
        reason = f"halves of the image disagree by {gap:.1f} px under {name}"
        return Verdict(trusted=False, because=reason, backward=back)
    reason = (
        f"{name} finds the same answer backwards to {back:.2f} px, on halves of the image to "
        f"{gap:.1f} px and from {answer.agreement:.0%} of the starts"
    )
    return Verdict(trusted=True, because=reason, backward=back)


def judge_quickly(answer: Answer, measure: str) -> Verdict:
    """Judge by the starts alone, without backward runs.

    Parameters
    ----------
    answer : Answer
        What is judged.
    measure : {"both", "mutual", "coupled", "nmi"}
        The measure that gave the answer.

    Returns
    -------
    Verdict
        Strict: what is not clear is not trusted.
    """
    early = _hopeless(answer)
    if early is not None:
        return early
    if measure == "nmi" or not np.isfinite(answer.margin):
        return Verdict(trusted=False, because="it was not checked: ask for the verdict")
    if answer.margin >= SURE_MARGIN and answer.score >= SURE_SCORE:
        reason = (
            f"edges coincide {answer.score:.0f} deviations beyond chance and lead the best rival "
            f"start by {answer.margin:.0%}; not checked backwards"
        )
        return Verdict(trusted=True, because=reason)
    reason = (
        f"edges coincide {answer.score:.0f} deviations beyond chance and lead the best rival start "
        f"by {answer.margin:.0%}, which is not clear without a check backwards"
    )
    return Verdict(trusted=False, because=reason)
