"""Which part of the layers a preview computes, and which of that is shown."""

from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any

import numpy as np
from napari.components import Dims
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.layers import match_stacks, shown_plane, steps_of

from ._job import Pair

LONGEST = 176  # guide pixels that are computed along each axis: a second or so on two cores
FEWEST = 4  # samples along LONGEST from which on a part is made of whole samples
HALO = 4.0  # samples around what is shown that are computed too: the rim would be another one
HALO_PIXELS = 24, 44  # least and most of that
AROUND = 32  # samples beyond the part that tell range and noise where the rest is not in memory
MARGIN = 2.0  # samples beyond the part, of a target that is turned
BEYOND = 2.5  # samples from a target's last one: so far a run continues it
ROUNDING = 1e-6  # pixels

NOT_VISIBLE = "No part of target and guide is visible; zoom to where both lie."

Window = tuple[slice, slice]
Index = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Part:
    """A part of target and guide.

    Attributes
    ----------
    target, guide : tuple of slice
        Rows and columns that are computed.
    shown : tuple of slice
        Rows and columns of the guide that are shown; the others are a halo.
    settings : Settings
        With the origin, or the transform, of the part.
    """

    target: Window
    guide: Window
    shown: Window
    settings: Settings

    @property
    def corner(self) -> tuple[int, int]:
        """Row and column of the guide where what is shown begins."""
        return self.shown[0].start, self.shown[1].start

    @property
    def around(self) -> Window:
        """Rows and columns of a target that is not in memory, which tell its range and noise."""
        rows, columns = (slice(max(0, s.start - AROUND), s.stop + AROUND) for s in self.target)
        return rows, columns

    def cut(self, image: NDArray[Any]) -> NDArray[Any]:
        """Cut the halo off.

        Parameters
        ----------
        image : ndarray, shape (h, w)
            Of the pixels that are computed.

        Returns
        -------
        ndarray
            A copy of those that are shown.
        """
        rows, columns = (
            slice(inner.start - outer.start, inner.stop - outer.start)
            for inner, outer in zip(self.shown, self.guide, strict=True)
        )
        return image[rows, columns].copy()


