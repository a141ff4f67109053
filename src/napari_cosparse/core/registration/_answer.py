"""What a measure found, and what is told while it looks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import Progress

from ._frame import Matrix
from ._scene import Scene


@dataclass(frozen=True)
class Answer:
    """What a measure found.

    Attributes
    ----------
    tau : ndarray, shape (3, 3)
        In normalised coordinates.
    cost : float
        At the finest level that was used.
    agreement : float
        Share of the refined starts that ended together with the best.
    margin : float
        Lead of the best start over the best that lies elsewhere, relative to it.
    score : float
        Of the best start; NaN if none was searched.
    evaluations : int
        Of the cost.
    stop : Stop
        Why the last level ended.
    history : tuple of float
        Costs of the accepted steps of the finest level.
    overlap : float
        Share of the fixed image's pixels.
    """

    tau: Matrix
    cost: float
    agreement: float
    margin: float
    score: float
    evaluations: int
    stop: Stop
    history: tuple[float, ...]
    overlap: float


@dataclass(frozen=True)
class Walked(Progress):
    """Progress of a solver, with where it is.

    Attributes
    ----------
    tau : ndarray, shape (3, 3)
        In normalised coordinates.
    scene : Scene
        The pair that is registered; backward runs have another.
    """

    tau: Matrix = field(default_factory=lambda: np.eye(3))
    scene: Scene | None = None
