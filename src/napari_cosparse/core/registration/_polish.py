"""The last step: a sharper cost on more pixels, between the pixels of both images."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import sqrtm

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import Progress

from ._error import Determined
from ._frame import Matrix
from ._motions import distance, exchanged
from ._newton import TOLERANCE
from ._scene import Scene
from ._walk import ITERATIONS, report

NU = 40.0  # sharper than on the way: more exact near the answer, more often caught far from it
PIXELS = 30_000
LIMIT = 0.5  # working pixels: what moves farther was no last step
MEASURES = ("both", "mutual")


def polish(
    scene: Scene, measure: str, tau: Matrix, found: Determined, *, both_ways: bool = True
) -> Generator[Progress, None, Matrix]:
    """Make the last step of an answer.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "coupled", "nmi"}
        What gave the answer; the last two have no last step.
    tau : ndarray, shape (3, 3)
        The answer.
    found : Determined
        Its second derivatives.
    both_ways : bool
        Go halfway to where the exchanged images lead: only the moving image is weighed by the
        overlap and gives the slopes, and what that draws is drawn the other way then.

    Yields
    ------
    Progress
        After each accepted step.

    Returns
    -------
    ndarray, shape (3, 3)
        As it came where the walk leads away or does not end.
    """
    if measure not in MEASURES or scene.gradient_only:
        return tau
    end = yield from _step(scene, measure, tau, found.bend)
    if end is tau or not both_ways:
        return end
    other = scene.swapped()
    start = exchanged(scene, other, end)
    back = yield from _step(other, measure, start)
    return end if back is start else _halfway(end, exchanged(other, scene, back))


def _step(
    scene: Scene, measure: str, tau: Matrix, bend: NDArray[np.float64] | None = None
) -> Generator[Progress, None, Matrix]:
    cost = scene.cost(0, measure, PIXELS, nu=NU, between=True)
    steps = scene.walk(cost, tau, ITERATIONS, TOLERANCE, bend)
    end = (yield from report(scene, steps, "refine between the pixels")).end
    near = distance(scene, end.tau, tau) <= LIMIT
    return end.tau if near and end.stop is Stop.CHANGE_SMALL else tau


def _halfway(first: Matrix, second: Matrix) -> Matrix:
    """Motion in the middle of the group's line between two near ones."""
    return np.asarray(first @ np.real(sqrtm(np.linalg.solve(first, second))))
