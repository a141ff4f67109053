"""Whether all of the picture agrees, or only a caption, a scale bar or a frame that both show.

What an instrument burns into both images lies at one place in both, whatever they show: it agrees
perfectly with the identity, and stands out over every other start. It is told by its small area:
of related images many parts agree. Where few do, they are left out and the search is asked again.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

from napari_cosparse.core.progress import Progress

from ._frame import Matrix
from ._motions import distance
from ._pyramid import Level
from ._residual import LARGEST, warped
from ._scene import Scene
from ._start import edge_field
from ._starts import Plan, search_starts

CELLS = 32  # along the larger side
LEAST_CELL = 8  # pixels of the level
LEAST_SHOWN = 0.25  # of a cell that both images show
FEW, LEFT_OUT = 0.05, 0.1  # of the cells: those that are weighed, and those that are left out
SUSPECT = 0.26  # of the agreement in few cells: burnt-in .27 to .84, photographs up to .25
ALIKE = 0.7  # how well they agree there: burnt-in .76 to 1, CT, MR and PET of a head up to .64
CHANCE = 9.0  # deviations: noise around a few objects reaches 8.2, related images 15 and more
TURNED = 3.0  # pixels at the corners: what is burnt in is not turned, sheared or scaled
TURN = 15.0  # degrees about the answer that are searched again
NEAR = 0.06  # of the larger side: starts nearer than this are the same place


def elsewhere(
    scene: Scene, measure: str, tau: Matrix, plan: Plan
) -> Generator[Progress, None, tuple[float, bool]]:
    """Say how concentrated the agreement is, and whether the rest of the picture contradicts.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "coupled"}
        The measure that gave the answer.
    tau : ndarray, shape (3, 3)
        The answer.
    plan : Plan
        How starts were looked for.

    Yields
    ------
    Progress

    Returns
    -------
    share : float
        Share of the agreement of edges in the best twentieth of the picture.
    contradicted : bool
        Whether another place fits better once the best tenth is left out; asked only where the
        answer is a shift, the share large and the agreement there as of one picture.
    """
    agreement, most, shown, size = _cells(scene, tau)
    order = np.argsort(-np.where(shown, agreement, -np.inf), axis=None)[: int(shown.sum())]
    few = order[: max(1, round(FEW * len(order)))]
    total = float(agreement[shown].sum())
    share = float(agreement.flat[few].sum()) / total if total > 0 else 1.0
    if _turned(scene, tau) > TURNED or share < SUSPECT:
        return share, False
    if agreement.flat[few].sum() < ALIKE * most.flat[few].sum():
        return share, False
    out = np.zeros(agreement.shape, np.bool_)
    out.flat[order[: max(1, round(LEFT_OUT * len(order)))]] = True
    rest = _without(scene, binary_dilation(out, np.ones((3, 3), np.bool_)), size)
    around = replace(plan, max_rotation=TURN, max_scale=1.0, linear=tau[:2, :2])
    starts = yield from search_starts(rest, measure, around)
    apart = NEAR * max(scene.frame.shape_fixed)
    if not starts or starts[0].score < CHANCE:
        return share, False  # nothing is shown there: a few objects before a plain background
    return share, distance(scene, starts[0].tau, tau) > apart


def _turned(scene: Scene, tau: Matrix) -> float:
    """How far the corners move beyond a shift, in pixels."""
    shift = np.eye(3)
    shift[:2, 2] = tau[:2, 2]
    return distance(scene, tau, shift)


def _cells(
    scene: Scene, tau: Matrix
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], float]:
    """Agreement of edges in each cell, what it could be, which cells both show, their side."""
    number = scene.level_within(LARGEST)
    fixed, moving = scene.fixed[number], scene.moving[number]
    laid = warped(scene, fixed, moving, tau)
    match = np.conj(edge_field(fixed)) * edge_field(laid)
    side = max(LEAST_CELL, round(max(match.shape) / CELLS))
    shown = _sums(fixed.usable & laid.usable, side) > LEAST_SHOWN * side**2
    return _sums(match.real, side), _sums(np.abs(match), side), shown, side * fixed.scale


def _sums(values: NDArray[np.generic], side: int) -> NDArray[np.float64]:
    rows, columns = (-(-size // side) for size in values.shape)
    whole = np.zeros((rows * side, columns * side))
    whole[: values.shape[0], : values.shape[1]] = values
    return np.asarray(whole.reshape(rows, side, columns, side).sum((1, 3)))


def _without(scene: Scene, cells: NDArray[np.bool_], size: float) -> Scene:
    """Leave cells of the fixed image out; `size` is their side in working pixels."""

    def masked(level: Level) -> Level:
        rows, columns = (
            np.minimum(((np.arange(n) + 0.5) * level.scale / size).astype(int), count - 1)
            for n, count in zip(level.usable.shape, cells.shape, strict=True)
        )
        return replace(level, usable=level.usable & ~cells[rows][:, columns])

    return replace(scene, fixed=tuple(masked(level) for level in scene.fixed))
