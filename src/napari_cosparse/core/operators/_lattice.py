"""Rectangles of evenly spaced pixels that hold the patch of an atom group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_FULL = 0.75  # of a lattice


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
