"""Which pixels of the fixed image a level is judged by: small blocks, spread evenly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.ndimage import minimum_filter

from napari_cosparse.core.types import Plane

from ._pyramid import Level

BLOCK = 8  # pixels: side of a block; its patches share most of their pixels


@dataclass(frozen=True)
class Samples:
    """Blocks of pixels of one level of the fixed image.

    Attributes
    ----------
    rows, columns : ndarray, shape (blocks, side + 2 * radius), float64
        Positions of each block's lines, in pixels of the level; the outermost `radius` serve the
        patches only.
    values : ndarray, shape (blocks, side + 2 * radius, side + 2 * radius)
        The image there.
    weight : ndarray, shape (blocks, side, side)
        1 where the patch around a pixel is usable, else 0.
    radius : int
        Reach of the patches, in pixels.
    window : ndarray, shape (blocks,), optional
        Which window of the image each block lies in, where the level shows only windows.
    """

    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    values: Plane
    weight: Plane
    radius: int
    window: NDArray[np.int64] | None = None

    def part(self, start: int, stop: int) -> Samples:
        """Take some of the blocks.

        Parameters
        ----------
        start, stop : int
            First block, and the one after the last.

        Returns
        -------
        Samples
            Views.
        """
        piece = slice(start, stop)
        return Samples(
            self.rows[piece],
            self.columns[piece],
            self.values[piece],
            self.weight[piece],
            self.radius,
            None if self.window is None else self.window[piece],
        )

    def parts(self, size: int) -> list[Samples]:
        """Divide the blocks.

        Parameters
        ----------
        size : int
            Blocks to a part.

        Returns
        -------
        list of Samples
            Views.
        """
        return [self.part(i, i + size) for i in range(0, len(self), size)]

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self.rows)


def choose_samples(
    level: Level, radius: int, limit: int, seed: int, block: int = BLOCK, *, between: bool = False
) -> Samples:
    """Spread blocks over the usable part of a level of the fixed image.

    Parameters
    ----------
    level : Level
        Fixed image.
    radius : int
        Reach of the patches, in pixels.
    limit : int
        Number of pixels that suffices.
    seed : int
        For the choice among many.
    block : int
        Side of a block, in pixels; 1 takes single pixels.
    between : bool
        Push each block by a random part of a pixel, so that both images are read between their
        pixels. On the pixels a fixed image keeps its noise, which interpolation takes from the
        moving one by an amount that depends on the motion: it would be drawn off whole shifts.

    Returns
    -------
    Samples
        All blocks if they fit the limit.
    """
    weight = _weights(level, radius, block, int(between))
    tops, lefts = np.nonzero(weight.sum((2, 3)))
    chosen = _spread(len(tops), max(1, limit // block**2), seed)
    tops, lefts = tops[chosen], lefts[chosen]
    side = block + 2 * radius
    padded = np.pad(level.image, ((0, block + radius),) * 2, mode="edge")
    windows = sliding_window_view(padded, (side, side))
    window = None if level.windows is None else tops * block // level.windows.side
    rows, columns = _places(level, tops * block, lefts * block, window)
    line = np.arange(side, dtype=np.float64)
    samples = Samples(
        rows[:, None] + line,
        columns[:, None] + line,
        np.ascontiguousarray(windows[tops * block, lefts * block]),
        np.ascontiguousarray(weight[tops, lefts]),
        radius,
        window,
    )
    return _pushed(level, samples, seed) if between else samples


def _pushed(level: Level, samples: Samples, seed: int) -> Samples:
    """Push each block by a random part of a pixel, at most one."""
    shifts = np.random.default_rng([seed, 1]).random((2, len(samples), 1))
    rows, columns = samples.rows + shifts[0], samples.columns + shifts[1]
    shape = samples.values.shape
    places = np.broadcast_to(rows[:, :, None], shape), np.broadcast_to(columns[:, None], shape)
    values = level.spline.sample(*places)[0]
    return replace(samples, rows=rows, columns=columns, values=values)


def _places(
    level: Level,
    tops: NDArray[np.int64],
    lefts: NDArray[np.int64],
    window: NDArray[np.int64] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where blocks lie in the image."""
    if level.windows is None or window is None:
        return tops.astype(np.float64), lefts.astype(np.float64)
    shifts = level.windows.shifts[window]
    return tops + shifts[:, 0], lefts + shifts[:, 1]


def _weights(level: Level, radius: int, block: int, beyond: int = 0) -> Plane:
    """Usable centres, cut into blocks: shape (down, across, block, block)."""
    usable = level.usable
    if beyond:  # the next pixel is needed as well
        usable = minimum_filter(usable, 2, mode="constant", origin=-1)
    if radius:
        if not usable.all():
            usable = minimum_filter(usable, 2 * radius + 1, mode="nearest")
        usable = usable[radius:-radius, radius:-radius]
    down, across = (-(-size // block) for size in usable.shape)
    full = np.zeros((down * block, across * block), np.float32)
    full[: usable.shape[0], : usable.shape[1]] = usable
    return full.reshape(down, block, across, block).swapaxes(1, 2)


def _spread(count: int, wanted: int, seed: int) -> NDArray[np.int64]:
    """About evenly spaced indices: one at random from each of `wanted` equal stretches."""
    if count <= wanted:
        return np.arange(count)
    jitter = np.random.default_rng(seed).random(wanted)
    return ((np.arange(wanted) + jitter) * (count / wanted)).astype(np.int64)
