"""Which part of the layers a preview computes."""

from dataclasses import dataclass, replace
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import Settings

from ._job import Pair

LONGEST = 224  # guide pixels along each axis: a second or so on one core
MARGIN = 2.0  # samples beyond the visible part that help its border

Window = tuple[slice, slice]


@dataclass(frozen=True, eq=False)
class Part:
    """A part of target and guide.

    Attributes
    ----------
    target, guide : tuple of slice
        Rows and columns.
    settings : Settings
        With the origin in the part.
    """

    target: Window
    guide: Window
    settings: Settings


def part_to_preview(pair: Pair, settings: Settings, corners: ArrayLike) -> Part:
    """Choose the middle of what is visible, as much as can be computed at once.

    Parameters
    ----------
    pair : Pair
        The layers.
    settings : Settings
        As `placed` completes them.
    corners : array_like, shape (2, ndim)
        Visible corners of the guide in its level's pixels.

    Returns
    -------
    Part
        The part.

    Raises
    ------
    InputError
        Neither the guide nor the target is visible.
    """
    visible = np.asarray(corners, np.float64)[:, -2:]
    factor, origin = _geometry(pair, settings)
    ours, theirs, starts = [], [], []
    for axis in (0, 1):
        n, m, d, start = (
            pair.guide_grid.shape[axis],
            pair.target_grid.shape[axis],
            factor[axis],
            origin[axis],
        )
        low = max(0.0, visible[0, axis], start - d / 2)
        high = min(n - 1.0, visible[1, axis], start + (m - 0.5) * d)
        middle, half = (low + high) / 2, min(high - low, LONGEST - 1) / 2
        if half <= 0:
            raise InputError("No part of target and guide is visible; zoom to where both lie.")
        first, last = max(0, floor(middle - half)), min(n - 1, ceil(middle + half))
        one = max(0, floor((first - start) / d - MARGIN))
        end = min(m - 1, ceil((last - start) / d + MARGIN))
        theirs.append(slice(first, last + 1))
        ours.append(slice(one, end + 1))
        starts.append(start + one * d - first)
    part = replace(settings, factor=factor, origin=(starts[0], starts[1]))
    return Part((ours[0], ours[1]), (theirs[0], theirs[1]), part)


def _geometry(pair: Pair, settings: Settings) -> tuple[tuple[float, float], tuple[float, float]]:
    """Factor and origin, also where the layers do not say them."""
    ratios = [n / m for n, m in zip(pair.guide_grid.shape, pair.target_grid.shape, strict=True)]
    factor = settings.steps or (ratios[0], ratios[1])
    shift = 0.0 if settings.phase == "corner" else 0.5
    return factor, settings.origin or (shift * (factor[0] - 1), shift * (factor[1] - 1))
