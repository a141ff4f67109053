"""A seeded sample of normalised patch pairs from registered image pairs."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.progress import Progress

from ._images import Image, as_image
from ._patches import (
    draw_positions,
    eligible_positions,
    gather,
    normalise,
    shares,
    turn,
)
from ._settings import Settings

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
    pairs: list[tuple[Image, Image]], settings: Settings, streams: list[np.random.Generator]
) -> Generator[Progress, None, tuple[Patches, Patches]]:
    """Draw equal numbers of patches from all pairs; see `learn_operators` for the rules."""
    total = len(pairs) + settings.iterations
    eligible = []
    for done, (u, v) in enumerate(pairs, 1):
        eligible.append(
            eligible_positions(u, settings.side, settings.thresholds[0], settings.invalid[0])
            & eligible_positions(v, settings.side, settings.thresholds[1], settings.invalid[1])
        )
        yield Progress("choosing patches", done, total)
    counts = shares([int(mask.sum()) for mask in eligible], settings.samples)
    if not sum(counts):
        raise InputError(
            f"no patch of side {settings.side} may be used: all contain unknown pixels or are "
            f"flatter than the thresholds {settings.thresholds}. Lower the thresholds, choose "
            "smaller patches or other images"
        )
    parts = [
        _gather_pair(pair, draw_positions(mask, count, rng), settings, rng)
        for pair, mask, count, rng in zip(pairs, eligible, counts, streams, strict=True)
    ]
    u, v = (np.concatenate(side, axis=1) for side in zip(*parts, strict=True))
    return u, v


def _gather_pair(
    pair: tuple[Image, Image],
    positions: NDArray[np.int64],
    settings: Settings,
    rng: np.random.Generator,
) -> list[Patches]:
    patches = [gather(image, positions, settings.side) for image in pair]
    if settings.symmetries:
        codes = rng.integers(8, size=len(positions))
        patches = [turn(part, codes) for part in patches]
    return [normalise(part) for part in patches]
