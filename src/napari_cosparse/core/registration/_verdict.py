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
from ._verdict_words import JUDGE, MEASURE_NAMES, back_and_forth, percent, pixels, rival

LIMIT = 2.0  # pixels: backward runs that differ more are not believed; without a search
CLOSE = 1.0  # pixels: so near that a small lead over rivals does not matter
CLEAR_LEAD, CLEAR_LIMIT = 0.3, 4.0  # pixels: wrong pairs do not lead so far: one run decides
LEAST_MARGIN, MARGIN_LIMIT = 0.25, 3.0  # pixels
FLOOR_MARGIN = 0.15  # below, a start elsewhere is as good: mirrored depth agrees backwards too
LITTLE_SHARED = 0.6  # of the smaller image: below, a repetition may pass for a match
LEAST_AGREEMENT = 0.6  # of the starts, for mutual information
HALVES = 9.0  # pixels, for mutual information
LEAST_OVERLAP = 0.15
SURE_MARGIN = 0.35  # without backward runs
SURE_SCORE = 15.0  # deviations, without backward runs
LARGE = 700  # pixels: the limits grow with the side beyond this


@dataclass(frozen=True)
class Verdict:
    """What the checks said.

    Attributes
    ----------
    trusted : bool
        Whether to believe the answer.
    reason : str
        What decided, with its numbers and limits.
    way : str
        What helps where the answer is not trusted.
    doubtful : bool
        Whether it may belong to a mirror image although it is trusted.
    backward, swapped : float
        Distances of the backward runs, in working pixels; NaN if not made.
    note : str
        What else is known, with the comma or semicolon that parts it from the reason.
    """

    trusted: bool
    reason: str
    way: str = ""
    doubtful: bool = False
    backward: float = float("nan")
    swapped: float = float("nan")
    note: str = ""

    @property
    def because(self) -> str:
        """Why, in one sentence, and what helps."""
        told = self.reason + self.note
        return f"{told}: {self.way}" if self.way else told


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
    early = hopeless(answer)
    if early is None and measure != "nmi" and answer.margin < FLOOR_MARGIN:
        early = _outdone(measure, answer)
    if early is not None:
        return early
    back = yield from backward(scene, measure, answer.tau, plan)
    if measure == "nmi":
        return (yield from _judge_information(scene, answer, back))
    other = float("inf")
    if back <= _backward_limit(scene, answer):
        other = yield from pushed(scene, measure, answer.tau)
    return _consistent(scene, measure, answer, back, other)


def _outdone(measure: str, answer: Answer) -> Verdict:
    """Refuse an answer that a start elsewhere equals, whatever backward runs would say."""
    limit = f" (limit {FLOOR_MARGIN:.0%})" if answer.margin >= 0 else ""
    reason = f"by {MEASURE_NAMES[measure]}, {rival(answer.margin)}{limit}"
    return Verdict(trusted=False, reason=reason, way=_way(answer))


def limit_of(scene: Scene) -> float:
    """Say how far backward runs may end from an answer without a search.

    Parameters
    ----------
    scene : Scene
        The pair.

    Returns
    -------
    float
        In pixels; more for large images.
    """
    return LIMIT * max(1.0, max(scene.frame.shape_fixed) / LARGE)


def _clear(scene: Scene, answer: Answer) -> bool:
    """Whether no other start comes near, nor may another place pass for this one."""
    lead = answer.margin
    return bool(np.isfinite(lead) and lead >= CLEAR_LEAD) and not may_repeat(scene, answer)


def _backward_limit(scene: Scene, answer: Answer) -> float:
    """Find the limit of the backward runs.

    Wider without a rival start: wrong answers have one. Narrower where the scene may repeat.
    """
    lead = answer.margin
    if may_repeat(scene, answer):
        pixels = CLOSE
    elif not np.isfinite(lead):
        pixels = LIMIT
    elif lead >= CLEAR_LEAD:
        pixels = CLEAR_LIMIT
    else:
        pixels = MARGIN_LIMIT if lead >= LEAST_MARGIN else CLOSE
    return limit_of(scene) * pixels / LIMIT


def may_repeat(scene: Scene, answer: Answer) -> bool:
    """Say whether the images share little, and not all starts lead to the answer.

    One period off, a repetitive scene fits in all that both images show then; so does a part of a
    mirror image.

    Parameters
    ----------
    scene : Scene
        The pair.
    answer : Answer
        What is judged.

    Returns
    -------
    bool
    """
    fixed, moving = (np.prod(s) for s in (scene.frame.shape_fixed, scene.frame.shape_moving))
    covered = abs(np.linalg.det(answer.tau[:2, :2])) * fixed
    shared = answer.overlap * max(1.0, float(covered / moving))  # of the smaller image
    return shared < LITTLE_SHARED and answer.agreement < 1


