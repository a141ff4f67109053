"""Positions whose patches may be drawn, and the draw."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ._images import Mask

Bits = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Part:
    """Positions in a rectangle of an image, one bit each.

    Attributes
    ----------
    row, column : int
        Place of the first one.
    shape : tuple of int
        Rows and columns of positions.
    bits : ndarray, uint8
        Which of them may be drawn, packed.
    count : int
        How many these are.
    """

    row: int
    column: int
    shape: tuple[int, int]
    bits: Bits
    count: int

    @classmethod
    def of(cls, mask: Mask, row: int = 0, column: int = 0) -> Part:
        """Pack a mask, shape (h, w), whose first position lies at (row, column)."""
        shape = mask.shape[0], mask.shape[1]
        return cls(row, column, shape, np.packbits(mask), int(np.count_nonzero(mask)))

    def common(self, other: Part) -> Part:
        """Positions that another part in the same place has too."""
        bits = self.bits & other.bits
        return replace(self, bits=bits, count=int(np.count_nonzero(np.unpackbits(bits))))

    def positions(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Row and column of some of those that may be drawn, given by their number.

        Parameters
        ----------
        numbers : ndarray, shape (n,), int
            In reading order, from 0.

        Returns
        -------
        ndarray, shape (n, 2), int64
        """
        mask = np.unpackbits(self.bits, count=self.shape[0] * self.shape[1])
        places = np.unravel_index(np.flatnonzero(mask)[numbers], self.shape)
        found: NDArray[np.int64] = np.stack(places, axis=1) + np.array([self.row, self.column])
        return found


def draw_positions(parts: list[Part], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw positions without replacement, each one with the same probability.

    Parameters
    ----------
    parts : list of Part
        What to choose from.
    count : int
        Number of positions; at most as many as there are.
    rng : numpy.random.Generator
        Source of the random numbers.

    Returns
    -------
    ndarray, shape (count, 2), int64
        Row and column of the top left pixels, part by part in reading order.
    """
    if not count:
        return np.zeros((0, 2), np.int64)
    ends = np.cumsum([part.count for part in parts])
    chosen = np.sort(rng.choice(int(ends[-1]), count, replace=False, shuffle=False))
    cuts = np.searchsorted(chosen, ends)
    first, found = 0, []
    for part, end, last in zip(parts, ends, cuts, strict=True):
        if last > first:
            found.append(part.positions(chosen[first:last] - (int(end) - part.count)))
        first = last
    return np.concatenate(found)
