"""Whether an answer is alone: a texture or lattice that repeats fits again one period away.

The rivals that `margin` knows lie elsewhere; those of a short period lie so near that the search
takes them for the answer's neighbours.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import maximum_filter

from napari_cosparse.core.types import Plane

from ._canvas import placed, turned
from ._frame import Matrix
from ._scene import Scene
from ._start import APART, scores, spectra_of
from ._starts import RIVAL_APART


def repeated(scene: Scene, tau: Matrix) -> tuple[float, float]:
    """Find the best other shift in an answer's neighbourhood.

    Parameters
    ----------
    scene : Scene
        The pair.
    tau : ndarray, shape (3, 3)
        The answer.

    Returns
    -------
    lead : float
        1 - score there / score of the answer, see `margin`; 1 if there is none.
    away : float
        How far it lies, in pixels.
    """
    number, linear = scene.start_level, np.asarray(tau[:2, :2])
    fixed, moving = scene.fixed[number], scene.moving[number]
    canvas = turned(fixed, linear)
    score = scores(fixed, canvas, spectra_of(moving, max(canvas.image.shape) + 1))
    first = placed((0, 0), canvas, linear, moving, scene.frame)
    here = (tau - first)[:2, 2] * scene.frame.radius / moving.scale
    reach = int(2 * RIVAL_APART * max(scene.frame.shape_fixed) / moving.scale)
    lead, away = _rival(_around(score, here, reach + APART))
    return lead, away * moving.scale


def _around(score: Plane, centre: Plane, reach: int) -> Plane:
    places = (
        np.arange(n - reach, n + reach + 1) % size
        for n, size in zip(np.round(centre).astype(int), score.shape, strict=True)
    )
    cut: Plane = score[np.ix_(*places)]
    return cut


def _rival(score: Plane) -> tuple[float, float]:
    """Lead of the middle over other local maxima, those on the rim left out, and the way there."""
    middle = len(score) // 2
    inside = slice(middle - APART, middle + APART + 1)
    best = score[inside, inside].max()
    tops = np.where(score == maximum_filter(score, 2 * APART + 1), score, 0)
    tops[inside, inside] = 0
    tops = tops[APART:-APART, APART:-APART]
    place = np.unravel_index(tops.argmax(), tops.shape)
    if best <= 0 or tops[place] <= 0:
        return (1.0 if best > 0 else -1.0), float("nan")
    return 1 - float(tops[place] / best), float(np.hypot(*(np.array(place) + APART - middle)))
