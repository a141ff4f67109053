"""Tiles of an image as columns of patches and back: the two memory movements of the operator.

A tile holds its patches as ``(rows, taps, width)``: tap-major, so that one batched small matrix
product applies all atoms to it and stays in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from napari_cosparse.core.types import Plane

from ._pair import AtomGroup

TILE_PRODUCTS = 1_000_000  # of one small matrix product: OpenBLAS has a fast kernel below
TILE_WIDTH = 1024
# Responses per tile. Twice as many leave the cache; half as many are done so quickly that two
# threads spend their time on handing Python's lock to one another.
TILE_NUMBERS = 300_000
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
    rows = max(1, min(TILE_ROWS, TILE_NUMBERS // (atoms * -(-width // parts))))
    for row in range(first, last, rows):
        for start, stop in pairwise(edges):
            yield Tile(row, start, min(rows, last - row), stop - start)


class Store:
    """Memory that tiles use one after the other: new arrays for each would cost page faults.

    One store serves one thread.
    """

    def __init__(self) -> None:
        self._lines: dict[str, Plane] = {}

    def plane(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Plane:
        """Give memory for an array; what was there before under the same name is lost.

        Parameters
        ----------
        name : str
            Purpose of the array.
        shape : tuple of int
            Its shape.
        dtype : dtype
            Its type.

        Returns
        -------
        ndarray
            Any values.
        """
        size = prod(shape)
        line = self._lines.get(name)
        if line is None or line.size < size or line.dtype != dtype:
            line = self._lines[name] = np.empty(size, dtype)
        return line[:size].reshape(shape)


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

    def gather(self, padded: Plane, tile: Tile, store: Store | None = None) -> Plane:
        """Copy the patches of a tile.

        Parameters
        ----------
        padded : ndarray, shape (rows, width)
            Image with its margin.
        tile : Tile
            In coordinates of the image without margin.
        store : Store, optional
            Where the result may live.

        Returns
        -------
        ndarray, shape (tile.rows, taps, tile.width)
        """
        shape = (tile.rows, self.taps, tile.width)
        patches = (store or Store()).plane("patches", shape, padded.dtype)
        if self._square is None:
            return self._gather_taps(padded, tile, patches)
        side, step = self._square
        top, left = self._starts[0]
        down, right = padded.strides
        # not as_strided: its Python code holds the interpreter's lock for longer than the copy
        view: Plane = np.ndarray(
            (tile.rows, side, side, tile.width),
            padded.dtype,
            padded,
            (tile.row + top) * down + (tile.column + left) * right,
            (down, down * step, right * step, right),
        )
        np.copyto(patches.reshape(view.shape), view)
        return patches

    def _gather_taps(self, padded: Plane, tile: Tile, patches: Plane) -> Plane:
        for tap, (top, left) in enumerate(self._starts):
            row, column = tile.row + top, tile.column + left
            patches[:, tap] = padded[row : row + tile.rows, column : column + tile.width]
        return patches

    def scatter(
        self,
        coefficients: Plane,
        responses: Plane,
        padded: Plane,
        tile: Tile,
        store: Store | None = None,
    ) -> None:
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
        store : Store, optional
            Where intermediate results may live.
        """
        store = store or Store()
        if self._square is None:
            patches = store.plane("patches", (tile.rows, self.taps, tile.width), padded.dtype)
            np.matmul(coefficients.T, responses, out=patches)
            for tap, (top, left) in enumerate(self._starts):
                row, column = tile.row + top, tile.column + left
                padded[row : row + tile.rows, column : column + tile.width] += patches[:, tap]
            return
        self._scatter_square(coefficients, responses, padded, tile, store)

    def _scatter_square(
        self, coefficients: Plane, responses: Plane, padded: Plane, tile: Tile, store: Store
    ) -> None:
        assert self._square is not None  # noqa: S101 - narrows the type for the checker
        side, step = self._square
        reach = (side - 1) * step
        width = tile.width + reach
        # Zeros behind each tap's row let one skewed view line up all horizontal shifts, so that
        # a single contiguous sum replaces side**2 shifted additions.
        buffer = store.plane("patches", (tile.rows, self.taps, width), padded.dtype)
        buffer[:, :, tile.width :] = 0
        np.matmul(coefficients.T, responses, out=buffer[:, :, : tile.width])
        size = buffer.itemsize
        skewed: Plane = np.ndarray(
            (tile.rows, side, side, width),
            buffer.dtype,
            buffer,
            0,
            (self.taps * width * size, side * width * size, (width - step) * size, size),
        )
        summed = store.plane("summed", (tile.rows, side, width), padded.dtype)
        np.add.reduce(skewed, axis=2, out=summed)
        top, left = self._starts[0]
        column = tile.column + left
        for down in range(side):
            row = tile.row + top + down * step
            padded[row : row + tile.rows, column : column + width] += summed[:, down]
