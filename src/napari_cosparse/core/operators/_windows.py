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
from numpy.typing import NDArray

from napari_cosparse.core.types import Plane

from ._pair import AtomGroup

TILE_PRODUCTS = 1_000_000  # of one small matrix product: OpenBLAS has a fast kernel below
TILE_WIDTH = 1024
# Responses per tile. Twice as many leave the cache; half as many are done so quickly that two
# threads spend their time on handing Python's lock to one another.
TILE_NUMBERS = 300_000
TILE_ROWS = 96
LEAST_FULL = 0.75  # of a lattice


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


@dataclass(frozen=True)
class Lattice:
    """A rectangle of evenly spaced pixels that holds the patch of a group.

    Attributes
    ----------
    first : tuple of int
        Offset of its first pixel, row and column.
    shape : tuple of int
        Pixels along rows and columns.
    step : int
        Their distance, in pixels.
    order : tuple of int
        Place of each of the group's pixels in the rectangle, in C order.
    """

    first: tuple[int, int]
    shape: tuple[int, int]
    step: int
    order: tuple[int, ...]

    @property
    def taps(self) -> int:
        """Number of its pixels."""
        return self.shape[0] * self.shape[1]


def lattice_of(offsets: NDArray[np.int64]) -> Lattice | None:
    """Find the rectangle that holds a patch with few holes.

    Copying it, zeros and all, is one long movement instead of one for each pixel of the patch:
    faster, and threads hand Python's lock to one another less often.

    Parameters
    ----------
    offsets : ndarray, shape (n, 2), int
        Row and column offsets of a group's pixels.

    Returns
    -------
    Lattice or None
        None where more than a quarter of the rectangle would be holes.
    """
    first, last = offsets.min(0), offsets.max(0)
    step = int(np.gcd.reduce((offsets - first).ravel())) or 1
    shape = (last - first) // step + 1
    if len(offsets) < LEAST_FULL * shape.prod():
        return None
    places = (offsets - first) // step
    order = tuple(int(row * shape[1] + column) for row, column in places)
    return Lattice((int(first[0]), int(first[1])), (int(shape[0]), int(shape[1])), step, order)


class Store:
    """Memory that tiles use one after the other: new arrays for each would cost page faults.

    One store serves one thread.
    """

    def __init__(self) -> None:
        self._lines: dict[str, Plane] = {}
        self._planes: dict[tuple[str, tuple[int, ...], np.dtype[Any]], Plane] = {}

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
        key = (name, shape, dtype)
        if key not in self._planes:  # few shapes come again and again
            self._planes[key] = self._cut(name, shape, dtype)
        return self._planes[key]

    def _cut(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Plane:
        size = prod(shape)
        line = self._lines.get(name)
        if line is None or line.size < size or line.dtype != dtype:
            line = self._lines[name] = np.empty(size, dtype)
            self._planes = {key: p for key, p in self._planes.items() if key[0] != name}
        return line[:size].reshape(shape)


class Windows:
    """Gather and scatter of the patches of one atom group on a padded image.

    Parameters
    ----------
    group : AtomGroup
        Gives the offsets.
    margin : int
        Padding of the image on every side, in pixels; at least the group's radius.

    Attributes
    ----------
    taps : int
        Pixels of a patch. Those of a lattice are more than the group's where it has holes.
    """

    def __init__(self, group: AtomGroup, margin: int) -> None:
        self._lattice = lattice_of(group.offsets)
        self.taps = len(group.offsets) if self._lattice is None else self._lattice.taps
        self._starts = [(margin + int(r), margin + int(c)) for r, c in group.offsets]
        if self._lattice is not None:
            top, left = self._lattice.first
            self._starts = [(margin + top, margin + left)]

    def embed(self, coefficients: Plane) -> Plane:
        """Order coefficients as `gather` orders the pixels of a patch; zeros fill holes.

        Parameters
        ----------
        coefficients : ndarray, shape (k, offsets of the group)

        Returns
        -------
        ndarray, shape (k, taps)
        """
        if self._lattice is None:
            return coefficients
        out = np.zeros((len(coefficients), self.taps), coefficients.dtype)
        out[:, self._lattice.order] = coefficients
        return out

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
        if self._lattice is None:
            return self._gather_taps(padded, tile, patches)
        step = self._lattice.step
        top, left = self._starts[0]
        down, right = padded.strides
        # not as_strided: its Python code holds the interpreter's lock for longer than the copy
        view: Plane = np.ndarray(
            (tile.rows, *self._lattice.shape, tile.width),
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
            Atoms, see `embed`.
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
        if self._lattice is None:
            patches = store.plane("patches", (tile.rows, self.taps, tile.width), padded.dtype)
            np.matmul(coefficients.T, responses, out=patches)
            for tap, (top, left) in enumerate(self._starts):
                row, column = tile.row + top, tile.column + left
                padded[row : row + tile.rows, column : column + tile.width] += patches[:, tap]
            return
        self._scatter_lattice(self._lattice, coefficients, responses, padded, tile, store)

    def _scatter_lattice(
        self,
        lattice: Lattice,
        coefficients: Plane,
        responses: Plane,
        padded: Plane,
        tile: Tile,
        store: Store,
    ) -> None:
        (down, right), step = lattice.shape, lattice.step
        reach = (right - 1) * step
        width = tile.width + reach
        # Zeros behind each tap's row let one skewed view line up all horizontal shifts, so that
        # a single contiguous sum replaces shifted additions.
        buffer = store.plane("patches", (tile.rows, self.taps, width), padded.dtype)
        buffer[:, :, tile.width :] = 0
        np.matmul(coefficients.T, responses, out=buffer[:, :, : tile.width])
        size = buffer.itemsize
        skewed: Plane = np.ndarray(
            (tile.rows, down, right, width),
            buffer.dtype,
            buffer,
            0,
            (self.taps * width * size, right * width * size, (width - step) * size, size),
        )
        summed = store.plane("summed", (tile.rows, down, width), padded.dtype)
        np.add.reduce(skewed, axis=2, out=summed)
        top, left = self._starts[0]
        column = tile.column + left
        for line in range(down):
            row = tile.row + top + line * step
            padded[row : row + tile.rows, column : column + width] += summed[:, line]
