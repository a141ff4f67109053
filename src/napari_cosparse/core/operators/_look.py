"""Look for patches: in all of a small image pair, in seeded parts of a large one.

A large pair is cut into squares, whatever its chunks; some of them in random order are read until
there are patches enough. So learning from a slide reads a few megapixels of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.ranges import robust_range

from ._candidates import Part
from ._images import Image, known_values, within
from ._patches import eligible_positions, gather, normalise, turn
from ._settings import Settings

LOOKED = 1 << 22  # pixels that are looked at together; no larger image is looked at as a whole
STEP = 16  # squares between two reports
THIN = 3  # every third row and column of a square counts for the range

Window = tuple[slice, slice]
Span = tuple[float, float]
A = TypeVar("A")
B = TypeVar("B")
Looking = Generator[None, None, list[Part]]


@dataclass(frozen=True, eq=False)
class View:
    """An image pair and what is asked of it; it may travel to other processes.

    Attributes
    ----------
    pair : tuple of ndarray
        Images of U and V, see `as_image`.
    settings : Settings
        Of the learning.
    """

    pair: tuple[Image, Image]
    settings: Settings

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, in pixels."""
        return self.pair[0].shape[0], self.pair[0].shape[1]

    @property
    def large(self) -> bool:
        """Whether only parts of the pair are looked at."""
        return self.shape[0] * self.shape[1] > LOOKED

    def within(self, room: int) -> View:
        """Let both images keep so many bytes of what was read of them."""
        u, v = (within(image, room, whole=not self.large) for image in self.pair)
        return replace(self, pair=(u, v))

    def whole(self, which: int) -> Part:
        """Find the positions of U (0) or V (1) whose patch may be used, in all of the image."""
        return Part.of(self._eligible(self.pair[which], which, None))

    def values(self, window: Window) -> list[NDArray[Any]]:
        """Read some known gray values of U and V in a window."""
        thin = slice(None, None, THIN)
        return [
            known_values(image[window][thin, thin], invalid)
            for image, invalid in zip(self.pair, self.settings.invalid, strict=True)
        ]

    def eligible(self, spans: list[Span], window: Window) -> Part:
        """Find the positions in a window whose patches may be used in both images."""
        u, v = (self._eligible(self.pair[which][window], which, spans[which]) for which in (0, 1))
        return Part.of(u & v, window[0].start, window[1].start)

    def _eligible(self, image: Image, which: int, span: Span | None) -> NDArray[np.bool_]:
        settings = self.settings
        return eligible_positions(
            image, settings.side, settings.thresholds[which], settings.invalid[which], span
        )

    def patches(
        self, what: tuple[NDArray[np.int64], NDArray[np.int64] | None]
    ) -> list[NDArray[np.float32]]:
        """Read normalised patches of U and V at some positions, turned if there are codes."""
        positions, codes = what
        side, block = self.settings.side, self.settings.block
        found = [gather(image, positions, side, block) for image in self.pair]
        return [normalise(part if codes is None else turn(part, codes)) for part in found]


def look_for_patches(view: View, rng: np.random.Generator, map_: Map) -> Looking:
    """Find positions whose patches may be drawn.

    Parameters
    ----------
    view : View
        The pair.
    rng : numpy.random.Generator
        Source of the order in which a large pair is looked at.
    map_ : callable
        Like the built-in `map`.

    Yields
    ------
    None
        Now and then.

    Returns
    -------
    list of Part
        All positions of a small pair; of a large one at least as many as patches are wanted, if it
        has them.
    """
    if not view.large:
        u, v = map_(view.whole, (0, 1))
        return [u.common(v)]
    return (yield from _look_at_parts(view, rng, map_))


def _look_at_parts(view: View, rng: np.random.Generator, map_: Map) -> Looking:
    parts: list[Part] = []
    spans: list[Span | None] = [None, None]
    for batch in _batches(view, rng):
        if None in spans:
            values = yield from in_steps(map_, view.values, batch)
            for which, found in enumerate(zip(*values, strict=True)):
                spans[which] = spans[which] or _span(np.concatenate(found))
        known = [span for span in spans if span is not None]
        if len(known) == len(spans):  # constant parts have no patch that may be used
            parts += yield from in_steps(map_, partial(view.eligible, known), batch)
        if sum(part.count for part in parts) >= view.settings.samples:
            break
    return parts


def _span(values: NDArray[Any]) -> Span | None:
    """Low end and range of what was seen; None if that is constant."""
    return robust_range(values) if values.size and values.min() < values.max() else None


def _batches(view: View, rng: np.random.Generator) -> Iterator[list[Window]]:
    """Squares in random order, some megapixels at a time."""
    batch, pixels = [], 0
    side, block = view.settings.side, view.settings.block
    rows, columns = (ceil(size / block) for size in view.shape)
    for number in rng.permutation(rows * columns):
        starts = block * (int(number) // columns), block * (int(number) % columns)
        down, right = (
            slice(first, min(first + block, size))
            for first, size in zip(starts, view.shape, strict=True)
        )
        height, width = down.stop - down.start, right.stop - right.start
        if min(height, width) < side:  # no patch fits
            continue
        batch.append((down, right))
        pixels += height * width
        if pixels >= LOOKED:
            yield batch
            batch, pixels = [], 0
    if batch:
        yield batch


def in_steps(map_: Map, work: Callable[[A], B], items: list[A]) -> Generator[None, None, list[B]]:
    """Call a function for some items at a time.

    Parameters
    ----------
    map_ : callable
        Like the built-in `map`.
    work : callable
        What to call.
    items : list
        Its arguments.

    Yields
    ------
    None
        Between them.

    Returns
    -------
    list
        The results.
    """
    found: list[B] = []
    for first in range(0, len(items), STEP):
        if first:
            yield
        found += map_(work, items[first : first + STEP])
    return found
