"""The samples around a position and their shares, for each order of interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._spline import cubic_weights

Positions = NDArray[np.float64]
Indices = NDArray[np.intp]

ORDERS = {"nearest": 1, "linear": 2, "cubic": 4}
"""Name of the interpolation and its samples along an axis."""


def taps(positions: Positions, size: int, order: str) -> tuple[Indices, Positions]:
    """Find the samples around positions along one axis, and their shares.

    Parameters
    ----------
    positions : ndarray, shape (n,)
        In pixels; in the half pixel beyond the outer centres the outer pixel goes on.
    size : int
        Pixels of the image along the axis.
    order : {"nearest", "linear", "cubic"}
        Interpolation.

    Returns
    -------
    indices : ndarray, shape (taps, n)
        Pixels of the image, mirrored about its outer centres.
    shares : ndarray, shape (taps, n)
        They sum to one. For cubic they belong to the coefficients of the B-spline.
    """
    inside = np.clip(positions, 0, size - 1)
    if order == "nearest":
        return nearest(inside, size)[None], np.ones((1, len(inside)))
    whole = np.floor(inside)
    t = inside - whole
    first = whole.astype(np.intp)
    if order == "linear":
        return np.stack([first, np.minimum(first + 1, size - 1)]), np.stack([1 - t, t])
    indices = first + np.arange(-1, 3)[:, None]
    return _mirror(indices, size), np.asarray(cubic_weights(t), np.float64)


def nearest(positions: Positions, size: int) -> Indices:
    """Find the pixel that each position lies in, shape (n,); ties go up, except at the end."""
    return np.clip(np.floor(positions + 0.5), 0, size - 1).astype(np.intp)


def _mirror(indices: Indices, size: int) -> Indices:
    if size == 1:
        return np.zeros_like(indices)
    beyond = np.abs(indices)  # at most two pixels, of an axis of at least two
    last = size - 1
    folded = np.where(beyond > last, 2 * last - beyond, beyond)
    return np.clip(folded, 0, last)


def blend(
    values: NDArray[Any],
    rows: tuple[Indices, Positions],
    columns: tuple[Indices, Positions],
    unknown: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Add up the samples around positions by their shares.

    Parameters
    ----------
    values : ndarray, shape (h, w, channels)
        Samples, or coefficients of a spline.
    rows, columns : tuple of ndarray, shape (taps, n)
        What `taps` gives, indices into `values`.
    unknown : ndarray of bool, shape (h, w, channels), optional
        Samples to leave out; the others share their weight. Zero where there are no others.

    Returns
    -------
    ndarray, shape (n, channels), float64
        In the unit of `values`.
    """
    total = np.zeros((rows[0].shape[1], values.shape[2]))
    missing = np.zeros_like(total)
    for row, down in zip(*rows, strict=True):
        for column, right in zip(*columns, strict=True):
            share = np.broadcast_to((down * right)[:, None], total.shape)
            sample = values[row, column].astype(np.float64)
            if unknown is not None:
                out = unknown[row, column]
                missing[out] += share[out]
                sample[out] = 0
            total += share * sample
    # only where something is missing: a sum of shares that is 1 +- round-off must not touch others
    known = 1 - missing
    np.divide(total, known, out=total, where=(missing > 0) & (known > 0))
    return total
