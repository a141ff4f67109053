"""Arithmetic with planes that are cut into cells, each with scalars of its own.

A product of two planes is one number for each cell, and so is the factor of a plane in a sum. All
of it runs through a `Map`, in bands that are whole rows of cells: neither the number of threads
nor the height of the bands changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.bands import PIXELS
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.types import Plane

T = TypeVar("T")
Scalars = NDArray[np.float64]  # shape (rows of cells, columns of cells)
Sums = list[NDArray[np.float64]]  # of one row of cells, for each product

SIDE = 64  # pixels (docs/decisions, "Curvature cell by cell")


class Cells:
    """Planes cut into cells of 64 x 64 pixels, at the border of the plane 32 to 95.

    What changes a plane also multiplies it by the next one, while the row of cells is in the
    cache: the way to the memory is what threads have to share.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the planes.
    map_ : callable
        Like the built-in `map`; changes no bit.
    corner : tuple of int
        Where the planes begin in a larger one, in pixels: its cells are met.
    """

    def __init__(
        self, shape: tuple[int, ...], map_: Map = map, corner: tuple[int, int] = (0, 0)
    ) -> None:
        starts = [_cuts(size, first) for size, first in zip(shape, corner, strict=True)]
        ends = [*starts[0][1:], shape[0]]
        self.shape = len(starts[0]), len(starts[1])
        self._rows = [slice(*row) for row in zip(starts[0], ends, strict=True)]
        self._starts, self._sizes = starts[1], np.diff([*starts[1], shape[1]])
        together = max(1, PIXELS // (SIDE * shape[1]))  # rows of cells in a band
        numbers = range(len(self._rows))
        self._bands = [numbers[i : i + together] for i in numbers[::together]]
        self._map = map_

    def products(self, a: Plane, b: Plane) -> Scalars:
        """Sum of products in each cell: down its rows in float32, then in float64."""
        return self._totals(lambda rows, _: [self._sums(a[rows], b[rows])])[0]

    def sum(self, a: Plane, b: Plane) -> Plane:
        """Return a new plane a + b."""
        out = np.empty(a.shape, a.dtype)
        self._each(lambda rows, _: np.add(a[rows], b[rows], out=out[rows]))
        return out

    def scale(self, a: Plane, factor: np.float32) -> None:
        """Multiply a by a number, in place."""
        self._each(lambda rows, _: np.multiply(a[rows], factor, out=a[rows]))

    def weigh(self, a: Plane, weights: Plane, factors: Scalars) -> None:
        """Multiply a by weights and by the factors of the cells, in place."""
        wide = self._wide(factors)

        def work(rows: slice, number: int) -> None:
            a[rows] *= weights[rows]
            a[rows] *= wide[number]

        self._each(work)

    def negative(self, a: Plane, other: Plane) -> tuple[Plane, Scalars]:
        """Return a new plane -a, and its products with another one."""
        out = np.empty(a.shape, a.dtype)

        def work(rows: slice, _: int) -> Sums:
            return [self._sums(np.negative(a[rows], out=out[rows]), other[rows])]

        return out, self._totals(work)[0]

    def add(self, a: Plane, factors: Scalars, b: Plane, other: Plane) -> Scalars:
        """Add multiples of b to a, in place, and return the products of a with another plane."""
        wide = self._wide(factors)

        def work(rows: slice, number: int) -> Sums:
            a[rows] += wide[number] * b[rows]
            return [self._sums(a[rows], other[rows])]

        return self._totals(work)[0]

    def take_from(self, a: Plane, b: Plane, other: Plane, weights: Plane) -> list[Scalars]:
        """Turn b into a - b, in place, and return its products.

        With another plane, with itself, and with itself under weights; and the other plane's with
        itself.
        """

        def work(rows: slice, _: int) -> Sums:
            change, step = np.subtract(a[rows], b[rows], out=b[rows]), other[rows]
            pairs = (change, step), (change, change), (change, weights[rows] * change), (step, step)
            return [self._sums(*pair) for pair in pairs]

        return self._totals(work)

    def _sums(self, a: Plane, b: Plane) -> NDArray[np.float64]:
        """Products in one row of cells: down its rows first, which runs along the memory."""
        return np.add.reduceat(np.einsum("ij,ij->j", a, b), self._starts, dtype=np.float64)

    def _wide(self, factors: Scalars) -> Plane:
        """Factors of the pixels of a row, for each row of cells."""
        return np.repeat(factors.astype(np.float32), self._sizes, axis=1)

    def _totals(self, work: Callable[[slice, int], Sums]) -> list[Scalars]:
        """Call a function for each row of cells, and put together what it sums."""
        rows = self._each(work)
        return [np.array(sums) for sums in zip(*rows, strict=True)]

    def _each(self, work: Callable[[slice, int], T]) -> list[T]:
        """Call a function for each row of cells, band by band."""

        def band(numbers: range) -> list[T]:
            return [work(self._rows[number], number) for number in numbers]

        return [found for part in self._map(band, self._bands) for found in part]


def _cuts(size: int, first: int) -> list[int]:
    """Where the cells of an axis begin: a piece smaller than half a cell joins its neighbour."""
    whole = range(-first % SIDE, size, SIDE)
    return [0, *(cut for cut in whole if SIDE // 2 <= cut <= size - SIDE // 2)]
