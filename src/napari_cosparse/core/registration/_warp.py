"""Resampling by an affine map, block by block: each needs only a window of the image."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.progress import Progress, drain
from napari_cosparse.core.rounding import to_type

from ._frame import Matrix
from ._warp_cubic import HALO, coefficients
from ._warp_taps import Positions, blend, nearest, taps

BLOCK = 256  # rows and columns of the result at a time: what is fastest
AT_ONCE = 16  # blocks between two reports: a fraction of a second
ROUND_OFF = 1e-6  # pixels by which a position may miss the image's border
MARGINS = {"nearest": 1, "linear": 2, "cubic": HALO}

Image = NDArray[Any]
Block = tuple[slice, slice]


@dataclass(frozen=True, eq=False)
class Warp:
    """How an image is resampled; the same numbers, however the work is cut into blocks.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3)
        Maps pixel (row, column, 1) of the result to pixel (row, column, 1) of the image.
    shape : tuple of int
        Rows and columns of the image.
    order : {"nearest", "linear", "cubic"}
        Interpolation.
    fill : float, int or bool
        Value outside the image.
    limits : tuple of float or None
        Smallest and largest value that cubic interpolation may give; None leaves it free.
    """

    matrix: Matrix
    shape: tuple[int, int]
    order: str
    fill: Any
    limits: tuple[Any, Any] | None = None

    def window(self, block: Block) -> Block | None:
        """Part of the image that a block of the result needs.

        Parameters
        ----------
        block : tuple of slice
            Rows and columns of the result.

        Returns
        -------
        tuple of slice or None
            Rows and columns of the image; None where the block lies outside.
        """
        ends = [(part.start, part.stop - 1) for part in block]
        corners = np.array([[r, c, 1] for r in ends[0] for c in ends[1]], float)
        mapped = (corners @ self.matrix.T)[:, :2]
        margin = MARGINS[self.order]
        low = np.floor(mapped.min(axis=0)) - margin
        high = np.ceil(mapped.max(axis=0)) + margin + 1
        bounds = [
            (max(int(min(a, size)), 0), min(int(max(b, 0)), size))
            for a, b, size in zip(low, high, self.shape, strict=True)
        ]
        if any(start >= stop for start, stop in bounds):
            return None
        return slice(*bounds[0]), slice(*bounds[1])

    def block(self, part: Image, window: Block, block: Block) -> Image:
        """Resample one block.

        Parameters
        ----------
        part : ndarray, shape (h, w) or (h, w, channels)
            The window of the image.
        window : tuple of slice
            Where it lies in the image.
        block : tuple of slice
            Rows and columns of the result.

        Returns
        -------
        ndarray, shape (rows, columns) or (rows, columns, channels)
            The block, in the image's type.
        """
        size = tuple(axis.stop - axis.start for axis in block)
        result = np.full(size + part.shape[2:], self.fill, part.dtype)
        rows, columns, inside = self._positions(block)
        if rows.size:
            planes = part[:, :, None] if part.ndim == 2 else part
            values = self._sample(planes, window, rows, columns)
            result[inside] = values[:, 0] if part.ndim == 2 else values
        return result

    def _positions(self, block: Block) -> tuple[Positions, Positions, NDArray[np.bool_]]:
        """Where the pixels of a block lie in the image; which of them are inside."""
        down = np.arange(block[0].start, block[0].stop, dtype=np.float64)[:, None]
        right = np.arange(block[1].start, block[1].stop, dtype=np.float64)[None]
        rows, columns = (line[0] * down + line[1] * right + line[2] for line in self.matrix[:2])
        inside = np.ones(rows.shape, bool)
        for axis, size in zip((rows, columns), self.shape, strict=True):
            inside &= (axis >= -0.5 - ROUND_OFF) & (axis <= size - 0.5 + ROUND_OFF)
        return rows[inside], columns[inside], inside

    def _sample(self, part: Image, window: Block, rows: Positions, columns: Positions) -> Image:
        """Interpolate inside the image, shape (n, channels)."""
        axes = list(zip((rows, columns), self.shape, (w.start for w in window), strict=True))
        pixel = tuple(nearest(at, size) - start for at, size, start in axes)
        if self.order == "nearest":
            return np.asarray(part[pixel])
        unknown = _unknown(part)
        down, right = (
            (i - start, s) for at, n, start in axes for i, s in [taps(at, n, self.order)]
        )
        if self.order == "cubic":
            values = blend(coefficients(part.astype(np.float64), unknown), down, right)
        else:
            values = blend(part, down, right, unknown=unknown)
        result = to_type(values, part.dtype, self.limits)
        if unknown is not None:  # what is unknown stays so, and nothing else becomes it
            hole = unknown[pixel]
            result[hole] = part[pixel][hole]
        return result


def _unknown(part: Image) -> NDArray[np.bool_] | None:
    if part.dtype.kind != "f":
        return None
    unknown = ~np.isfinite(part)
    return unknown if unknown.any() else None


def resample_steps(
    warp: Warp, part: Image, window: Block, block: Block, map_: Map = map
) -> Generator[Progress, None, Image]:
    """Resample a block of any size in small ones, whose windows are bounded, too.

    Parameters
    ----------
    warp : Warp
        What to do.
    part : ndarray, shape (h, w) or (h, w, channels)
        The image, or a window of it that holds what the block needs.
    window : tuple of slice
        Where it lies in the image.
    block : tuple of slice
        Rows and columns of the result.
    map_ : callable
        Like the built-in `map`; changes no bit.

    Yields
    ------
    Progress
        After some of the small ones, about a megapixel.

    Returns
    -------
    ndarray, shape (rows, columns) or (rows, columns, channels)
        The block, in the image's type.
    """
    size = tuple(axis.stop - axis.start for axis in block)
    result = np.empty(size + part.shape[2:], part.dtype)

    def fill(small: Block) -> None:
        need, target = warp.window(small), _within(small, block)
        if need is None:
            result[target] = warp.fill
        else:
            need = _common(need, window)
            result[target] = warp.block(part[_within(need, window)], need, small)

    blocks = list(_split(block, warp.matrix))
    for first in range(0, len(blocks), AT_ONCE):
        some = blocks[first : first + AT_ONCE]
        list(map_(fill, some))
        yield Progress("resampling", first + len(some), len(blocks))
    return result


def resample(warp: Warp, part: Image, window: Block, block: Block) -> Image:
    """Do what `resample_steps` does, at once.

    Parameters
    ----------
    warp, part, window, block
        As there.

    Returns
    -------
    ndarray, shape (rows, columns) or (rows, columns, channels)
        The block, in the image's type.
    """
    return drain(resample_steps(warp, part, window, block))


def _common(first: Block, second: Block) -> Block:
    """Return what two blocks share: round-off may cost a window its spare pixel, not more."""
    rows, columns = (
        slice(max(a.start, b.start), min(a.stop, b.stop))
        for a, b in zip(first, second, strict=True)
    )
    return rows, columns


def _split(block: Block, matrix: Matrix) -> Iterator[Block]:
    """Cut a block into small ones."""
    reach = float(np.linalg.norm(matrix[:2, :2], 2))  # pixels of the image per pixel
    side = max(ceil(BLOCK / max(reach, 1.0)), 16)
    rows, columns = block
    for row in range(rows.start, rows.stop, side):
        for column in range(columns.start, columns.stop, side):
            yield (
                slice(row, min(row + side, rows.stop)),
                slice(column, min(column + side, columns.stop)),
            )


def _within(inner: Block, outer: Block) -> Block:
    """Return where a block lies in a larger one."""
    rows, columns = (
        slice(a.start - b.start, a.stop - b.start) for a, b in zip(inner, outer, strict=True)
    )
    return rows, columns
