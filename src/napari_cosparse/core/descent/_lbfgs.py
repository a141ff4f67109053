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

from napari_cosparse.core.bands import each_band, inner
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.types import Plane

Linear = Callable[[Plane], Plane]

MEMORY = 5
ARMIJO = 1e-4
SHRINK = 0.5
TRIALS = 12
_NOTHING: Plane = np.zeros(0, np.float32)


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


class _Planes:
    """Arithmetic with whole planes, band by band through a map; as much in place as can be."""

    def __init__(self, map_: Map) -> None:
        self._map = map_

    def inner(self, a: Plane, b: Plane) -> float:
        """Sum of products."""
        return inner(a, b, self._map)

    def negative(self, a: Plane) -> Plane:
        """Return a new plane -a."""
        return self._new(a, lambda rows, out: np.negative(a[rows], out=out))

    def sum(self, a: Plane, b: Plane) -> Plane:
        """Return a new plane a + b."""
        return self._new(a, lambda rows, out: np.add(a[rows], b[rows], out=out))

    def copy(self, a: Plane) -> Plane:
        """Return a new plane a."""
        return self._new(a, lambda rows, out: np.copyto(out, a[rows]))

    def scale(self, a: Plane, factor: np.float32) -> None:
        """Multiply a by a number, in place."""

        def work(rows: slice) -> None:
            a[rows] *= factor

        each_band(work, a.shape, self._map)

    def add(self, a: Plane, factor: np.float32, b: Plane) -> None:
        """Add a multiple of b to a, in place."""

        def work(rows: slice) -> None:
            a[rows] += factor * b[rows]

        each_band(work, a.shape, self._map)

    def take_from(self, a: Plane, b: Plane) -> None:
        """Turn b into a - b, in place."""
        each_band(lambda rows: np.subtract(a[rows], b[rows], out=b[rows]), a.shape, self._map)

    def _new(self, a: Plane, work: Callable[[slice, Plane], object]) -> Plane:
        out = np.empty(a.shape, a.dtype)
        each_band(lambda rows: work(rows, out[rows]), a.shape, self._map)
        return out


class _Memory:
    """Pairs of steps and gradient changes, and the two-loop recursion over them."""

    def __init__(self, size: int, planes: _Planes) -> None:
        self._pairs: deque[tuple[Plane, Plane, float]] = deque(maxlen=size)
        self._planes = planes

    def remember(self, step: Plane, change: Plane) -> None:
        """Keep a pair if the cost curves upwards along it; others would spoil positivity."""
        dot = self._planes.inner
        curvature = dot(step, change)
        if curvature > 1e-12 * dot(step, step) ** 0.5 * dot(change, change) ** 0.5:
            self._pairs.append((step, change, curvature))

    def make_room(self) -> None:
        """Forget the oldest pair if a new one will take its place: two images less to hold."""
        if self._pairs and len(self._pairs) == self._pairs.maxlen:
            self._pairs.popleft()

    def direction(self, gradient: Plane, scaled: Linear) -> Plane:
        """Return minus the approximate inverse Hessian times the gradient."""
        planes = self._planes
        vector = planes.negative(gradient)
        factors = []
        for step, change, curvature in reversed(self._pairs):
            factor = np.float32(planes.inner(step, vector) / curvature)
            planes.add(vector, -factor, change)
            factors.append(factor)
        vector = scaled(vector)
        if self._pairs:
            _, change, curvature = self._pairs[-1]
            curved = scaled(planes.copy(change))
            planes.scale(vector, np.float32(curvature / planes.inner(change, curved)))
            del curved  # a plane of its own
        for (step, change, curvature), factor in zip(self._pairs, reversed(factors), strict=True):
            planes.add(vector, factor - np.float32(planes.inner(change, vector) / curvature), step)
        return vector


def lbfgs(
    objective: Callable[[Plane], tuple[float, Plane]],
    start: Plane,
    *,
    project: Linear,
    precondition: Linear,
    memory: int = MEMORY,
    map_: Map = map,
) -> Iterator[Descent]:
    """Yield one `Descent` per accepted step; end when no step lowers the cost.

    Parameters
    ----------
    objective : callable
        Returns cost and gradient at an image; the gradient is a new plane.
    start : ndarray, shape (h, w), float32
        First image; it lies on the affine set.
    project : callable
        Orthogonal projection of a direction onto the set's directions; may work in place.
    precondition : callable
        Symmetric positive approximation of the inverse Hessian, applied to a direction; may work
        in place.
    memory : int
        Number of pairs kept; while the objective runs, 2 * memory + 3 images are held.
    map_ : callable
        Like the built-in `map`; all operations on whole images go through it. Changes no bit.

    Yields
    ------
    Descent
        The caller decides when it has enough.
    """
    scaled: Linear = lambda vector: project(precondition(vector))  # noqa: E731
    planes = _Planes(map_)
    point, pairs = start, _Memory(memory, planes)
    del start  # or it would be held until the end
    value, gradient = objective(point)
    gradient, evaluations = project(gradient), 1
    for index in count(1):
        direction = pairs.direction(gradient, scaled)
        pairs.make_room()
        slope = planes.inner(gradient, direction)
        if not slope < 0:
            return
        length = np.float32(1)
        for _ in range(TRIALS):
            trial = planes.sum(point, direction)
            new_value, new_gradient = objective(trial)
            evaluations += 1
            if new_value <= value + ARMIJO * float(length) * slope:
                break
            trial = new_gradient = _NOTHING  # their memory is needed for the next trial
            length *= np.float32(SHRINK)
            planes.scale(direction, np.float32(SHRINK))  # exact: a power of two
        else:
            return
        new_gradient = project(new_gradient)
        planes.take_from(new_gradient, gradient)
        pairs.remember(direction, gradient)
        point, value, gradient = trial, new_value, new_gradient
        trial = new_gradient = direction = _NOTHING
        yield Descent(index, point, value, slope, evaluations)
