"""A seeded sample of normalised patch pairs from registered image pairs."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.progress import Progress, reported

from ._candidates import draw_positions
from ._images import Chunked, Image, as_image
from ._look import View, in_steps, look_for_patches
from ._patches import by_place, shares
from ._settings import Settings

ROOM = 1 << 26  # bytes of chunked images that are kept between looking and drawing

Patches = NDArray[np.float32]


def as_pairs(pairs: Sequence[tuple[ArrayLike, ArrayLike]], side: int) -> list[tuple[Image, Image]]:
    """Check the images."""
    if not len(pairs):
        raise InputError("no image pairs; learning needs at least one pair (u, v)")
    return [_as_pair(number, pair, side) for number, pair in enumerate(pairs, 1)]


def _as_pair(number: int, pair: tuple[ArrayLike, ArrayLike], side: int) -> tuple[Image, Image]:
    if len(pair) != 2:
        raise InputError(f"image pair {number} has {len(pair)} images; it must be (u, v)")
    u, v = (
        as_image(image, f"{name} of image pair {number}")
        for image, name in zip(pair, "uv", strict=True)
    )
    if u.shape[:2] != v.shape[:2]:
        raise InputError(
            f"image pair {number}: u has {u.shape[:2]} pixels but v has {v.shape[:2]}; "
            "registered images have the same size. Resample one onto the grid of the other"
        )
    if min(u.shape[:2]) < side:
        raise InputError(
            f"image pair {number} has {u.shape[:2]} pixels; patches of side {side} do not fit"
        )
    return u, v


def sample_patches(
    pairs: list[tuple[Image, Image]],
    settings: Settings,
    streams: list[np.random.Generator],
    map_: Map = map,
    room: int = ROOM,
) -> Generator[Progress, None, tuple[tuple[Patches, Patches], tuple[int, ...]]]:
    """Draw equal numbers of patches from all pairs; see `learn_operators` for the rules.

    `room` are bytes of chunked images that may be kept, so that no part is read twice. Returned are
    the patches, and the numbers of the pairs (from 1) that have none, as the dark ends of stacks.
    """
    total = len(pairs) + settings.iterations
    share = room // (2 * len(pairs))
    views, found = [], []
    for done, ((u, v), rng) in enumerate(zip(pairs, streams, strict=True)):
        view = View((u, v), settings).within(share)
        views.append(view)
        parts = yield from reported(
            look_for_patches(view, rng, map_), Progress("choosing patches", done, total)
        )
        found.append(parts)
        yield Progress("choosing patches", done + 1, total)
    available = [sum(part.count for part in parts) for parts in found]
    counts = shares(available, settings.samples)
    if not sum(counts):
        raise InputError(
            f"no patch of side {settings.side} may be used: all contain unknown pixels or are "
            f"flatter than the thresholds {settings.thresholds}. Lower the thresholds, choose "
            "smaller patches or other images"
        )
    drawn = []
    for view, parts, count, rng in zip(views, found, counts, streams, strict=True):
        gathering = _gather_pair(view, draw_positions(parts, count, rng), rng, map_)
        progress = Progress("reading patches", len(pairs), total)
        drawn.append((yield from reported(gathering, progress)))
    left, right = (np.concatenate(side, axis=1) for side in zip(*drawn, strict=True))
    return (left, right), tuple(number for number, most in enumerate(available, 1) if not most)


def _gather_pair(
    view: View, positions: NDArray[np.int64], rng: np.random.Generator, map_: Map
) -> Generator[None, None, list[Patches]]:
    """Gather the patches of a pair, those of one square of a chunked image together."""
    settings = view.settings
    codes = rng.integers(8, size=len(positions)) if settings.symmetries else None
    chunked = any(isinstance(image, Chunked) for image in view.pair)
    squares = by_place(positions, settings.block) if chunked else [np.arange(len(positions))]
    patches = [np.empty((settings.side**2, len(positions)), np.float32) for _ in view.pair]
    items = [(positions[at], None if codes is None else codes[at]) for at in squares]
    for at, found in zip(squares, (yield from in_steps(map_, view.patches, items)), strict=True):
        for out, part in zip(patches, found, strict=True):
            out[:, at] = part
    return patches
