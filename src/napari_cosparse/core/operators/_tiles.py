"""Rectangles of an image that are worked on at a time and whose numbers stay in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

TILE_PRODUCTS = 1_000_000  # of one small matrix product: OpenBLAS has a fast kernel below
TILE_WIDTH = 2048
# Responses per tile. Smaller tiles are done so quickly that two threads spend their time on handing
# Python's lock to one another; larger ones leave the cache and cost each thread more memory.
TILE_NUMBERS = 450_000
TILE_ROWS = 96


@dataclass(frozen=True)
class Tile:
    """A rectangle of pixels, given by its first row and column and its size."""

    row: int
    column: int
    rows: int
    width: int

    @property
    def inside(self) -> tuple[slice, slice]:
        """Slices of the tile in the image."""
        return (
            slice(self.row, self.row + self.rows),
            slice(self.column, self.column + self.width),
        )


def tiles_of(first: int, last: int, width: int, atoms: int, taps: int = 1) -> Iterator[Tile]:
    """Cut the rows ``first`` to ``last`` of an image into tiles.

    Parameters
    ----------
    first, last : int
        Row interval, half open.
    width : int
        Width of the image, in pixels.
    atoms : int
        Number of responses per pixel: more atoms make smaller tiles.
    taps : int
        Number of coefficients of an atom: large atoms make narrower tiles.

    Yields
    ------
    Tile
        In row-major order; the cut depends on these numbers only.
    """
    parts = -(-width // min(TILE_WIDTH, max(64, TILE_PRODUCTS // (atoms * taps))))
    edges = [width * part // parts for part in range(parts + 1)]
    most = max(1, min(TILE_ROWS, TILE_NUMBERS // (atoms * -(-width // parts))))
    number = -(-(last - first) // most)
    rows = [first + (last - first) * part // number for part in range(number + 1)]
    for (row, end), (start, stop) in product(pairwise(rows), pairwise(edges)):
        yield Tile(row, start, end - row, stop - start)
