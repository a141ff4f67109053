"""Which of a run's steps is the best so far."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from napari_cosparse.core.progress import Progress
from napari_cosparse.widgets._register_best import Best, with_best


@dataclass(frozen=True)
class Step(Progress):
    """A step that knows where the solver is."""

    matrix: Any = None


def step(stage, cost, number):
    return Step(stage, 1, 9, cost, matrix=None if number is None else np.diag([number, 1, 1.0]))


RUN = [
    (Progress("search", 1, 2), None),
    (step("refine start 1 of 2", -0.2, 1), 1),
    (step("refine start 1 of 2", -0.5, 2), 2),
    (step("refine start 2 of 2", -0.3, 3), 2),  # a worse start
    (step("refine at 1/2 resolution", -0.1, 4), 4),  # finer pixels have other costs
    (step("refine at full resolution", -0.05, 5), 5),
    (step("refine at full resolution", float("nan"), 6), 5),
    (step("backward run", -0.9, None), 5),
    (Progress("judge the answer", 1, 2), 5),
]


def test_every_step_tells_the_best_so_far():
    ended = []

    def run():
        try:
            for progress, _ in RUN:
                yield progress
            return "found"
        finally:
            ended.append(True)

    steps = with_best(run())
    for progress, best in RUN:
        told = next(steps)
        assert (told.stage, told.step, told.total) == (
            progress.stage,
            progress.step,
            progress.total,
        )
        assert (told.matrix is None) == (best is None)
        assert best is None or told.matrix[0, 0] == best
    steps.close()
    assert ended


def test_nothing_is_best_before_a_motion_is_known():
    best = Best()
    best.add(Progress("search", 1, 2, cost=-1.0))
    assert best.matrix is None
