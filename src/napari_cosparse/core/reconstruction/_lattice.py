"""Values on a lattice: integers of a sensor, whatever unit and offset they were given since.

Counting steps instead of dividing rounded numbers makes the scaled target the same bit for bit
for a*x + b; the problem is not convex, so that a last bit can move single pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LARGEST = 1 << 16  # steps: the counts of 16-bit sensors
MOST = 2 * LARGEST + 2  # levels: of more, two lie too near each other for their width
PART = 1 << 18  # values that are looked at at a time
LOOSE = 0.05  # of a step: farther off it is no lattice
TOLERANCE = 5e-5  # of the range: counting moves no sample farther than that


@dataclass(frozen=True)
class Lattice:
    """Evenly spaced levels.

    Attributes
    ----------
    first, step : float
        Smallest level, and distance of two levels, in the values' unit.
    """

    first: float
    step: float

    def count(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Whole number of steps from the first level to each value.

        Parameters
        ----------
        values : ndarray, float64

        Returns
        -------
        ndarray, float64
        """
        return np.round((values - self.first) / self.step)


def find_lattice(values: NDArray[np.float64]) -> Lattice | None:
    """Find the lattice that all values lie on.

    Parameters
    ----------
    values : ndarray, shape (n,), float64
        At least one.

    Returns
    -------
    Lattice or None
        None for a single level, and where there is no lattice of up to 65536 levels.
    """
    levels = _levels(values)
    if not 2 <= len(levels) <= MOST:
        return None
    first, width = float(levels[0]), float(levels[-1] - levels[0])
    smallest = float(np.diff(levels).min())
    if width > 2 * LARGEST * smallest:  # rounding may have shrunk the smallest gap
        return None
    step = _refined(levels - first, smallest)
    off = np.abs((levels - first) / step - np.round((levels - first) / step)).max()
    exact = off < LOOSE and off * step < TOLERANCE * width
    return Lattice(first, step) if exact else None


def _levels(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Different values, sorted; not all of them where they are too many for a lattice."""
    levels = np.empty(0)
    for start in range(0, len(values), PART):
        levels = np.unique(np.concatenate([levels, values[start : start + PART]]))
        if len(levels) > MOST:
            break
    return levels


def _refined(heights: NDArray[np.float64], step: float) -> float:
    """Improve a step over ever longer stretches."""
    reach = 8
    while reach <= LARGEST:
        last = float(heights[heights <= (reach + 0.5) * step][-1])
        count = round(last / step)
        step = last / count if count else step
        reach *= 8
    return step