def _doubtful(scene: Scene, answer: Answer, *gaps: float) -> bool:
    """Say whether an answer may belong to a mirror image nevertheless.

    Where the scene may repeat, and where a backward run ends elsewhere: the mirror image of a
    facade fits its other half, far ahead of all other places.
    """
    return may_repeat(scene, answer) or max(gaps) > limit_of(scene)


def hopeless(answer: Answer) -> Verdict | None:
    """Refuse answers that need no more checks.

    Parameters
    ----------
    answer : Answer
        What is judged.

    Returns
    -------
    Verdict or None
        Where the images share next to nothing, and where the solver left them.
    """
    if answer.overlap < LEAST_OVERLAP:
        covered = f"only {percent(answer.overlap)} of the fixed image is covered"
        return Verdict(
            trusted=False,
            reason=f"{covered} (limit {LEAST_OVERLAP:.0%})",
            way="give a start, or masks of what both show, or fill scattered holes",
        )
    if not np.isfinite(answer.tau).all():
        return Verdict(trusted=False, reason="the search left the images", way=_way(answer))
    return None


def _way(answer: Answer) -> str:
    searched = np.isfinite(answer.margin)
    return "give a start or landmarks" if searched else "give a nearer start, or search"


def _consistent(scene: Scene, measure: str, answer: Answer, back: float, other: float) -> Verdict:
    """Judge by both backward runs, or by the first where no other start comes near."""
    limit, lead = _backward_limit(scene, answer), answer.margin
    worst = back if _clear(scene, answer) else max(back, other)
    reason, note = back_and_forth(measure, worst if back <= limit else back, limit), ""
    searched = bool(np.isfinite(lead))
    trusted = bool(worst <= limit)
    if worst > limit:
        if may_repeat(scene, answer):
            covered = f"with {percent(answer.overlap)} covered"
            note = f"; {covered} a repeated pattern may pass for a match"
        elif searched and lead < LEAST_MARGIN:
            note = f", and {rival(lead)}"
    elif searched:
        note = f", and {rival(lead)}"
    way, doubtful = "" if trusted else _way(answer), _doubtful(scene, answer, back, other)
    return Verdict(trusted, reason, way, doubtful, backward=back, swapped=other, note=note)


def _judge_information(
    scene: Scene, answer: Answer, back: float
) -> Generator[Progress, None, Verdict]:
    limit, name = limit_of(scene), MEASURE_NAMES["nmi"]
    reason = back_and_forth("nmi", back, limit)
    if back > limit:
        return Verdict(trusted=False, reason=reason, way=_way(answer), backward=back)
    if answer.agreement <= LEAST_AGREEMENT:
        reason = (
            f"by {name}, only {percent(answer.agreement)} of the starts end here, not more than "
            f"{LEAST_AGREEMENT:.0%}"
        )
        return Verdict(trusted=False, reason=reason, way=_way(answer), backward=back)
    gap, most = (yield from halves(scene, "nmi", answer.tau)), HALVES * limit / LIMIT
    apart = f"by {pixels(gap)} (limit {most:.2g} px)"
    if gap > most:
        return Verdict(
            trusted=False,
            reason=f"by {name}, halves of the image disagree {apart}",
            way=_way(answer),
            backward=back,
        )
    reason = f"{reason}, and halves of the image differ {apart}"
    doubtful = _doubtful(scene, answer, back)
    return Verdict(trusted=True, reason=reason, doubtful=doubtful, backward=back)


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
    early = hopeless(answer)
    if early is not None:
        return early
    if measure == "nmi" or not np.isfinite(answer.margin):
        return Verdict(trusted=False, reason="nothing was checked", way=JUDGE)
    strength = f"({answer.score:.0f} over chance, limit {SURE_SCORE:.0f})"
    lead = rival(answer.margin)
    if answer.score < SURE_SCORE:
        return Verdict(trusted=False, reason=f"edges coincide too little {strength}", way=JUDGE)
    if answer.margin < SURE_MARGIN:
        return Verdict(trusted=False, reason=f"{lead} (limit {SURE_MARGIN:.0%})", way=JUDGE)
    reason = f"edges coincide clearly {strength} and {lead}; not checked the other way round"
    return Verdict(trusted=True, reason=reason)
