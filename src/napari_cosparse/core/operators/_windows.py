"""Tiles of an image as columns of patches and back: the two memory movements of the operator.

A tile holds its patches as ``(rows, taps, width)``: tap-major, so that one batched small matrix
product applies all atoms to it and stays in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from napari_cosparse.core.types import Plane

from ._lattice import Lattice, lattice_of
from ._pair import AtomGroup
from ._program import Program
from ._tiles import Tile


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
        self._margin = margin
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

    def gather(self, program: Program, padded: Plane, tile: Tile) -> Plane:
        """Copy the patches of a tile.

        Parameters
        ----------
        program : Program
            Gets the calls.
        padded : ndarray, shape (rows, width)
            Image with its margin.
        tile : Tile
            In coordinates of the image without margin.

        Returns
        -------
        ndarray, shape (tile.rows, taps, tile.width)
            Holds them once the program has run.
        """
        patches = program.memory.plane("patches", (tile.rows, self.taps, tile.width), padded.dtype)
        if self._lattice is None:
            for tap, pixels in enumerate(self._pixels(padded, tile)):
                program.add(np.copyto, patches[:, tap], pixels)
            return patches
        step = self._lattice.step
        top, left = self._starts[0]
        down, right = padded.strides
        view: Plane = np.ndarray(
            (tile.rows, *self._lattice.shape, tile.width),
            padded.dtype,
            padded,
            (tile.row + top) * down + (tile.column + left) * right,
            (down, down * step, right * step, right),
        )
        program.add(np.copyto, patches.reshape(view.shape), view)
        return patches

    def _pixels(self, padded: Plane, tile: Tile) -> list[Plane]:
        """Pixels of a tile as each tap sees them."""
        starts = [(tile.row + top, tile.column + left) for top, left in self._starts]
        return [
            padded[row : row + tile.rows, column : column + tile.width] for row, column in starts
        ]

    def scatter(
        self, program: Program, coefficients: Plane, responses: Plane, padded: Plane, tile: Tile
    ) -> None:
        """Add ``coefficients.T @ responses`` to the pixels that `gather` took: its exact adjoint.

        What a pixel gets is added from the top: the rows at which tiles end change no bit.

        Parameters
        ----------
        program : Program
            Gets the calls.
        coefficients : ndarray, shape (k, taps)
            Atoms, see `embed`.
        responses : ndarray, shape (tile.rows, k, tile.width)
            One number per atom and pixel.
        padded : ndarray, shape (rows, width) or (parts, rows, width)
            Image with margin; changed in place. Or parts of it, of equal heights, one below the
            other, each with a margin of its own: such parts are to be added up.
        tile : Tile
            In coordinates of the image without margin.
        """
        if self._lattice is not None:
            self._scatter_lattice(program, self._lattice, coefficients, responses, padded, tile)
            return
        patches = program.memory.plane("patches", (tile.rows, self.taps, tile.width), padded.dtype)
        program.add(np.matmul, coefficients.T, responses, patches)
        for whole, rows, first in self._parts(padded, tile):
            for tap in sorted(range(self.taps), key=lambda tap: -self._starts[tap][0]):
                top, left = first + self._starts[tap][0], tile.column + self._starts[tap][1]
                pixels = whole[top : top + rows.stop - rows.start, left : left + tile.width]
                program.add(np.add, pixels, patches[rows, tap], pixels)

    def _parts(self, padded: Plane, tile: Tile) -> Iterator[tuple[Plane, slice, int]]:
        """Parts that a tile lies on: each of them, rows of the tile, and its first row there."""
        if padded.ndim == 2:
            yield padded, slice(0, tile.rows), tile.row
            return
        height = padded.shape[1] - 2 * self._margin
        for number in range(tile.row // height, -(-(tile.row + tile.rows) // height)):
            first = max(tile.row, number * height)
            last = min(tile.row + tile.rows, (number + 1) * height)
            rows = slice(first - tile.row, last - tile.row)
            yield padded[number], rows, first - number * height

    def _scatter_lattice(
        self,
        program: Program,
        lattice: Lattice,
        coefficients: Plane,
        responses: Plane,
        padded: Plane,
        tile: Tile,
    ) -> None:
        (down, right), step = lattice.shape, lattice.step
        width = tile.width + (right - 1) * step
        # Zeros behind each tap's row let one skewed view line up all horizontal shifts, so that
        # a single contiguous sum replaces shifted additions.
        buffer = program.memory.plane("patches", (tile.rows, self.taps, width), padded.dtype)
        program.add(np.copyto, buffer[:, :, tile.width :], 0)
        program.add(np.matmul, coefficients.T, responses, buffer[:, :, : tile.width])
        size = buffer.itemsize
        skewed: Plane = np.ndarray(
            (tile.rows, down, right, width),
            buffer.dtype,
            buffer,
            0,
            (self.taps * width * size, right * width * size, (width - step) * size, size),
        )
        summed = program.memory.plane("summed", (tile.rows, down, width), padded.dtype)
        program.add(np.add.reduce, skewed, 2, None, summed)
        top, left = self._starts[0]
        column = tile.column + left
        for whole, rows, first in self._parts(padded, tile):
            for line in reversed(range(down)):
                row = first + top + line * step
                pixels = whole[row : row + rows.stop - rows.start, column : column + width]
                program.add(np.add, pixels, summed[rows, line], pixels)
