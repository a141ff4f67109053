"""Which part of the layers a preview computes, and which of that is shown."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from napari.components import Dims
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.layers import match_stacks, shown_plane, steps_of

from ._job import Pair
from ._preview_axis import (
    LONGEST,
    NOT_VISIBLE,
    at_least,
    bounds_of,
    halo_of,
    on_samples,
    room_of,
    stretch,
)

AROUND = 32  # samples beyond the part that tell range and noise where the rest is not in memory
MARGIN = 2.0  # samples beyond the part, of a target that is turned
GRID = 65  # places along each axis at which a turned target is looked for
BEYOND = 2.5  # samples from a target's last one: so far a run continues it

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
        room = room_of(d, longest)
        bounds, halo = bounds_of(start - BEYOND * d, last + BEYOND * d, n), halo_of(d, room)
        middle, solved = stretch(low, high, halo, bounds, room)
        samples, pixels = on_samples(solved, d, start, (m, n), whole=halo > 0)
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


def _turned(
    pair: Pair,
    settings: Settings,
    transform: NDArray[np.float64],
    visible: NDArray[np.float64],
    longest: int,
) -> Part:
    """Choose a part of a target that is turned: the samples around the guide's part."""
    samples, guide = np.array(pair.target_grid.shape), pair.guide_grid.shape
    back = np.linalg.inv(transform).astype(np.float64)
    ends = _corners([(-0.5, m - 0.5) for m in samples], back)
    ends = np.stack([np.maximum(ends[0], 0), np.minimum(ends[1], np.subtract(guide, 1))])
    seen = np.stack([np.maximum(visible[0], ends[0]), np.minimum(visible[1], ends[1])])
    d = max(steps_of(transform))
    room = room_of(d, longest)
    halo, shown, theirs = halo_of(d, room), [], []
    seen = _on_target(seen, transform, samples, room - 2 * halo)
    most = _corners([(-BEYOND, m - 1 + BEYOND) for m in samples], back)
    for axis, n in enumerate(guide):
        bounds = bounds_of(most[0, axis], most[1, axis], n)
        middle, solved = stretch(seen[0, axis], seen[1, axis], halo, bounds, room)
        shown.append(middle)
        theirs.append(at_least(ceil(d), solved, n))
    near = _corners([(part.start, part.stop - 1) for part in theirs], transform)
    low = np.clip(np.floor(near[0] - MARGIN), 0, samples).astype(int)
    high = np.clip(np.ceil(near[1] + MARGIN) + 1, low, samples).astype(int)
    if not _any_sample(low, high, back, theirs):
        raise InputError(NOT_VISIBLE)
    to_part, from_part = np.eye(3), np.eye(3)
    to_part[:2, 2], from_part[:2, 2] = -low, [part.start for part in theirs]
    moved = replace(settings, transform=to_part @ transform @ from_part)
    ours = slice(int(low[0]), int(high[0])), slice(int(low[1]), int(high[1]))
    return Part(ours, (theirs[0], theirs[1]), (shown[0], shown[1]), moved)


def _on_target(
    visible: NDArray[np.float64],
    transform: NDArray[np.float64],
    samples: NDArray[np.int_],
    length: int,
) -> NDArray[np.float64]:
    """Narrow what is visible to a length about a place on the target, if its middle is beside."""

    def are_on(places: NDArray[np.float64]) -> NDArray[np.bool_]:
        there = places @ transform[:2, :2].T + transform[:2, 2]
        return np.asarray(((there > -0.5) & (there < samples - 0.5)).all(-1))

    low, high = visible
    if (high <= low).any():
        raise InputError(NOT_VISIBLE)
    if are_on((low + high) / 2):
        return visible
    places = np.stack(np.meshgrid(*np.linspace(low, high, GRID).T), -1).reshape(-1, 2)
    places = places[are_on(places)]
    if not len(places):
        raise InputError(NOT_VISIBLE)
    middle = places[np.argmin(((places - places.mean(0)) ** 2).sum(1))]
    around: NDArray[np.float64] = np.clip([middle - length / 2, middle + length / 2], low, high)
    return around


def _any_sample(
    low: NDArray[np.int_], high: NDArray[np.int_], back: NDArray[np.float64], pixels: list[slice]
) -> bool:
    """Whether the middle of one of the samples lies on the pixels, as the core asks."""
    index = [np.arange(first, stop) for first, stop in zip(low, high, strict=True)]
    places = np.stack(np.meshgrid(*index, indexing="ij"), -1)
    places = places @ back[:2, :2].T + back[:2, 2]
    starts, stops = np.array([(part.start, part.stop) for part in pixels]).T
    return bool(((places > starts - 0.5) & (places < stops - 0.5)).all(-1).any())


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
