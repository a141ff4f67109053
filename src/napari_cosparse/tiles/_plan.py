"""Cut a plane into blocks: whole numbers only."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isqrt

from napari_cosparse.core.errors import InputError

from ._memory import in_words

BYTES_PER_PIXEL = 80  # of the solver (contract, "Memory")
LEAST_HALO = 32
HALO_PER_FACTOR = 6
CHUNK = 512  # of the stored result, about; pixels
LEAST_BLOCK = 64
GUIDE_CACHE = 80_000_000  # what small solves may take, so that they keep the guide's responses
BANK_BYTES = 4 * 64  # per pixel, of that, with the default bank
OVERHEAD = 64 << 20  # bytes: tiles of up to four threads, strips, libraries
COVERED = 4  # threads, of that
THREAD_BYTES = 14 << 20  # of the tiles of each further thread


@dataclass(frozen=True)
class Span:
    """One axis of a block.

    Attributes
    ----------
    core : slice
        Pixels that the block is responsible for.
    kept : slice
        Pixels that are kept for the cross-fade with its neighbours.
    window : slice
        Pixels that are solved.
    samples : slice
        Samples of the target that lie on the window with all of their kernel.
    origin : float
        Position of the first of them in the window, in pixels.
    """

    core: slice
    kept: slice
    window: slice
    samples: slice
    origin: float


@dataclass(frozen=True)
class Grid:
    """Where a target lies on its guide.

    Attributes
    ----------
    guide, target : tuple of int
        Shapes, in pixels.
    factor, origin : tuple of float
        Distance of two samples, and position of the first one, in guide pixels.
    reach : float
        Half width of a sample's kernel, in distances of samples.
    """

    guide: tuple[int, int]
    target: tuple[int, int]
    factor: tuple[float, float]
    origin: tuple[float, float]
    reach: float


@dataclass(frozen=True)
class Plan:
    """Blocks of a plane.

    Attributes
    ----------
    rows, columns : tuple of Span
        The blocks are all pairs of them.
    halo, fade : int
        Pixels around a block that are solved too, and those of them that are kept, at most.
    chunk : tuple of int
        Chunk of the stored result; blocks are made of whole ones.
    """

    rows: tuple[Span, ...]
    columns: tuple[Span, ...]
    halo: int
    fade: int
    chunk: tuple[int, int]

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Numbers of all blocks along rows and columns."""
        return [(i, j) for i in range(len(self.rows)) for j in range(len(self.columns))]


def estimate_bytes(
    shape: tuple[int, int],
    guide_bytes: float = 3.0,
    sample_bytes: float = 0.0,
    threads: int = 1,
) -> int:
    """Memory that a solve takes at most, its inputs included.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the result, in pixels.
    guide_bytes : float
        Bytes of the guide for each pixel.
    sample_bytes : float
        Bytes of the target for each pixel of the result.
    threads : int
        That solve it.

    Returns
    -------
    int
        Bytes.
    """
    pixels = shape[0] * shape[1]
    cache = max(0, min(pixels * BANK_BYTES, GUIDE_CACHE - BYTES_PER_PIXEL * pixels))
    plane = int(pixels * (BYTES_PER_PIXEL + guide_bytes + sample_bytes))
    return plane + cache + OVERHEAD + max(0, threads - COVERED) * THREAD_BYTES


def halo_for(factor: tuple[float, float]) -> int:
    """Halo of a block: at least max(32, 6 d), in pixels.

    Parameters
    ----------
    factor : tuple of float
        Distances of two samples, in guide pixels.

    Returns
    -------
    int
        A multiple of the factor, if that is whole.
    """
    least = max(LEAST_HALO, HALO_PER_FACTOR * max(factor))
    whole = ceil(max(factor) - 1e-9)
    return ceil(least / whole) * whole


