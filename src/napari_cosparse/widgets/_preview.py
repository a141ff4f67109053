"""Which part of the layers a preview computes, and where it is shown."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.layers import (
    Destination,
    match_stacks,
    preview_place,
    set_world,
    shown_plane,
    world_matrix,
)
from napari_cosparse.tiles import known_samples

from ._job import Outcome, Pair
from ._runner import Steps

LONGEST = 224  # guide pixels along each axis: a second or so on one core
FEWEST = 4  # samples along LONGEST from which on a part is made of whole samples
AROUND = 32  # samples beyond the part that tell range and noise
MARGIN = 2.0  # samples beyond the part, of a target that is turned
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
        Rows and columns.
    settings : Settings
        With the origin, or the transform, of the part.
    around : tuple of slice, or None
        Rows and columns of the target that tell its range and noise; None for those of the part.
    """

    target: Window
    guide: Window
    settings: Settings
    around: Window | None = None


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
    if settings.transform is not None:
        return _turned(pair, settings, settings.transform, visible)
    factor, origin = _geometry(pair, settings)
    ours, theirs, starts = [], [], []
    for axis, (d, start) in enumerate(zip(factor, origin, strict=True)):
        n, m = pair.guide_grid.shape[axis], pair.target_grid.shape[axis]
        low = max(visible[0, axis], start - d / 2)
        high = min(visible[1, axis], start + (m - 0.5) * d)
        samples, pixels = _straight(_middle(low, high, n), d, start, (m, n))
        ours.append(samples)
        theirs.append(pixels)
        starts.append(start + samples.start * d - pixels.start)
    part = replace(settings, factor=factor, origin=(starts[0], starts[1]))
    around = tuple(slice(max(0, one.start - AROUND), one.stop + AROUND) for one in ours)
    return Part((ours[0], ours[1]), (theirs[0], theirs[1]), part, (around[0], around[1]))


def plane_to_preview(pair: Pair, point: Sequence[float]) -> tuple[Index, tuple[Index, Index]]:
    """Find the plane of the result that the viewer would show.

    Parameters
    ----------
    pair : Pair
        The layers.
    point : sequence of float
        Position of the sliders in the world, ``viewer.dims.point``.

    Returns
    -------
    index : tuple of int
        On the leading axes of the result, as the guide shows it; as the target does on axes that
        only the target has.
    planes : tuple of tuple of int
        Those of target and guide that belong to it, as in a run.
    """
    stack = match_stacks(*pair.sources())
    ours, theirs = shown_plane(pair.target, point), shown_plane(pair.guide, point)
    axes = zip(stack.first, stack.second, strict=True)
    index = tuple(theirs[b] if b >= 0 else ours[a] if a >= 0 else 0 for a, b in axes)
    places = zip(np.ndindex(*stack.shape), stack.pairs(), strict=True)
    return index, next(planes for place, planes in places if place == index)


def place_of_part(pair: Pair, where: Destination, index: Index, part: Part) -> dict[str, Any]:
    """Note where a preview is to lie: on its plane of the result, and on no other one.

    Parameters
    ----------
    pair : Pair
        The layers.
    where : Destination
        Of the whole result.
    index : tuple of int
        Of the plane, on the leading axes of the result.
    part : Part
        What is computed.

    Returns
    -------
    dict
        Settings of a layer that has as many axes as the result.
    """
    corner = part.guide[0].start, part.guide[1].start
    if not index:
        return preview_place(pair.guide, pair.levels[1], corner)
    shift = np.eye(len(where.shape) + 1)
    shift[:-1, -1] = *index, *corner
    world = world_matrix(where.placement) @ shift
    state = set_world({**where.placement, "translate": world[:-1, -1].copy()}, world)
    return {**state, "metadata": {"preview": [*index, *corner]}}


