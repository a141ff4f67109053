"""Whether an answer is alone: a texture or lattice that repeats fits again one period away.

`margin` does not tell. It counts no rival that lies near the answer, and one that lies far shares
less of the images, which alone makes it worse. So agreement is compared per edge here.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import maximum_filter

from napari_cosparse.core.types import Plane

from ._canvas import placed, turned
from ._frame import Matrix
from ._scene import Scene
from ._start import APART, correlated, spectra_of

ALIKE = 0.98  # of the best other place: of places as good the nearest is told
SHARED = 0.5  # of the answer's edges: places that share fewer are left out, as chance rules there


def repeated(scene: Scene, tau: Matrix) -> tuple[float, float]:
    """Find the best other shift of an answer, by agreement per edge.

    Parameters
    ----------
    scene : Scene
        The pair.
    tau : ndarray, shape (3, 3)
        The answer.

    Returns
    -------
    lead : float
        1 - agreement there / agreement at the answer; 1 if there is none elsewhere.
    away : float
        How far it lies, in pixels; NaN if there is none.
    """
    number, linear = scene.start_level, np.asarray(tau[:2, :2])
    fixed, moving = scene.fixed[number], scene.moving[number]
    canvas = turned(fixed, linear)
    match, chance = correlated(canvas, spectra_of(moving, (max(canvas.image.shape) + 1,) * 2))
    first = placed((0, 0), canvas, linear, moving, scene.frame)
    here = np.round((tau - first)[:2, 2] * scene.frame.radius / moving.scale).astype(int)
    middle = tuple(size // 2 - n for size, n in zip(match.shape, here, strict=True))
    lead, away = rival(*(np.roll(plane, middle, (0, 1)) for plane in (match, chance)))
    return lead, away * moving.scale


def rival(match: Plane, chance: Plane) -> tuple[float, float]:
    """Lead of the middle over other local maxima.

    Parameters
    ----------
    match, chance : ndarray, shape (h, w)
        As of `correlated`, with the answer in the middle.

    Returns
    -------
    lead : float
        1 - agreement there / agreement in the middle; -1 if there is none in the middle.
    away : float
        How far it lies, in pixels; NaN if there is none.
    """
    centre = [size // 2 for size in match.shape]
    inside = tuple(slice(n - APART, n + APART + 1) for n in centre)
    top = np.unravel_index(match[inside].argmax(), match[inside].shape)
    best, most = match[inside][top], chance[inside][top]
    if best <= 0:
        return -1.0, float("nan")
    score = match / np.sqrt(np.maximum(chance, 1e-6 * most))
    tops = (score == maximum_filter(score, 2 * APART + 1, mode="wrap")) & (chance >= SHARED * most)
    tops[inside] = False
    each = np.where(tops, match / np.maximum(chance, 1e-6 * most), 0)
    highest = float(each.max())
    if highest <= 0:
        return 1.0, float("nan")
    ways = np.argwhere(each >= ALIKE * highest) - centre
    return 1 - highest * float(most / best), float(np.hypot(*ways.T).min())