def largest_block(
    memory: int, factor: tuple[float, float], guide_bytes: float, solves: int = 1
) -> int:
    """Side of the largest block whose solve stays within a budget.

    Parameters
    ----------
    memory : int
        Bytes for one solve.
    factor : tuple of float
        Distances of two samples, in guide pixels.
    guide_bytes : float
        Bytes of the guide for each pixel.
    solves : int
        How many solves there are at once, for the error.

    Returns
    -------
    int
        Pixels, without the halo.

    Raises
    ------
    InputError
        If the budget is too small.
    """
    halo = halo_for(factor)
    for share in range(64, 0, -1):  # with small ones the guide's cache counts too
        side = isqrt(int(memory / (BYTES_PER_PIXEL + guide_bytes))) * share // 64
        if side - 2 * halo < LEAST_BLOCK:
            break
        if estimate_bytes((side, side), guide_bytes, sample_bytes=1.0) <= memory:
            return side - 2 * halo
    least = LEAST_BLOCK + 2 * halo
    need = estimate_bytes((least, least), guide_bytes, sample_bytes=1.0)
    for_each = "for a block" if solves == 1 else f"for blocks in {solves} processes at once"
    raise InputError(
        f"memory of {in_words(memory * solves)} is too little {for_each}; give at least "
        f"{solves * need / 1e6 + 1:.0f} MB"
    )


def make_plan(grid: Grid, block: int | None) -> Plan:
    """Cut a plane.

    Parameters
    ----------
    grid : Grid
        Shapes and places.
    block : int or None
        Side of a block without its halo, in pixels, at most; None for one block.

    Returns
    -------
    Plan
    """
    halo, chunk = halo_for(grid.factor), _chunk(grid.factor)
    cuts, fade = [], halo // 2
    for axis in (0, 1):
        size = grid.guide[axis]
        step = size if block is None else max(chunk[axis] * (block // chunk[axis]), 0)
        if step == 0:  # smaller than a chunk: chunks as small as the blocks
            whole = ceil(grid.factor[axis] - 1e-9)
            step = max(whole, (block or size) // whole * whole)
            chunk = (step, chunk[1]) if axis == 0 else (chunk[0], step)
        starts = list(range(0, size, step))
        if len(starts) > 1 and size - starts[-1] < step // 4:
            starts.pop()  # a sliver joins its neighbour
        cuts.append(list(zip(starts, [*starts[1:], size], strict=True)))
        fade = min(fade, step // 4)  # no pixel belongs to more than two blocks along an axis
    rows, columns = (
        tuple(_span(grid, axis, *ends, halo, fade) for ends in cuts[axis]) for axis in (0, 1)
    )
    chunk = (min(chunk[0], grid.guide[0]), min(chunk[1], grid.guide[1]))
    return Plan(rows, columns, halo, fade, chunk)


def _chunk(factor: tuple[float, float]) -> tuple[int, int]:
    """Chunk of about 512 pixels that is a multiple of the factor, where that is whole."""
    wholes = [ceil(d - 1e-9) for d in factor]
    return wholes[0] * max(1, CHUNK // wholes[0]), wholes[1] * max(1, CHUNK // wholes[1])


def _span(grid: Grid, axis: int, first: int, last: int, halo: int, fade: int) -> Span:
    size, d, start = grid.guide[axis], grid.factor[axis], grid.origin[axis]
    window = slice(max(0, first - halo), min(size, last + halo))
    reach = grid.reach * d
    # A kernel that the window cuts would be reflected there; at the image's border it is anyway.
    lowest = 0 if window.start == 0 else ceil((window.start - 0.5 + reach - start) / d - 1e-6)
    highest = (
        grid.target[axis] - 1
        if window.stop == size
        else floor((window.stop - 0.5 - reach - start) / d + 1e-6)
    )
    samples = slice(max(0, lowest), max(0, min(grid.target[axis], highest + 1)))
    return Span(
        core=slice(first, last),
        kept=slice(max(0, first - fade), min(size, last + fade)),
        window=window,
        samples=samples,
        origin=start + samples.start * d - window.start,
    )
