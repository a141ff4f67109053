"""Projected, preconditioned limited-memory BFGS for images, in float32 with float64 sums.

The iterates stay on the affine set that the projection belongs to. Unlike the conjugate
gradients of this folder it works in flat space only; in exchange an iteration costs little more
than one gradient.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from napari_cosparse.core.types import Plane

Linear = Callable[[Plane], Plane]

MEMORY = 6
ARMIJO = 1e-4
SHRINK = 0.5
TRIALS = 12


@dataclass(frozen=True)
class Descent:
    """State after one accepted step of `lbfgs`.

    Attributes
    ----------
    index : int
        Number of accepted steps so far, 1 for the first.
    point : ndarray, shape (h, w), float32
        Image.
    value : float
        Cost there.
    slope : float
        Directional derivative along the step that led here; negative.
    evaluations : int
        Calls of the objective so far, counted one by one.
    """

    index: int
    point: Plane
    value: float
    slope: float
    evaluations: int


def inner(a: Plane, b: Plane) -> float:
    """Sum of products, accumulated in float64 row by row in a fixed order.

    Parameters
    ----------
    a, b : ndarray, shape (h, w), float32

    Returns
    -------
    float
    """
    return float(np.einsum("ij,ij->i", a, b).sum(dtype=np.float64))


class _Memory:
    """Pairs of steps and gradient changes, and the two-loop recursion over them."""

    def __init__(self, size: int) -> None:
        self._pairs: deque[tuple[Plane, Plane, float]] = deque(maxlen=size)

    def remember(self, step: Plane, change: Plane) -> None:
        """Keep a pair if the cost curves upwards along it; others would spoil positivity."""
        curvature = inner(step, change)
        if curvature > 1e-12 * inner(step, step) ** 0.5 * inner(change, change) ** 0.5:
            self._pairs.append((step, change, curvature))

    def direction(self, gradient: Plane, scaled: Linear) -> Plane:
        """Return minus the approximate inverse Hessian times the gradient."""
        vector = -gradient
        factors = []
        for step, change, curvature in reversed(self._pairs):
            factor = np.float32(inner(step, vector) / curvature)
            vector -= factor * change
            factors.append(factor)
        vector = scaled(vector)
        if self._pairs:
            _, change, curvature = self._pairs[-1]
            vector *= np.float32(curvature / inner(change, scaled(change)))
        for (step, change, curvature), factor in zip(self._pairs, reversed(factors), strict=True):
            vector += (factor - np.float32(inner(change, vector) / curvature)) * step
        return vector


def lbfgs(
    objective: Callable[[Plane], tuple[float, Plane]],
    start: Plane,
    *,
    project: Linear,
    precondition: Linear,
    memory: int = MEMORY,
) -> Iterator[Descent]:
    """Yield one `Descent` per accepted step; end when no step lowers the cost.

    Parameters
    ----------
    objective : callable
        Returns cost and gradient at an image.
    start : ndarray, shape (h, w), float32
        First image; it lies on the affine set.
    project : callable
        Orthogonal projection of a direction onto the set's directions.
    precondition : callable
        Symmetric positive approximation of the inverse Hessian, applied to a direction.
    memory : int
        Number of pairs kept; memory is 2 * memory + 6 images.

    Yields
    ------
    Descent
        The caller decides when it has enough.
    """
    scaled: Linear = lambda vector: project(precondition(vector))  # noqa: E731
    point, pairs = start, _Memory(memory)
    value, gradient = objective(point)
    gradient, evaluations = project(gradient), 1
    for index in count(1):
        direction = pairs.direction(gradient, scaled)
        slope = inner(gradient, direction)
        if not slope < 0:
            return
        step, length = direction, np.float32(1)
        for _ in range(TRIALS):
            trial = point + step
            new_value, new_gradient = objective(trial)
            evaluations += 1
            if new_value <= value + ARMIJO * float(length) * slope:
                break
            length *= np.float32(SHRINK)
            step = length * direction
        else:
            return
        new_gradient = project(new_gradient)
        pairs.remember(step, new_gradient - gradient)
        point, value, gradient = trial, new_value, new_gradient
        yield Descent(index, point, value, slope, evaluations)
