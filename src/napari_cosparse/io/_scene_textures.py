"""Paint for the sample scene: patterns in space that know nothing of depth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Pattern = Callable[[NDArray[np.float64]], NDArray[np.float64]]  # points (n, 3) -> 0..1 (n,)

_CORNERS = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), -1).reshape(-1, 3)
_TABLE = 4096


def stripes(direction: NDArray[np.float64]) -> Pattern:
    """Return sharp stripes across a direction; its length is the number of periods per unit."""
    return lambda points: ((points @ direction) % 1 < 0.5).astype(float)


def checks(frequency: NDArray[np.float64]) -> Pattern:
    """Return a chequered pattern with so many periods per unit along each axis."""
    return lambda points: np.floor(2 * points * frequency + 0.25).sum(1) % 2


def clouds(frequency: float, rng: np.random.Generator, octaves: int = 4) -> Pattern:
    """Return smooth value noise, each octave finer and weaker than the last."""
    table = rng.random(_TABLE)

    def pattern(points: NDArray[np.float64]) -> NDArray[np.float64]:
        layers = [
            _noise(points * frequency * 2**o + 17.3 * o, table) / 2**o for o in range(octaves)
        ]
        return _stretch(sum(layers, np.zeros(len(points))) / (2 - 2.0 ** (1 - octaves)))

    return pattern


def rings(frequency: float, rng: np.random.Generator) -> Pattern:
    """Return wobbly rings around an axis, as wood has them."""
    wobble = clouds(1.5, rng, 2)
    return lambda points: (
        0.5 + 0.5 * np.sin(2 * np.pi * (frequency * np.hypot(*points[:, :2].T) + wobble(points)))
    )


def _stretch(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spread sums of noise, which crowd around a half, over 0..1."""
    return np.clip(0.5 + 1.7 * (values - 0.5), 0, 1)


def _noise(points: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Interpolate random values at integer positions smoothly."""
    cell = np.floor(points).astype(np.int64)
    part = points - cell
    smooth = part**2 * (3 - 2 * part)
    total = np.zeros(len(points))
    for corner in _CORNERS:
        weight = np.where(corner == 1, smooth, 1 - smooth).prod(1)
        total += weight * table[_hash(cell + corner)]
    return total


def _hash(cell: NDArray[np.int64]) -> NDArray[np.int64]:
    """Scatter integer positions over the table (integer arithmetic wraps, as is wanted)."""
    mixed = cell[:, 0] * 73856093 ^ cell[:, 1] * 19349663 ^ cell[:, 2] * 83492791
    return ((mixed ^ mixed >> 13) * 1274126177 >> 8) % _TABLE
