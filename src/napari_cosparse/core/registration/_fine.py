"""Refinement of a reduced pair at full resolution, on windows only.

The same measure, solver and jackknife as on the reduced images: a mosaic of windows is one more
level of the pair, whose blocks know where they lie.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from napari_cosparse.core.progress import Progress

from ._error import determine
from ._frame import Matrix
from ._mosaic import Grid
from ._newton import TOLERANCE
from ._pyramid import Level
from ._samples import BLOCK
from ._scene import Scene
from ._walk import ITERATIONS, report
from ._windows import choose_windows

FULL = "refine windows at full resolution"
SIDE = 72  # pixels of a level: side of a window of the fixed image; whole blocks
LIMIT = 6.0  # pixels of a level: a corner that moves farther has left what was found before
REACH = 12  # pixels of a level that a window of the moving image shows beyond the fixed one's
PIXELS = 60_000  # a level, of all windows
LEAST_WINDOWS = 12
MOST_READ = 4_000_000  # pixels of a level, of all windows of the moving image


@dataclass(frozen=True)
class Fine:
    """What the refinement found.

    Attributes
    ----------
    tau : ndarray, shape (3, 3)
        The motion, in normalised coordinates.
    error : float
        One deviation of the corners, in working pixels of the moving image.
    step : int
        Pixels of the coarser image per pixel of the finest level that was believed.
    windows : int
        How many windows that level had; 0 if none was believed.
    note : str
        Why it went no further; empty at full resolution.
    """

    tau: Matrix
    error: float
    step: int
    windows: int = 0
    note: str = ""


def refine_fine(
    scene: Scene, measure: str, grids: tuple[Grid, Grid], found: Fine
) -> Generator[Progress, None, Fine]:
    """Refine on windows of ever finer levels, as long as they determine the motion better.

    Parameters
    ----------
    scene : Scene
        The pair on the working grid.
    measure : {"both", "mutual", "coupled", "nmi"}
        What is minimised.
    grids : tuple of Grid
        Fixed and moving image, on the working grid.
    found : Fine
        What the working grid gave.

    Yields
    ------
    Progress
        After each accepted step.

    Returns
    -------
    Fine
        As it came, but for the note, where finer levels give nothing better.
    """
    whole = found.step
    step = 2 ** int(np.log2(max(whole / 2, 1)))
    while step:
        windows = _windowed(scene, grids, step / whole, found.tau)
        if windows is None:
            return replace(found, note="too few places show structure in both images")
        better = yield from _one_level(scene, windows, measure, step, found)
        if better.note:
            return better
        found, step = better, step // 2
    return found


def _one_level(
    scene: Scene, windows: Scene, measure: str, step: int, found: Fine
) -> Generator[Progress, None, Fine]:
    scale = windows.fixed[0].scale
    cost = windows.cost(0, measure, PIXELS)
    stage = f"refine windows at 1/{step} resolution" if step > 1 else FULL
    steps = windows.walk(cost, found.tau, ITERATIONS, TOLERANCE)
    state = (yield from report(scene, steps, stage)).end
    moved = _farthest(scene, state.tau, found.tau) / scale
    if moved > LIMIT:
        return replace(found, note=f"a corner would move by {moved:.1f} px, more than {LIMIT:g} px")
    count = _count(windows.fixed[0])
    blocks = max(1, round(PIXELS / BLOCK**2 / count))  # the jackknife's parts are the windows
    judged = determine(windows, cost, state.tau, found.tau, blocks)
    if not judged.error < found.error:
        return replace(found, note="finer pixels do not determine it better")
    # what already lies right stays as it is, to the last digit
    tau = state.tau if judged.gain > judged.gain_error else found.tau
    return Fine(tau, judged.error, step, count)


def _count(level: Level) -> int:
    return len(level.windows.corners) if level.windows is not None else 1


def _windowed(scene: Scene, grids: tuple[Grid, Grid], scale: float, tau: Matrix) -> Scene | None:
    """Make a scene of one level that shows windows only; None if there are too few."""
    motion = scene.frame.to_pixels(tau)
    reach = float(np.abs(motion[:2, :2]).sum(1).max()) * (SIDE - 1)
    far = int(np.ceil(reach)) + 1 + 2 * REACH
    centres = choose_windows(scene, tau, SIDE * scale, max(LEAST_WINDOWS, MOST_READ // far**2))
    if len(centres) < LEAST_WINDOWS:
        return None
    there = centres @ motion[:2, :2].T + motion[:2, 2]
    levels = [
        replace(grid, scale=scale).mosaic(middle / scale - (side - 1) / 2, side)
        for grid, middle, side in zip(grids, (centres, there), (SIDE, far), strict=True)
    ]
    return replace(scene, fixed=(levels[0],), moving=(levels[1],))


def _farthest(scene: Scene, first: Matrix, second: Matrix) -> float:
    """Largest distance of a corner of the fixed image under two motions, in working pixels."""
    apart = ((first - second) @ scene.frame.corners)[:2] * scene.frame.radius
    return float(np.hypot(*apart).max())
