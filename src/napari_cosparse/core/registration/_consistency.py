"""Does the answer hold when the question is asked otherwise? Backwards, and on halves."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from napari_cosparse.core.progress import Progress

from ._frame import Matrix
from ._motions import distance, exchanged
from ._pyramid import Level
from ._scene import Scene
from ._solve import descend, solve
from ._start import rotation
from ._starts import Plan, search_starts

PUSH = 3.0  # pixels that the second backward run starts off by, along both axes
TWIST = 1.5  # degrees, likewise
FINEST = 1  # level: half resolution tells right from wrong


def backward(
    scene: Scene, measure: str, tau: Matrix, plan: Plan
) -> Generator[Progress, None, float]:
    """Register backwards from scratch and compare.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "coupled", "nmi"}
        What is minimised.
    tau : ndarray, shape (3, 3)
        Answer of the forward run.
    plan : Plan
        How to look for a start.

    Yields
    ------
    Progress

    Returns
    -------
    float
        Mean distance of the corners, in pixels of the moving image.
    """
    other = scene.swapped()
    back = replace(plan, linear=np.asarray(np.linalg.inv(plan.linear)))
    starts = yield from search_starts(other, measure, back)
    if not starts or starts[0].score <= 0:
        return float("inf")
    level = min(FINEST, len(scene.fixed) - 1)
    answer = yield from solve(other, measure, starts, level, by_cost=True)
    return _gap(scene, other, tau, answer.tau)


def pushed(scene: Scene, measure: str, tau: Matrix) -> Generator[Progress, None, float]:
    """Register backwards with exchanged operators from the inverse, pushed a little.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "coupled", "nmi"}
        What is minimised.
    tau : ndarray, shape (3, 3)
        Answer of the forward run.

    Yields
    ------
    Progress

    Returns
    -------
    float
        Mean distance of the corners, in pixels of the moving image.
    """
    other = scene.swapped(operators=False)
    start = _push(scene, other) @ exchanged(scene, other, tau)
    level = scene.start_level
    answer = yield from descend(other, measure, start, level, min(FINEST, level))
    return _gap(scene, other, tau, answer.tau)


def _gap(scene: Scene, other: Scene, tau: Matrix, back: Matrix) -> float:
    matrix = other.frame.to_pixels(back)
    if not np.isfinite(matrix).all() or abs(np.linalg.det(matrix)) < 1e-9:
        return float("inf")
    return distance(scene, scene.frame.from_pixels(np.asarray(np.linalg.inv(matrix))), tau)


def _push(scene: Scene, other: Scene) -> Matrix:
    """Small motion; no shift for a group without."""
    push = np.eye(3)
    push[:2, :2] = rotation(TWIST)
    if scene.group.name != "SO":
        push[:2, 2] = PUSH / other.frame.radius
    return push


def halves(scene: Scene, measure: str, tau: Matrix) -> Generator[Progress, None, float]:
    """Refine on the left and the right half, the upper and the lower half, and compare.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "coupled", "nmi"}
        What is minimised.
    tau : ndarray, shape (3, 3)
        Answer of the whole image.

    Yields
    ------
    Progress

    Returns
    -------
    float
        Larger of the two distances, in pixels of the moving image.
    """
    gaps = []
    level = min(scene.start_level, len(scene.fixed) - 1)
    for axis in range(2):
        found = []
        for side in range(2):
            half = replace(scene, fixed=tuple(_half(f, axis, side) for f in scene.fixed))
            answer = yield from descend(half, measure, tau, level, level)
            found.append(answer.tau)
        gaps.append(distance(scene, *found))
    return max(gaps)


def _half(level: Level, axis: int, side: int) -> Level:
    usable = level.usable.copy()
    middle = usable.shape[axis] // 2
    dropped = slice(middle, None) if side == 0 else slice(None, middle)
    usable[(dropped, slice(None)) if axis == 0 else (slice(None), dropped)] = False
    return replace(level, usable=usable)
