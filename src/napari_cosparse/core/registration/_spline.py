"""Cubic B-spline interpolation of an image at any points, with its analytic derivative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.ndimage import spline_filter

from napari_cosparse.core.types import Plane

MARGIN = 4  # samples kept beyond each border, so that 4 x 4 neighbourhoods never need a test
TINY = 1e-12  # of the largest coefficient: far below float32's resolution, far above its smallest


@dataclass(frozen=True)
class Reading:
    """An image at some positions, and its derivatives for who asks.

    Attributes
    ----------
    value : ndarray, shape (...)
        In the image's unit.
    """

    value: Plane
    _near: Plane  # (4, 4, n): the coefficients around each position
    _line: Plane  # (4, n): those, weighted along each row
    _down: Plane  # (4, n)
    _steps: tuple[Plane, Plane]  # (n,): distances from the whole positions before
    _moves: tuple[Plane, Plane]  # (n,): 0 where the function is constant

    def slopes(self) -> tuple[Plane, Plane]:
        """Differentiate at the same positions.

        Returns
        -------
        along_rows, along_columns : ndarray, shape (...)
            Per pixel.
        """
        down, right = (
            cubic_slopes(t) * moves for t, moves in zip(self._steps, self._moves, strict=True)
        )
        along_rows = np.einsum("in,in->n", down, self._line)
        along_columns = np.einsum(
            "in,in->n", self._down, np.einsum("jn,ijn->in", right, self._near)
        )
        return along_rows.reshape(self.value.shape), along_columns.reshape(self.value.shape)


class Spline:
    """An image as a smooth function of position; mirrored about its border pixels.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        Samples at whole positions. Any unit.
    interpolate : bool
        Pass through the samples. False uses them as coefficients: a smooth function within their
        range, which suits weights.
    dtype : dtype-like
        Arithmetic.
    """

    def __init__(
        self, image: Plane, *, interpolate: bool = True, dtype: DTypeLike = np.float32
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.shape = image.shape
        samples = np.asarray(image, np.float64)
        if interpolate and min(image.shape) > 1:
            samples = _without_tails(spline_filter(samples, 3, mode="mirror"))
        small = min(image.shape) <= MARGIN
        padded = np.pad(samples, MARGIN, mode="edge" if small else "reflect")
        self._width = padded.shape[1]
        self._flat = np.ascontiguousarray(padded, self.dtype).ravel()
        self._taps = np.add.outer(np.arange(4) * self._width, np.arange(4)).ravel().tolist()

    def sample(self, rows: Plane, columns: Plane) -> tuple[Plane, Plane, Plane]:
        """Value and derivatives at some positions.

        Parameters
        ----------
        rows, columns : ndarray, shape (...)
            Positions in pixels. Beyond the border the function goes on constantly.

        Returns
        -------
        value, along_rows, along_columns : ndarray, shape (...)
            In the image's unit, and per pixel.
        """
        found = self.read(rows, columns)
        return (found.value, *found.slopes())

    def read(self, rows: Plane, columns: Plane) -> Reading:
        """Value at some positions; derivatives later, if at all.

        Parameters
        ----------
        rows, columns : ndarray, shape (...)
            Positions in pixels.

        Returns
        -------
        Reading
            Holds 24 numbers for each position.
        """
        first, below, moves_down = self._split(rows.ravel(), self.shape[0])
        second, after, moves_right = self._split(columns.ravel(), self.shape[1])
        start = (first + (MARGIN - 1)) * self._width + (second + (MARGIN - 1))
        near = np.empty((4, 4, len(start)), self.dtype)
        for tap, out in zip(self._taps, near.reshape(16, -1), strict=True):
            # all places are inside; only "clip" writes to `out` without a buffer
            self._flat[tap:].take(start, out=out, mode="clip")
        line = np.einsum("jn,ijn->in", cubic_weights(after), near)
        down = cubic_weights(below)
        value = np.einsum("in,in->n", down, line).reshape(rows.shape)
        return Reading(value, near, line, down, (below, after), (moves_down, moves_right))

    def _split(
        self, positions: NDArray[np.floating], size: int
    ) -> tuple[NDArray[np.int64], Plane, Plane]:
        """Whole position before each, the distance from it, and whether the function changes."""
        inside = np.clip(positions, -2.0, size + 1.0)
        whole = np.floor(inside)
        step = (inside - whole).astype(self.dtype)
        return whole.astype(np.int64), step, (inside == positions).astype(self.dtype)


def cubic_weights(t: Plane) -> Plane:
    """Cubic B-spline at the four whole positions around one.

    Parameters
    ----------
    t : ndarray, shape (n,)
        Distance from the second of the four, in [0, 1].

    Returns
    -------
    ndarray, shape (4, n)
        Weights; they sum to one.
    """
    s = 1 - t
    out = np.empty((4, *t.shape), t.dtype)
    t2, s2 = t * t, s * s
    np.multiply(s2, s, out=out[0])
    np.multiply(t2, t, out=out[3])
    np.subtract(4, 3 * t2 * (2 - t), out=out[1])
    np.subtract(4, 3 * s2 * (2 - s), out=out[2])
    out /= 6
    return out


def cubic_slopes(t: Plane) -> Plane:
    """Differentiate `cubic_weights`.

    Parameters
    ----------
    t : ndarray, shape (n,)
        Distance from the second of the four, in [0, 1].

    Returns
    -------
    ndarray, shape (4, n)
        Derivatives; they sum to zero.
    """
    s = 1 - t
    out = np.empty((4, *t.shape), t.dtype)
    np.multiply(s, -s, out=out[0])
    np.multiply(t, 3 * t - 4, out=out[1])
    np.multiply(s, 4 - 3 * s, out=out[2])
    np.multiply(t, t, out=out[3])
    out /= 2
    return out


def _without_tails(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Set to 0 what decays into a dark background: arithmetic is 10 times slower below 1e-38."""
    size = np.abs(samples)
    samples[size < TINY * size.max()] = 0
    return samples
