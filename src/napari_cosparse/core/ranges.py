"""The range of an image: the unit in which thresholds and scales are given."""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .mapping import Map

LOW, HIGH = 0.01, 0.99
PART = 1 << 20  # of many values, looked at at a time
LARGE = 1 << 22  # values; more are not sorted at once
SAMPLE = 1 << 16  # of them show about where a quantile lies
AROUND = 1 << 10  # of these on either side: forty deviations of a random choice


def robust_range(values: NDArray[Any], map_: Map = map) -> tuple[float, float]:
    """Low end and width of the range of an image's valid pixels (contract, "Range").

    Parameters
    ----------
    values : ndarray, shape (n,)
        Valid pixels, in the image's unit.
    map_ : callable
        Like the built-in `map`; changes no bit.

    Returns
    -------
    low : float
        1 % quantile; 0 if there are no pixels.
    range : float
        1-99 % quantile range; max - min where that is 0; 1 for a constant. Positive.
    """
    if not values.size:
        return 0.0, 1.0
    # quantiles of narrow integers overflow in NumPy, and float16 has no digits to interpolate
    numbers = values.astype(np.result_type(values.dtype, np.float32), copy=False)
    if numbers.dtype == np.float64 and numbers.size > LARGE:
        low, high = (_quantile(numbers, share, map_) for share in (LOW, HIGH))
    else:
        low, high = (float(value) for value in np.quantile(numbers, (LOW, HIGH)))
    return low, (high - low) or (float(numbers.max()) - float(numbers.min())) or 1.0


def _quantile(values: NDArray[np.float64], share: float, map_: Map) -> float:
    """Do what `np.quantile` does, to the last bit, without sorting all at once."""
    places = np.random.default_rng(0).integers(0, values.size, SAMPLE)  # they change no bit
    sample = np.sort(values[places])
    middle = int(share * sample.size)
    low, high = sample[max(0, middle - AROUND)], sample[min(sample.size - 1, middle + AROUND)]

    def look(start: int) -> tuple[tuple[int, int, int], NDArray[np.float64]]:
        part = values[start : start + PART]
        below, lowest, highest = part < low, part == low, part == high
        counts = int(below.sum()), int(lowest.sum()), int(highest.sum())
        return counts, part[(part > low) & (part < high)]

    looked = list(map_(look, range(0, values.size, PART)))
    below, lowest, highest = (sum(counts) for counts in zip(*(c for c, _ in looked), strict=True))
    between = np.sort(np.concatenate([part for _, part in looked]))
    place = share * (values.size - 1)
    around = [
        _nth(floor(place) + after - below, (low, lowest), between, (high, highest))
        for after in (0, 1)
    ]
    if None in around:  # hardly ever
        return float(np.quantile(values, share))
    return float(np.quantile(np.array(around), place - floor(place)))


def _nth(
    number: int, first: tuple[float, int], between: NDArray[np.float64], last: tuple[float, int]
) -> float | None:
    """Smallest but so many of sorted values between two that occur several times."""
    if number < 0:
        return None
    if number < first[1]:
        return first[0]
    number -= first[1]
    if number < between.size:
        return float(between[number])
    return last[0] if number - between.size < last[1] and last[0] > first[0] else None
