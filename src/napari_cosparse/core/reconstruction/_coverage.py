"""The part of the guide's grid that a target covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.bands import bands
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.rounding import unknown_value
from napari_cosparse.core.types import Plane

from ._turned_kernels import positions

SLACK = 1e-6  # samples: positions are exact to rounding only
COARSE = 64  # samples along an axis that are looked at first: they decide nearly always
BEYOND = 2.0  # samples: how far outside the target the model may continue it (contract)


@dataclass(frozen=True)
class Coverage:
    """A rectangle of guide pixels and the target's place in it.

    Attributes
    ----------
    window : tuple of slice
        Rows and columns of the guide.
    shape : tuple of int
        Shape of the whole guide, in pixels.
    origin : tuple of float
        Position of target sample (0, 0) in the window, in pixels.
    turned : tuple of ndarray and tuple of int, or None
        Pixel of the window to sample, shape (3, 3), and shape of a target that is turned against
        the guide: it covers a part of the window only.
    """

    window: tuple[slice, slice]
    shape: tuple[int, int]
    origin: tuple[float, float]
    turned: tuple[NDArray[np.float64], tuple[int, int]] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Shape of the window, in pixels."""
        rows, columns = self.window
        return rows.stop - rows.start, columns.stop - columns.start

    @property
    def pixels(self) -> float:
        """How many pixels of the window the target covers, about."""
        rows, columns = self.size
        if self.turned is None:
            return rows * columns
        matrix, target = self.turned
        most = (target[0] + 2 * BEYOND) * (target[1] + 2 * BEYOND)
        return min(rows * columns, most / abs(float(np.linalg.det(matrix[:2, :2]))))

    @property
    def whole(self) -> bool:
        """Whether the target covers the whole guide."""
        if self.turned is None or self.size != self.shape:
            return self.size == self.shape
        ends = (0, self.shape[0] - 1)  # a rectangle is covered if its corners are
        return bool(np.all([self._covered(slice(row, row + 1))[[0, -1]] for row in ends]))

    def _covered(self, rows: slice) -> NDArray[np.bool_]:
        """Which pixels of some rows of the window lie within two samples of a turned target."""
        assert self.turned is not None  # noqa: S101 - narrows the type for the checker
        matrix, target = self.turned
        places = positions(matrix, rows, self.size[1])
        covered = np.ones(places.shape[1], bool)
        for line, m in zip(places, target, strict=True):
            covered &= (line >= -0.5 - BEYOND - SLACK) & (line <= m - 0.5 + BEYOND + SLACK)
        return covered

    def unknown_in(self, dtype: np.dtype[Any], invalid: float | None) -> float:
        """Value of a result where the target does not reach.

        Parameters
        ----------
        dtype : dtype
            Of the result.
        invalid : float or None
            Value of the target that means unknown.

        Returns
        -------
        float
            NaN, or of integers the invalid value; NaN too if there is no such pixel.

        Raises
        ------
        InputError
            If there is one, and the type cannot mark it.
        """
        value = unknown_value(dtype, invalid)
        if value is None and not self.whole:
            raise InputError(
                f"dtype 'input' ({dtype}) cannot mark the pixels that the target does not "
                "cover as unknown; use dtype 'float32', or give `invalid`, the value that marks "
                "unknown samples"
            )
        return float("nan") if value is None else value

    def paste(self, image: Plane, unknown: float = float("nan")) -> Plane:
        """Put an image of the window onto the whole grid.

        Parameters
        ----------
        image : ndarray, shape (rows, columns) of the window
        unknown : float
            What the other pixels get.

        Returns
        -------
        ndarray, shape (N1, N2)
        """
        if self.whole:
            return image
        canvas = np.full(self.shape, unknown, image.dtype)
        part = canvas[self.window]
        part[:] = image
        if self.turned is not None:
            for rows in bands(self.size):
                part[rows][~self._covered(rows).reshape(-1, self.size[1])] = unknown
        return canvas


def cover(
    guide: tuple[int, int],
    target: tuple[int, int],
    factor: tuple[float, float],
    origin: tuple[float, float] | None,
) -> Coverage | None:
    """Find the guide pixels within two samples of a target.

    Parameters
    ----------
    guide, target : tuple of int
        Shapes, in pixels.
    factor : tuple of float
        Distances of two samples, in guide pixels.
    origin : tuple of float or None
        Position of sample (0, 0) on the guide's grid; None if the target covers all of it.

    Returns
    -------
    Coverage or None
        None where no sample lies on the guide.
    """
    if origin is None:
        return Coverage((slice(0, guide[0]), slice(0, guide[1])), guide, (0.0, 0.0))
    window = []
    for n, m, d, start in zip(guide, target, factor, origin, strict=True):
        places = start + d * np.arange(m)
        if not ((places > -0.5 - d / 2) & (places < n - 0.5 + d / 2)).any():
            return None
        edge = (0.5 + BEYOND) * d
        first = max(0, int(np.ceil(start - edge - 1e-6)))
        last = min(n, int(np.floor(start + (m - 1) * d + edge + 1e-6)) + 1)
        window.append(slice(first, last))
    rows, columns = window
    return Coverage((rows, columns), guide, (origin[0] - rows.start, origin[1] - columns.start))


def cover_turned(
    guide: tuple[int, int], target: tuple[int, int], matrix: NDArray[np.float64]
) -> Coverage | None:
    """Find the guide pixels within two samples of a target that is turned against the guide.

    Parameters
    ----------
    guide, target : tuple of int
        Shapes, in pixels.
    matrix : ndarray, shape (3, 3)
        Maps guide pixel (row, column, 1) to sample (row, column, 1).

    Returns
    -------
    Coverage or None
        None where no sample lies on the guide.
    """
    back = np.linalg.inv(matrix).astype(np.float64)
    steps = max(1, target[0] // COARSE), max(1, target[1] // COARSE)
    if not any(_any_on(guide, target, back, each) for each in (steps, (1, 1))):
        return None
    edge = 0.5 + BEYOND
    ends = np.array(
        [[a, b, 1] for a in (-edge, target[0] - 1 + edge) for b in (-edge, target[1] - 1 + edge)]
    )
    corners = (ends @ back.T)[:, :2]
    low = np.maximum(np.ceil(corners.min(0) - SLACK), 0).astype(int)
    high = np.minimum(np.floor(corners.max(0) + SLACK) + 1, guide).astype(int)
    rows, columns = slice(int(low[0]), int(high[0])), slice(int(low[1]), int(high[1]))
    inner = matrix.copy()
    inner[:2, 2] += matrix[:2, :2] @ low
    return Coverage(
        (rows, columns), guide, (back[0, 2] - low[0], back[1, 2] - low[1]), (inner, target)
    )


def _any_on(
    guide: tuple[int, int],
    target: tuple[int, int],
    back: NDArray[np.float64],
    steps: tuple[int, int],
) -> bool:
    """Whether one of the samples lies on the guide, or one of every few."""
    rows, columns = (np.arange(0, m, step) for m, step in zip(target, steps, strict=True))
    on = np.ones((len(rows), len(columns)), bool)
    for (a, b, c), n in zip(back[:2], guide, strict=True):
        place = a * rows[:, None] + b * columns + c
        on &= (place > -0.5) & (place < n - 0.5)
    return bool(on.any())