def telling(steps: Steps, pair: Pair, part: Part, plane: Index, invalid: float | None) -> Steps:
    """Refuse in plain words, in the worker, a part of which nothing is known.

    Parameters
    ----------
    steps : callable
        Makes the generator of progress of the preview.
    pair : Pair
        The layers.
    part : Part
        What is computed.
    plane : tuple of int
        Which plane of the target.
    invalid : float or None
        Value that means unknown.

    Returns
    -------
    callable
        Makes a generator that raises `InputError` then.
    """
    target = pair.sources()[0]

    def checked() -> Generator[Progress, None, Outcome]:
        if not known_samples(target.load_gray(plane, part.target), invalid).any():
            which, other = f"{target.name!r}", "part"
            if plane:
                which, other = f"Plane {plane} of {which}", "plane or part"
            raise InputError(
                f"{which} has no known sample in the middle of the view: all there are NaN, "
                f"infinite or the unknown value. Show another {other}, or check Unknown value."
            )
        outcome: Outcome = yield from steps()
        return outcome

    return checked


def _straight(
    pixels: slice, d: float, start: float, counts: tuple[int, int]
) -> tuple[slice, slice]:
    """Choose samples and pixels of an axis that lie on one another.

    A sample of which a part lies beside the pixels costs the solver its direct way, and says less.
    So the pixels are those of whole samples; where samples are too wide for that, they are as many
    as can be computed, and samples count whose middle is at most half a sample away.
    """
    m, n = counts
    if d * FEWEST > LONGEST:
        pixels, far = _at_least(ceil(d), pixels, n), max(d / 2, 0.5)
        first = max(0, floor((pixels.start - far - start) / d) + 1)
        last = min(m, ceil((pixels.stop - 1 + far - start) / d))
        return slice(first, last), pixels
    first = max(0, floor((pixels.start - 0.5 - start) / d + 0.5 + ROUNDING))
    last = min(m, ceil((pixels.stop - 0.5 - start) / d + 0.5 - ROUNDING))
    if last - first > FEWEST and (last - first) * d > LONGEST + d / 2:
        last -= 1
    begin = max(0, floor(start + (first - 0.5) * d + 0.5 + ROUNDING))
    end = min(n, ceil(start + (last - 0.5) * d + 0.5 - ROUNDING))
    return slice(first, last), _at_least(ceil(d), slice(begin, end), n)


def _at_least(length: int, pixels: slice, count: int) -> slice:
    """Lengthen a stretch of pixels where it is shorter than one sample."""
    begin = max(0, min(pixels.start, count - length))
    return slice(begin, max(pixels.stop, min(count, begin + length)))


def _turned(
    pair: Pair, settings: Settings, transform: NDArray[np.float64], visible: NDArray[np.float64]
) -> Part:
    """Choose a part of a target that is turned: the samples around the guide's part."""
    samples = np.array(pair.target_grid.shape)
    ends = _corners([(-0.5, m - 0.5) for m in samples], np.linalg.inv(transform).astype(np.float64))
    theirs = [
        _middle(max(visible[0, axis], low), min(visible[1, axis], high), n)
        for axis, (n, low, high) in enumerate(zip(pair.guide_grid.shape, *ends, strict=True))
    ]
    near = _corners([(part.start, part.stop - 1) for part in theirs], transform)
    low = np.clip(np.floor(near[0] - MARGIN), 0, samples).astype(int)
    high = np.clip(np.ceil(near[1] + MARGIN) + 1, low, samples).astype(int)
    if (high == low).any():
        raise InputError(NOT_VISIBLE)
    to_part, from_part = np.eye(3), np.eye(3)
    to_part[:2, 2], from_part[:2, 2] = -low, [part.start for part in theirs]
    moved = replace(settings, transform=to_part @ transform @ from_part)
    ours = slice(int(low[0]), int(high[0])), slice(int(low[1]), int(high[1]))
    return Part(ours, (theirs[0], theirs[1]), moved)


def _middle(low: float, high: float, count: int) -> slice:
    """Take the middle of a stretch of pixels, as long as can be computed at once."""
    low, high = max(low, 0.0), min(high, count - 1.0)
    middle, half = (low + high) / 2, min(high - low, LONGEST - 1) / 2
    if half <= 0:
        raise InputError(NOT_VISIBLE)
    return slice(max(0, floor(middle - half)), min(count - 1, ceil(middle + half)) + 1)


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
