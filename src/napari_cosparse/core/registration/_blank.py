"""Borders that hold no image: the fill of an earlier rotation, padding, black frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label
from scipy.spatial import ConvexHull, QhullError

from napari_cosparse.core.types import Mask, Plane

LEAST_SHARE = 0.02  # of the pixels: less is no border
MOST_SHARE = 0.9
STAIRCASE = 0.75  # pixels
FULL = 0.985  # of its convex hull that an image in a frame fills
STRAIGHT = 0.9  # of the perimeter that straight sides make up
MOST_SIDES = 8  # a parallelogram that the image's own border cuts
SAME_SIDE = np.deg2rad(6)  # the hull of a slanting row of pixels is not quite straight


def blank_border(gray: Plane) -> Mask:
    """Find a frame of one constant value around an image with straight sides.

    A dark background around a round object is left alone: its edge is part of the image.

    Parameters
    ----------
    gray : ndarray, shape (h, w)
        The image.

    Returns
    -------
    ndarray, shape (h, w), bool
        True in the frame.
    """
    none = np.zeros(gray.shape, np.bool_)
    frame = _touching_border(gray)
    share = float(frame.mean())
    if not LEAST_SHARE < share < MOST_SHARE:
        return none
    return frame if _straight_sided(~frame) else none


def _touching_border(gray: Plane) -> Mask:
    """Largest constant regions that touch the border, of the border's commonest value."""
    rim = np.concatenate([gray[0], gray[-1], gray[:, 0], gray[:, -1]])
    values, counts = np.unique(rim[np.isfinite(rim)], return_counts=True)
    if not len(values):
        return np.zeros(gray.shape, np.bool_)
    parts, _ = label(gray == values[counts.argmax()])
    edge = np.unique(np.concatenate([parts[0], parts[-1], parts[:, 0], parts[:, -1]]))
    found: Mask = np.isin(parts, edge[edge > 0])
    return found


def _straight_sided(content: Mask) -> bool:
    """Whether a region fills a polygon of few sides."""
    rows = np.flatnonzero(content.any(1))
    if len(rows) < 3:
        return False
    first = content[rows].argmax(1)
    last = content.shape[1] - 1 - content[rows, ::-1].argmax(1)
    rims = np.concatenate([np.stack([rows, first], 1), np.stack([rows, last + 1], 1)])
    corners = np.concatenate([rims, rims + np.array([1, 0])]).astype(float)
    try:
        hull = ConvexHull(corners)
    except QhullError:
        return False
    # pixels leave a staircase along slanting sides; `area` is the perimeter
    if content.sum() + STAIRCASE * hull.area < FULL * hull.volume:
        return False
    outline = corners[hull.vertices]
    sides = np.roll(outline, -1, 0) - outline
    return _few_directions(np.arctan2(sides[:, 0], sides[:, 1]), np.hypot(*sides.T))


def _few_directions(angles: NDArray[np.float64], lengths: NDArray[np.float64]) -> bool:
    """Whether nearly the whole outline runs in a few directions; a round one runs in all."""
    rest = lengths.copy()
    for _ in range(MOST_SIDES):
        turn = np.abs((angles - angles[rest.argmax()] + np.pi) % (2 * np.pi) - np.pi)
        rest[turn < SAME_SIDE] = 0
    return float(rest.sum()) < (1 - STRAIGHT) * float(lengths.sum())
