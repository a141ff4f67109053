"""Whether all of the picture agrees, or only a caption, a scale bar or a frame that both show.

What an instrument burns into both images lies at one place in both, whatever they show: it agrees
perfectly with the identity, and stands out over every other start. It is told by its small area:
of related images many parts agree. Where few do, they are left out and the rest is asked.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, binary_propagation

from napari_cosparse.core.progress import Progress

from ._cells import Cells, Places, cells_of, without
from ._frame import Matrix
from ._motions import distance
from ._scene import Scene
from ._start import Candidate
from ._starts import Plan, search_starts
from ._structure import structured

FEW = 0.05  # of the cells: those that are weighed
LEFT_OUT = 0.1  # of the cells: those that are left out, and what hangs on them and agrees
AS_WELL = 0.5  # of the mean of the few: so much does the rest of a frame agree, at least
SUSPECT = 0.26  # of the agreement in few cells: burnt-in .27 to .86, photographs up to .27
ALIKE = 0.7  # how well they agree there: burnt-in .74 to 1, CT and MR of a head less
CHANCE = 9.0  # deviations: noise around a few objects reaches 8.2
TURN = 15.0  # degrees about the answer that are searched again
NEAR = 3.0  # pixels of the level that is searched: nearer starts are the same place
AS_GOOD = 0.8  # of the best score: the rest need not fit best there, as its rotations are few
BETTER = "another place fits the rest better"
NOTHING = "nothing in the rest speaks for it"


def elsewhere(
    scene: Scene, tau: Matrix, plan: Plan, before: Matrix
) -> Generator[Progress, None, tuple[float, str]]:
    """Say how concentrated the agreement is, and whether the rest of the picture contradicts.

    Parameters
    ----------
    scene : Scene
        The pair.
    tau : ndarray, shape (3, 3)
        The answer.
    plan : Plan
        How starts were looked for.
    before : ndarray, shape (3, 3)
        Where the images lay.

    Yields
    ------
    Progress

    Returns
    -------
    share : float
        Share of the agreement of edges in the best twentieth of the picture.
    rest : str
        How the picture contradicts without the cells that agree most; empty if it does not. Asked
        only where the share is large and the agreement there as of one picture.
    """
    cells = cells_of(scene, tau)
    few = cells.best(FEW)
    share = cells.share(few)
    if share < SUSPECT or cells.likeness(few) < ALIKE:
        return share, ""
    rest = without(scene, _agreeing(cells, few), cells.side)
    around = replace(plan, max_rotation=TURN, max_scale=1.0, linear=tau[:2, :2])
    starts = yield from search_starts(rest, "both", around)  # by edges, whatever found the answer
    return share, _contradiction(rest, tau, starts, before)


def _contradiction(rest: Scene, tau: Matrix, starts: list[Candidate], before: Matrix) -> str:
    """Say what speaks against an answer in the rest of the picture."""
    near = NEAR * rest.fixed[rest.start_level].scale
    best = max(starts, key=lambda start: start.score, default=None)
    if best is None or any(
        start.score >= AS_GOOD * best.score and distance(rest, start.tau, tau) <= near
        for start in starts
    ):
        return ""
    if best.score < CHANCE:
        # before a plain background few objects are all that there is
        return NOTHING if structured(rest, tau) else ""
    # where the images lay agrees what is burnt in: no reproach to an answer elsewhere
    burnt = distance(rest, best.tau, before) <= near < distance(rest, tau, before)
    return "" if burnt else BETTER


def _agreeing(cells: Cells, few: Places) -> NDArray[np.bool_]:
    """Cells to leave out, with their neighbours: a caption, or the whole of a frame."""
    best, around = np.zeros(cells.shown.shape, np.bool_), np.ones((3, 3), np.bool_)
    best.flat[cells.best(LEFT_OUT)] = True
    alike = cells.shown & (cells.agreement > AS_WELL * cells.agreement.flat[few].mean())
    return binary_dilation(binary_propagation(best, around, mask=best | alike), around)
