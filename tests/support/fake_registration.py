"""A registration that finds what it is told to find: for the panel's own logic."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import Progress

NAMES = "fixed", "moving"


def sides(size):
    """Height and width of a pixel that may be a parallelogram."""
    return tuple(np.hypot(*size).tolist()) if np.ndim(size) == 2 else size


@dataclass(frozen=True)
class FakeRegistration:
    """The fields of the real one."""

    matrix: Any
    start: Any
    fixed_shape: tuple[int, int]
    moving_shape: tuple[int, int]
    pixel_size_fixed: tuple[float, float] = (1.0, 1.0)
    pixel_size_moving: tuple[float, float] = (1.0, 1.0)
    trusted: bool = True
    because: str = "all starts agree"
    group: str = "SE"
    measure: str = "mutual"
    cost_before: float = -0.1
    cost_after: float = -0.4
    overlap: float = 0.83
    margin: float = 0.3
    agreement: float = 1.0
    inverse_consistency: tuple[float, float] = (0.1, 0.2)
    predicted_error: float = 0.15
    stop: Stop = Stop.CHANGE_SMALL
    reflected: bool = False
    history: tuple[float, ...] = (-0.2, -0.35)
    parameters: dict[str, Any] = field(default_factory=lambda: {"seed": 0})
    reason: str = ""
    way: str = ""


@dataclass(frozen=True)
class Step(Progress):
    """A step that knows the best so far."""

    matrix: Any = None


class FakeRegister:
    """Stands in for `register` and `register_steps` of the facade, and notes what it was given."""

    def __init__(self, matrix, *, trusted=True, because="all starts agree", wait=None):
        self.matrix, self.trusted, self.because = np.asarray(matrix, float), trusted, because
        self.wait, self.calls, self.note, self.way = wait, [], "", ""

    def steps(self, fixed, moving, operators, threads=None, cancelled=None, **keywords):
        self.calls.append((np.asarray(fixed), np.asarray(moving), operators, keywords))
        for step in range(3):
            yield Step("refining", step + 1, 3, 1.0 / (step + 1), matrix=self.matrix)
            while self.wait is not None and not self.wait.wait(0.01) and step == 1:
                yield Step("refining", step + 1, 3, 0.3, matrix=self.matrix)
        start = keywords.get("initial")
        return FakeRegistration(
            self.matrix,
            np.eye(3) if start is None else start,
            self.calls[-1][0].shape[:2],
            self.calls[-1][1].shape[:2],
            *(sides(keywords.get(f"pixel_size_{name}", (1.0, 1.0))) for name in NAMES),
            trusted=self.trusted,
            because=self.because + self.note + (f": {self.way}" if self.way else ""),
            reason=self.because,
            way=self.way,
        )

    def whole(self, *images, **keywords):
        steps = self.steps(*images, **keywords)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value
