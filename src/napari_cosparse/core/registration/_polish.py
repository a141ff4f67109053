"""The last step: a sharper cost on more pixels, between the pixels of both images."""

from __future__ import annotations

from collections.abc import Generator

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import Progress

from ._error import Determined
from ._frame import Matrix
from ._newton import TOLERANCE
from ._scene import Scene, distance
from ._walk import ITERATIONS, report

NU = 40.0  # sharper than on the way: more exact near the answer, more often caught far from it
PIXELS = 30_000
LIMIT = 0.5  # working pixels: what moves farther was no last step
MEASURES = ("both", "mutual")


def polish(
    scene: Scene, measure: str, tau: Matrix, found: Determined
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
    cost = scene.cost(0, measure, PIXELS, nu=NU, between=True)
    steps = scene.walk(cost, tau, ITERATIONS, TOLERANCE, found.bend)
    end = (yield from report(scene, steps, "refine between the pixels")).end
    near = distance(scene, end.tau, tau) <= LIMIT
    return end.tau if near and end.stop is Stop.CHANGE_SMALL else tau
