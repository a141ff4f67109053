"""Run a registration job: decide, judge, and put the result together."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import Progress, retold

from ._answer import Walked
from ._cascade import Outcome, decide, describe
from ._error import Determined, determine
from ._fine import Fine, refine_fine
from ._frame import Matrix
from ._motions import distance
from ._polish import polish
from ._record import record
from ._registration import Registration
from ._residual import residual_map
from ._scene import Scene
from ._solve import MANY_PIXELS, PIXELS, descend
from ._task import Task
from ._verdict import FLOOR_MARGIN, SURE_SCORE, Verdict, judge_quickly

JACKKNIFE_TILE = 5  # blocks: about 60 parts of the image
UNSURE = 2.0  # working pixels: predicted error from which on more pixels are used
FAR = 3.0  # deviations: an answer that moves farther is another one
NEAR = 1.0  # working pixels: a start nearer than this may stay
HALF = 0.5  # of the starts
T = TypeVar("T")
BLANK = (np.nan, np.nan)


@dataclass(frozen=True)
class MotionProgress(Progress):
    """Progress of a registration.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3), or None
        Where the solver is: fixed pixel (row, column, 1) -> moving pixel; None in backward runs.
    """

    matrix: Matrix | None = None


def run(task: Task) -> Generator[Progress, None, Registration]:
    """Register.

    Parameters
    ----------
    task : Task
        A checked job.

    Yields
    ------
    Progress
        `MotionProgress` from the solvers.

    Returns
    -------
    Registration
    """
    if task.refused is not None:
        return _not_registered(task, task.refused)
    outcome = yield from _with_matrix(task, decide(task.scene, task.order))
    verdict = describe(outcome, allow_reflection=task.settings.allow_reflection)
    scene = task.scene.mirrored() if outcome.reflected else task.scene
    yield Progress("judge the answer", 1, 2)
    found = _determined(scene, outcome, task.start)
    believed = outcome.verdict.trusted or not task.settings.verdict
    # what a start elsewhere equals need not be sure, unless the start is to be kept instead
    unlikely = not believed and outcome.answer.margin < FLOOR_MARGIN
    asked = not unlikely or _stays(task, outcome, verdict, found)
    if asked and found.error > UNSURE and task.shrink == 1:
        outcome, found = yield from _with_matrix(task, _surer(scene, outcome, found, task.start))
    kept, tau = _stays(task, outcome, verdict, found), outcome.answer.tau
    if believed and not kept and task.shrink == 1:
        # a start that was given is mostly close, and then time counts
        ways = task.order.start is None
        last = polish(scene, outcome.measure, tau, found, both_ways=ways)
        tau = yield from _with_matrix(task, last)
    fine = Fine(task.start if kept else tau, found.error, task.shrink)
    yield Progress("judge the answer", 2, 2)
    if believed and task.shrink > 1:
        steps = refine_fine(scene, outcome.measure, task.grids(reflected=outcome.reflected), fine)
        fine = yield from _with_matrix(task, steps)
        verdict = replace(verdict, note=f"{verdict.note}; {_described(fine)}")
    if kept and not distance(scene, task.start, fine.tau) > fine.error:
        fine = replace(fine, tau=task.start)
        note = f"{verdict.note}; the start is kept, as nothing fits clearly better"
        verdict = replace(verdict, note=note)
    return _result(task, scene, outcome, verdict, found, fine)


def _surer(
    scene: Scene, outcome: Outcome, found: Determined, start: Matrix
) -> Generator[Progress, None, tuple[Outcome, Determined]]:
    """Refine once more with more pixels, where the usual number leaves the motion unsure."""
    measure, before = outcome.measure, outcome.answer
    answer = yield from descend(scene, measure, before.tau, 0, pixels=MANY_PIXELS)
    tile = JACKKNIFE_TILE * MANY_PIXELS // PIXELS
    again = determine(scene, scene.cost(0, measure, MANY_PIXELS), answer.tau, start, tile)
    near = distance(scene, answer.tau, before.tau) <= FAR * found.error
    if not (near and again.error < found.error):
        return outcome, found
    return replace(outcome, answer=replace(before, tau=answer.tau)), again


def _described(fine: Fine) -> str:
    if not fine.windows:
        return f"not refined at full resolution: {fine.note}"
    where = f"1/{fine.step}" if fine.step > 1 else "full"
    reason = f"refined in {fine.windows} windows at {where} resolution"
    return f"{reason}, not beyond: {fine.note}" if fine.note else reason


def _stays(task: Task, outcome: Outcome, verdict: Verdict, found: Determined) -> bool:
    """Whether the start is kept: the gain is within its error, and no answer that is far is sure.

    Sure are those that were checked, and those whose start stood out or that most starts lead to:
    shades that lie alike in both images may cost less where they lie than the match does.
    """
    if outcome.reflected or found.gain > found.gain_error:
        return False
    answer = outcome.answer
    away = distance(task.scene, task.start, answer.tau)
    led_to = answer.score >= SURE_SCORE and answer.agreement > HALF
    sure = verdict.trusted or led_to or judge_quickly(answer, outcome.measure).trusted
    return away <= NEAR or not sure


def _with_matrix(task: Task, steps: Generator[Progress, None, T]) -> Generator[Progress, None, T]:
    """Say where the solver is in pixels, so that who cancels may keep the best so far."""

    def tell(progress: Progress) -> Progress:
        if not isinstance(progress, Walked):
            return progress
        matrix = task.matrix(progress.tau) if progress.scene is task.scene else None
        return MotionProgress(progress.stage, progress.step, progress.total, progress.cost, matrix)

    return (yield from retold(steps, tell))


def _determined(scene: Scene, outcome: Outcome, start: Matrix) -> Determined:
    cost = scene.cost(0, outcome.measure, PIXELS)
    return determine(scene, cost, outcome.answer.tau, start, JACKKNIFE_TILE)


def _result(
    task: Task,
    scene: Scene,
    outcome: Outcome,
    verdict: Verdict,
    found: Determined,
    fine: Fine,
) -> Registration:
    answer, tau = outcome.answer, fine.tau
    before = found.before
    after = before if tau is task.start else found.after
    if tau is not task.start and tau is not answer.tau:
        after = scene.cost(0, outcome.measure, PIXELS)(tau)
    residual = residual_map(scene, tau)
    return Registration(
        matrix=task.matrix(tau, reflected=outcome.reflected),
        start=task.matrix(task.start),
        group=task.settings.group,
        measure=outcome.measure,
        cost_before=before.cost if before.overlap > 0 else float("nan"),
        cost_after=after.cost,
        overlap=after.overlap,
        margin=answer.margin,
        agreement=answer.agreement,
        inverse_consistency=(
            task.in_moving_pixels(verdict.backward),
            task.in_moving_pixels(verdict.swapped),
        ),
        predicted_error=task.in_moving_pixels(fine.error),
        stop=answer.stop,
        trusted=verdict.trusted,
        because=verdict.because,
        reason=verdict.reason,
        way=verdict.way,
        reflected=outcome.reflected,
        residual=None if residual is None else residual * task.in_moving_pixels(1.0),
        history=answer.history,
        **record(task.settings, task.sources, scene, fine),
    )


def _not_registered(task: Task, reason: str) -> Registration:
    nan = float("nan")
    matrix = task.matrix(task.start)
    return Registration(
        matrix=matrix,
        start=matrix,
        group=task.settings.group,
        measure="both" if task.settings.measure == "auto" else task.settings.measure,
        cost_before=nan,
        cost_after=nan,
        overlap=nan,
        margin=nan,
        agreement=nan,
        inverse_consistency=BLANK,
        predicted_error=nan,
        stop=Stop.NO_DESCENT,
        trusted=False,
        because=reason,
        reason=reason,
        reflected=False,
        residual=None,
        history=(),
        **record(task.settings, task.sources, task.scene, Fine(task.start, nan, task.shrink)),
    )
