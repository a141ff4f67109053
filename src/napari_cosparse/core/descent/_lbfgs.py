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
from typing import NamedTuple

import numpy as np

from napari_cosparse.core.bands import each_band, inner, row_products, total
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
    """Arithmetic with whole planes, band by band through a map; as much in place as can be.

    What changes a plane also multiplies it by the next one, while the band is in the cache: the
    way to the memory is what threads have to share.
    """

    def __init__(self, map_: Map) -> None:
        self._map = map_

    def inner(self, a: Plane, b: Plane) -> float:
        """Sum of products."""
        return inner(a, b, self._map)

    def sum(self, a: Plane, b: Plane) -> Plane:
        """Return a new plane a + b."""
        return self._new(a, lambda rows, out: np.add(a[rows], b[rows], out=out))

    def weigh(self, a: Plane, weights: Plane) -> None:
        """Multiply a by weights, in place."""
        work = lambda rows: np.multiply(a[rows], weights[rows], out=a[rows])  # noqa: E731
        each_band(work, a.shape, self._map)

    def negative(self, a: Plane, other: Plane) -> tuple[Plane, float]:
        """Return a new plane -a, and its product with another one."""
        out = np.empty(a.shape, a.dtype)
        return out, self._change(lambda rows: np.negative(a[rows], out=out[rows]), out, other)

    def scale(self, a: Plane, factor: np.float32, other: Plane) -> float:
        """Multiply a by a number, in place, and return its product with another plane."""
        work = lambda rows: np.multiply(a[rows], factor, out=a[rows])  # noqa: E731
        return self._change(work, a, other)

    def add(self, a: Plane, factor: np.float32, b: Plane, other: Plane) -> float:
        """Add a multiple of b to a, in place, and return the product of a with another plane."""

        def work(rows: slice) -> None:
            a[rows] += factor * b[rows]

        return self._change(work, a, other)

    def take_from(self, a: Plane, b: Plane, other: Plane, weights: Plane) -> list[float]:
        """Turn b into a - b, in place, and return its products.

        With another plane, with itself, and with itself under weights.
        """

        def work(rows: slice) -> list[Plane]:
            change = np.subtract(a[rows], b[rows], out=b[rows])
            products = row_products(change, other[rows]), row_products(change, change)
            return [*products, row_products(change, weights[rows] * change)]

        return self._totals(work, a.shape)

    def _change(self, work: Callable[[slice], object], a: Plane, other: Plane) -> float:
        """Change plane a, and return its product with another one."""

        def both(rows: slice) -> list[Plane]:
            work(rows)
            return [row_products(a[rows], other[rows])]

        return self._totals(both, a.shape)[0]

    def _totals(self, work: Callable[[slice], list[Plane]], shape: tuple[int, ...]) -> list[float]:
        """Sum what some work gives for each row."""
        return [total(list(rows)) for rows in zip(*each_band(work, shape, self._map), strict=True)]

    def _new(self, a: Plane, work: Callable[[slice, Plane], object]) -> Plane:
        out = np.empty(a.shape, a.dtype)
        each_band(lambda rows: work(rows, out[rows]), a.shape, self._map)
        return out


class _Pair(NamedTuple):
    """A step and the change of the gradient along it."""

    step: Plane
    change: Plane
    curvature: float  # their product
    scale: np.float32  # of the inverse Hessian, for its diagonal to fit this pair


class _Memory:
    """Pairs of steps and gradient changes, and the two-loop recursion over them."""

    def __init__(self, size: int, planes: _Planes, project: Linear, inverse: Plane) -> None:
        self._pairs: deque[_Pair] = deque(maxlen=size)
        self._planes, self._project, self._inverse = planes, project, inverse

    def remember(self, step: Plane, gradient: Plane, before: Plane) -> None:
        """Keep a pair if the cost curves upwards along it; others would spoil positivity.

        `before`, the gradient before the step, becomes the change. Changes lie in the projection's
        range: it need not be applied for their product under the inverse Hessian.
        """
        curvature, square, weighted = self._planes.take_from(gradient, before, step, self._inverse)
        if curvature > 1e-12 * self._planes.inner(step, step) ** 0.5 * square**0.5:
            scale = np.float32(curvature / weighted)
            self._pairs.append(_Pair(step, before, curvature, scale))

    def make_room(self) -> None:
        """Forget the oldest pair if a new one will take its place: two images less to hold."""
        if self._pairs and len(self._pairs) == self._pairs.maxlen:
            self._pairs.popleft()

    def direction(self, gradient: Plane) -> tuple[Plane, float]:
        """Return minus the approximate inverse Hessian times the gradient, and the slope there."""
        planes, pairs = self._planes, list(self._pairs)
        first = pairs[-1].step if pairs else gradient
        vector, product = planes.negative(gradient, first)
        factors = []
        for pair, after in zip(reversed(pairs), [*pairs[-2::-1], None], strict=False):
            factors.append(np.float32(product / pair.curvature))
            other = after.step if after else gradient
            product = planes.add(vector, -factors[-1], pair.change, other)
        planes.weigh(vector, self._inverse)
        vector = self._project(vector)
        if not pairs:
            return vector, planes.inner(vector, gradient)
        product = planes.scale(vector, pairs[-1].scale, pairs[0].change)
        for pair, after in zip(pairs, [*pairs[1:], None], strict=True):
            factor = factors.pop() - np.float32(product / pair.curvature)
            product = planes.add(vector, factor, pair.step, after.change if after else gradient)
        return vector, product


def lbfgs(
    objective: Callable[[Plane], tuple[float, Plane]],
    start: Plane,
    *,
    project: Linear,
    inverse: Plane,
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
    inverse : ndarray, shape (h, w), float32
        Diagonal of an approximation of the inverse Hessian; positive.
    memory : int
        Number of pairs kept; while the objective runs, 2 * memory + 3 images are held.
    map_ : callable
        Like the built-in `map`; all operations on whole images go through it. Changes no bit.

    Yields
    ------
    Descent
        The caller decides when it has enough.
    """
    planes = _Planes(map_)
    point, pairs = start, _Memory(memory, planes, project, inverse)
    del start  # or it would be held until the end
    value, gradient = objective(point)
    gradient, evaluations = project(gradient), 1
    for index in count(1):
        direction, slope = pairs.direction(gradient)
        pairs.make_room()
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
            planes.scale(direction, np.float32(SHRINK), gradient)  # exact: a power of two
        else:
            return
        new_gradient = project(new_gradient)
        pairs.remember(direction, new_gradient, gradient)
        point, value, gradient = trial, new_value, new_gradient
        trial = new_gradient = direction = _NOTHING
        yield Descent(index, point, value, slope, evaluations)
