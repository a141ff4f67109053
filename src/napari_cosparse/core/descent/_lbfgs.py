"""Projected, preconditioned limited-memory BFGS for images, in float32 with float64 sums.

The iterates stay on the affine set that the projection belongs to. Unlike the conjugate
gradients of this folder it works in flat space only; in exchange an iteration costs little more
than one gradient. What it learns of the curvature is kept for each cell of the image, so that no
part has to wait for others, and a part of an image is solved as it is in the whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.types import Plane

from ._cells import Cells, Scalars

Linear = Callable[[Plane], Plane]

MEMORY = 5
ARMIJO = 1e-4
SHRINK = 0.5
TRIALS = 12
CURVED = 0.15  # least cosine of step and change for a pair to have a say in a cell
FASTEST = 4.0  # largest scale of a cell, in that of all cells together
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


class _Pair(NamedTuple):
    """A step and the change of the gradient along it, with scalars for each cell."""

    step: Plane
    change: Plane
    weight: Scalars  # one over their product; 0 where the pair has no say
    scale: Scalars  # of the inverse Hessian, for its diagonal to fit this pair


class _Memory:
    """Pairs of steps and gradient changes, and the two-loop recursion over them in each cell.

    All cells together are one approximation of the inverse Hessian, with a block for each cell:
    symmetric and positive, and with the projection on both sides still so. Applying that once is
    enough, as gradients lie in its range.
    """

    def __init__(self, size: int, cells: Cells, project: Linear, inverse: Plane) -> None:
        self._pairs: deque[_Pair] = deque(maxlen=size)
        self._cells, self._project, self._inverse = cells, project, inverse

    def __len__(self) -> int:
        return len(self._pairs)

    def remember(self, step: Plane, gradient: Plane, before: Plane) -> None:
        """Keep a pair for the cells where the cost curves upwards along it.

        `before`, the gradient before the step, becomes the change. Changes lie in the projection's
        range: it need not be applied for their product under the inverse Hessian.
        """
        curvature, square, weighted, length = self._cells.take_from(
            gradient, before, step, self._inverse
        )
        curved = (curvature > 0) & (curvature**2 > CURVED**2 * square * length)
        if not curved.any():
            return
        whole = curvature[curved].sum() / weighted[curved].sum()
        weight, scale = np.zeros(curved.shape), np.full(curved.shape, whole)
        weight[curved] = 1 / curvature[curved]
        scale[curved] = np.minimum(curvature[curved] / weighted[curved], FASTEST * whole)
        self._pairs.append(_Pair(step, before, weight, scale))

    def make_room(self) -> None:
        """Forget the oldest pair if a new one will take its place: two images less to hold."""
        if self._pairs and len(self._pairs) == self._pairs.maxlen:
            self._pairs.popleft()

    def clear(self) -> None:
        """Forget all pairs."""
        self._pairs.clear()

    def direction(self, gradient: Plane) -> tuple[Plane, float]:
        """Return minus the approximate inverse Hessian times the gradient, and the slope there."""
        cells, pairs = self._cells, list(self._pairs)
        vector, product = cells.negative(gradient, pairs[-1].step if pairs else gradient)
        factors = []
        for pair, after in zip(pairs[::-1], [*pairs[-2::-1], None], strict=False):
            factors.append(product * pair.weight)
            other = after.step if after else gradient
            product = cells.add(vector, -factors[-1], pair.change, other)
        cells.weigh(vector, self._inverse, pairs[-1].scale if pairs else np.ones(cells.shape))
        if pairs:
            product = cells.products(vector, pairs[0].change)
        for pair, after in zip(pairs, [*pairs[1:], None], strict=False):
            factor = factors.pop() - product * pair.weight
            product = cells.add(vector, factor, pair.step, after.change if after else gradient)
        vector = self._project(vector)
        return vector, float(cells.products(vector, gradient).sum())


def lbfgs(
    objective: Callable[[Plane], tuple[float, Plane]],
    start: Plane,
    *,
    project: Linear,
    inverse: Plane,
    memory: int = MEMORY,
    map_: Map = map,
    corner: tuple[int, int] = (0, 0),
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
    corner : tuple of int
        Where the image begins in a larger one that it is a part of, in pixels.

    Yields
    ------
    Descent
        The caller decides when it has enough.
    """
    cells = Cells(start.shape, map_, corner)
    point, pairs = start, _Memory(memory, cells, project, inverse)
    del start  # or it would be held until the end
    value, gradient = objective(point)
    gradient, evaluations = project(gradient), 1
    for index in count(1):
        direction, slope = pairs.direction(gradient)
        if len(pairs) and not slope < 0:  # rounding, if at all
            pairs.clear()
            direction, slope = pairs.direction(gradient)
        pairs.make_room()
        if not slope < 0:
            return
        length = np.float32(1)
        for _ in range(TRIALS):
            trial = cells.sum(point, direction)
            new_value, new_gradient = objective(trial)
            evaluations += 1
            if new_value <= value + ARMIJO * float(length) * slope:
                break
            trial = new_gradient = _NOTHING  # their memory is needed for the next trial
            length *= np.float32(SHRINK)
            cells.scale(direction, np.float32(SHRINK))  # exact: a power of two
        else:
            return
        new_gradient = project(new_gradient)
        pairs.remember(direction, new_gradient, gradient)
        point, value, gradient = trial, new_value, new_gradient
        trial = new_gradient = direction = _NOTHING
        yield Descent(index, point, value, slope, evaluations)