def part_to_preview(
    pair: Pair, settings: Settings, corners: ArrayLike, longest: int = LONGEST
) -> Part:
    """Choose the middle of what is visible, as much as can be computed at once.

    Parameters
    ----------
    pair : Pair
        The layers.
    settings : Settings
        As `placed` completes them.
    corners : array_like, shape (2, ndim)
        Visible corners of the guide in its level's pixels.
    longest : int
        Guide pixels that can be computed along each axis.

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
    if settings.transform is not None:
        return _turned(pair, settings, settings.transform, visible, longest)
    factor, origin = _geometry(pair, settings)
    ours, theirs, shown, starts = [], [], [], []
    for axis, (d, start) in enumerate(zip(factor, origin, strict=True)):
        n, m = pair.guide_grid.shape[axis], pair.target_grid.shape[axis]
        last = start + (m - 1) * d
        low, high = max(visible[0, axis], start - d / 2), min(visible[1, axis], last + d / 2)
        bounds, halo = _bounds(start - BEYOND * d, last + BEYOND * d, n), _halo(d, longest)
        middle, solved = _stretch(low, high, halo, bounds, longest)
        samples, pixels = _straight(solved, d, start, (m, n), whole=halo > 0)
        ours.append(samples)
        theirs.append(pixels)
        shown.append(middle if halo else pixels)
        starts.append(start + samples.start * d - pixels.start)
    moved = replace(settings, factor=factor, origin=(starts[0], starts[1]))
    return Part((ours[0], ours[1]), (theirs[0], theirs[1]), (shown[0], shown[1]), moved)


def plane_to_preview(pair: Pair, dims: Dims) -> tuple[Index, tuple[Index, Index]]:
    """Find the plane of the result that the viewer would show.

    Parameters
    ----------
    pair : Pair
        The layers.
    dims : napari.components.Dims
        The viewer's sliders.

    Returns
    -------
    index : tuple of int
        On the leading axes of the result, as the guide shows it; as the target does on axes that
        only the target has.
    planes : tuple of tuple of int
        Those of target and guide that belong to it, as in a run.
    """
    stack = match_stacks(*pair.sources())
    ours, theirs = shown_plane(pair.target, dims), shown_plane(pair.guide, dims)
    axes = zip(stack.first, stack.second, strict=True)
    index = tuple(theirs[b] if b >= 0 else ours[a] if a >= 0 else 0 for a, b in axes)
    places = zip(np.ndindex(*stack.shape), stack.pairs(), strict=True)
    return index, next(planes for place, planes in places if place == index)


def _halo(d: float, longest: int) -> int:
    """Pixels around what is shown that are computed too; none where samples are too wide."""
    if d * FEWEST > longest:
        return 0
    least, most = HALO_PIXELS
    return ceil(min(max(least, HALO * d), most, longest / 4))


def _bounds(low: float, high: float, count: int) -> tuple[int, int]:
    """Pixels that a run computes along an axis, half open."""
    return max(0, ceil(low - ROUNDING)), min(count, floor(high + ROUNDING) + 1)


def _stretch(
    low: float, high: float, halo: int, bounds: tuple[int, int], longest: int
) -> tuple[slice, slice]:
    """Choose the pixels of an axis that are shown, and those that are computed with their halo.

    All that is visible is shown where the whole can be computed at once, else its middle.
    """
    first, last = bounds
    fits = last - first <= longest
    low, high = max(low, first), min(high, last - 1.0)
    most = longest if fits else longest - 2 * halo
    middle, half = (low + high) / 2, min(high - low, most - 1) / 2
    if half <= 0:
        raise InputError(NOT_VISIBLE)
    shown = slice(max(first, floor(middle - half)), min(last - 1, ceil(middle + half)) + 1)
    if fits and halo:
        return shown, slice(first, last)
    return shown, slice(max(first, shown.start - halo), min(last, shown.stop + halo))


def _straight(
    pixels: slice, d: float, start: float, counts: tuple[int, int], *, whole: bool
) -> tuple[slice, slice]:
    """Choose samples and pixels of an axis that lie on one another.

    A sample of which a part lies beside the pixels costs the solver its direct way, and says less.
    So the pixels are those of whole samples; where samples are too wide for that, they are as many
    as can be computed, and samples count whose middle is at most half a sample away.
    """
    m, n = counts
    if not whole:
        pixels, far = _at_least(ceil(d), pixels, n), max(d / 2, 0.5)
        first = max(0, floor((pixels.start - far - start) / d) + 1)
        last = min(m, ceil((pixels.stop - 1 + far - start) / d))
        return slice(first, last), pixels
    first = max(0, floor((pixels.start - 0.5 - start) / d + 0.5 + ROUNDING))
    last = min(m, ceil((pixels.stop - 0.5 - start) / d + 0.5 - ROUNDING))
    begin = max(0, floor(start + (first - 0.5) * d + 0.5 + ROUNDING))
    end = min(n, ceil(start + (last - 0.5) * d + 0.5 - ROUNDING))
    wider = slice(min(begin, pixels.start), max(end, pixels.stop))
    return slice(first, last), _at_least(ceil(d), wider, n)


def _at_least(length: int, pixels: slice, count: int) -> slice:
    """Lengthen a stretch of pixels where it is shorter than one sample."""
    begin = max(0, min(pixels.start, count - length))
    return slice(begin, max(pixels.stop, min(count, begin + length)))


def _turned(
    pair: Pair,
    settings: Settings,
    transform: NDArray[np.float64],
    visible: NDArray[np.float64],
    longest: int,
) -> Part:
    """Choose a part of a target that is turned: the samples around the guide's part."""
    samples, back = np.array(pair.target_grid.shape), np.linalg.inv(transform).astype(np.float64)
    ends = _corners([(-0.5, m - 0.5) for m in samples], back)
    most = _corners([(-BEYOND, m - 1 + BEYOND) for m in samples], back)
    halo, shown, theirs = _halo(max(steps_of(transform)), longest), [], []
    for axis, n in enumerate(pair.guide_grid.shape):
        least, last = max(visible[0, axis], ends[0, axis]), min(visible[1, axis], ends[1, axis])
        bounds = _bounds(most[0, axis], most[1, axis], n)
        middle, solved = _stretch(least, last, halo, bounds, longest)
        shown.append(middle)
        theirs.append(solved)
    near = _corners([(part.start, part.stop - 1) for part in theirs], transform)
    low = np.clip(np.floor(near[0] - MARGIN), 0, samples).astype(int)
    high = np.clip(np.ceil(near[1] + MARGIN) + 1, low, samples).astype(int)
    if (high == low).any():
        raise InputError(NOT_VISIBLE)
    to_part, from_part = np.eye(3), np.eye(3)
    to_part[:2, 2], from_part[:2, 2] = -low, [part.start for part in theirs]
    moved = replace(settings, transform=to_part @ transform @ from_part)
    ours = slice(int(low[0]), int(high[0])), slice(int(low[1]), int(high[1]))
    return Part(ours, (theirs[0], theirs[1]), (shown[0], shown[1]), moved)


def _corners(ends: list[tuple[float, float]], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least and largest coordinates of a mapped rectangle, shape (2, 2)."""
    corners = np.array([[row, column, 1.0] for row in ends[0] for column in ends[1]])
    places = (corners @ matrix.T)[:, :2]
    return np.stack([places.min(0), places.max(0)])


def _geometry(pair: Pair, settings: Settings) -> tuple[tuple[float, float], tuple[float, float]]:
    """Factor and origin, also where the layers do not say them."""
    ratios = [n / m for n, m in zip(pair.guide_grid.shape, pair.target_grid.shape, strict=True)]
    factor = settings.steps or (ratios[0], ratios[1])
    shift = 0.0 if settings.phase == "corner" else 0.5
    return factor, settings.origin or (shift * (factor[0] - 1), shift * (factor[1] - 1))
