"""Tiles of an image as columns of patches and back: the two memory movements of the operator.

A tile holds its patches as ``(rows, taps, width)``: tap-major, so that one batched small matrix
product applies all atoms to it and stays in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import as_strided

from napari_cosparse.core.types import Plane

from ._pair import AtomGroup

TILE_WIDTH = 512  # 50 atoms x 25 taps x 512: OpenBLAS has a fast kernel for products below 1e6
TILE_NUMBERS = 160_000  # responses per tile: with their weights they stay in a 1 MiB cache
TILE_ROWS = 32


@dataclass(frozen=True)
class Tile:
    """A rectangle of pixels, given by its first row and column and its size."""

    row: int
    column: int
    rows: int
    width: int


def tiles_of(first: int, last: int, width: int, atoms: int) -> Iterator[Tile]:
    """Cut the rows ``first`` to ``last`` of an image into tiles.

    Parameters
    ----------
    first, last : int
        Row interval, half open.
    width : int
        Width of the image, in pixels.
    atoms : int
        Number of responses per pixel: more atoms make smaller tiles.

    Yields
    ------
    Tile
        In row-major order; the cut depends on these four numbers only.
    """
    parts = -(-width // TILE_WIDTH)
    edges = [width * part // parts for part in range(parts + 1)]
    rows = max(1, min(TILE_ROWS, TILE_NUMBERS // (atoms * -(-width // parts))))
    for row in range(first, last, rows):
        for start, stop in pairwise(edges):
            yield Tile(row, start, min(rows, last - row), stop - start)


class Windows:
    """Gather and scatter of the patches of one atom group on a padded image.

    Parameters
    ----------
    group : AtomGroup
        Gives the offsets.
    margin : int
        Padding of the image on every side, in pixels; at least the group's radius.
    """

    def __init__(self, group: AtomGroup, margin: int) -> None:
        self.taps = len(group.offsets)
        self._starts = [(margin + int(r), margin + int(c)) for r, c in group.offsets]
        self._square = group.side_and_dilation

    def gather(self, padded: Plane, tile: Tile) -> Plane:
        """Copy the patches of a tile.

        Parameters
        ----------
        padded : ndarray, shape (rows, width)
            Image with its margin.
        tile : Tile
            In coordinates of the image without margin.

        Returns
        -------
        ndarray, shape (tile.rows, taps, tile.width)
        """
        if self._square is None:
            return self._gather_taps(padded, tile)
        side, step = self._square
        top, left = self._starts[0]
        corner = padded[tile.row + top :, tile.column + left :]
        down, right = padded.strides
        view = as_strided(
            corner,
            (tile.rows, side, side, tile.width),
            (down, down * step, right * step, right),
            writeable=False,
        )
        return view.reshape(tile.rows, self.taps, tile.width)

    def _gather_taps(self, padded: Plane, tile: Tile) -> Plane:
        patches = np.empty((tile.rows, self.taps, tile.width), padded.dtype)
        for tap, (top, left) in enumerate(self._starts):
            row, column = tile.row + top, tile.column + left
            patches[:, tap] = padded[row : row + tile.rows, column : column + tile.width]
        return patches

    def scatter(self, coefficients: Plane, responses: Plane, padded: Plane, tile: Tile) -> None:
        """Add ``coefficients.T @ responses`` to the pixels that `gather` took: its exact adjoint.

        Parameters
        ----------
        coefficients : ndarray, shape (k, taps)
            Atoms.
        responses : ndarray, shape (tile.rows, k, tile.width)
            One number per atom and pixel.
        padded : ndarray, shape (rows, width)
            Image with margin; changed in place.
        tile : Tile
            In coordinates of the image without margin.
        """
        if self._square is None:
            patches = np.matmul(coefficients.T, responses)
            for tap, (top, left) in enumerate(self._starts):
                row, column = tile.row + top, tile.column + left
                padded[row : row + tile.rows, column : column + tile.width] += patches[:, tap]
            return
        self._scatter_square(coefficients, responses, padded, tile)

    def _scatter_square(
        self, coefficients: Plane, responses: Plane, padded: Plane, tile: Tile
    ) -> None:
        assert self._square is not None  # noqa: S101 - narrows the type for the checker
        side, step = self._square
        reach = (side - 1) * step
        width = tile.width + reach
        # Zeros behind each tap's row let one skewed view line up all horizontal shifts, so that
        # a single contiguous sum replaces side**2 shifted additions.
        buffer = np.empty((tile.rows, self.taps, width), padded.dtype)
        buffer[:, :, tile.width :] = 0
        np.matmul(coefficients.T, responses, out=buffer[:, :, : tile.width])
        size = buffer.itemsize
        skewed = as_strided(
            buffer,
            (tile.rows, side, side, width),
            (self.taps * width * size, side * width * size, (width - step) * size, size),
            writeable=False,
        )
        summed = np.add.reduce(skewed, axis=2)
        top, left = self._starts[0]
        column = tile.column + left
        for down in range(side):
            row = tile.row + top + down * step
            padded[row : row + tile.rows, column : column + width] += summed[:, down]
