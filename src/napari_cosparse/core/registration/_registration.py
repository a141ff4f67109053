"""The result of a registration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.geometry import motion_of


@dataclass(frozen=True, eq=False)
class Registration:
    """How two images lie on each other, and whether to believe it.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3)
        The best answer: fixed pixel (row, column, 1) -> moving pixel (row, column, 1).
    start : ndarray, shape (3, 3)
        Where the images lay before, likewise.
    group : str
        Motions that were allowed: "SO", "SE", "similarity", "SA" or "A".
    measure : {"both", "mutual", "nmi", "coupled"}
        The measure that the answer comes from.
    cost_before, cost_after : float
        The measure at the start and at the answer, no unit; lower is better. NaN where the images
        did not overlap.
    overlap : float
        Share of the fixed image that the moving one covers, in [0, 1].
    margin : float
        Lead of the best start over the best that lies elsewhere, relative to it; NaN if none was
        searched.
    agreement : float
        Share of the refined starts that ended together.
    inverse_consistency : tuple of float
        Distance, in moving pixels, of the answers of two backward registrations: from scratch with
        the operators exchanged, and from the pushed inverse with the operators as they are. NaN
        where they were not asked for.
    predicted_error : float
        Predicted distance at the corners of the fixed image, one deviation, in moving pixels.
    stop : Stop
        Why the solver ended.
    trusted : bool
        Whether to move layers by it.
    because : str
        The verdict in one sentence: the reason, what else is known, and the way.
    reflected : bool
        Whether the moving image is a mirror image.
    fixed_shape, moving_shape : tuple of int
        Rows and columns of the images.
    pixel_size_fixed, pixel_size_moving : tuple of float
        Height and width of a pixel.
    residual : ndarray, shape (8, 8), or None
        Shift that is left in each part of the fixed image, in moving pixels; NaN where there is
        nothing to tell by.
    parameters : mapping
        What was asked for, as JSON values.
    history : tuple of float
        Costs of the accepted steps at the finest level.
    reason : str
        What decided, with its numbers and limits.
    way : str
        What helps where the answer is not trusted.
    """

    matrix: NDArray[np.float64]
    start: NDArray[np.float64]
    group: str
    measure: str
    cost_before: float
    cost_after: float
    overlap: float
    margin: float
    agreement: float
    inverse_consistency: tuple[float, float]
    predicted_error: float
    stop: Stop
    trusted: bool
    because: str
    reflected: bool
    fixed_shape: tuple[int, int]
    moving_shape: tuple[int, int]
    pixel_size_fixed: tuple[float, float]
    pixel_size_moving: tuple[float, float]
    residual: NDArray[np.float32] | None
    parameters: Mapping[str, Any]
    history: tuple[float, ...]
    reason: str = ""
    way: str = ""

    def __str__(self) -> str:
        """Return the motion and the verdict in two lines."""
        motion = motion_of(self.matrix, self.fixed_shape, self.moving_shape)
        verdict = "trusted" if self.trusted else "not trusted"
        return f"{motion}\n{verdict}: {self.because}"
