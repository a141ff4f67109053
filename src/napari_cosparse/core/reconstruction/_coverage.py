"""The part of the guide's grid that a target covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from napari_cosparse.core.types import Plane

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
    """

    window: tuple[slice, slice]
    shape: tuple[int, int]
    origin: tuple[float, float]

    @property
    def size(self) -> tuple[int, int]:
        """Shape of the window, in pixels."""
        rows, columns = self.window
        return rows.stop - rows.start, columns.stop - columns.start

    @property
    def whole(self) -> bool:
        """Whether the target covers the whole guide."""
        return self.size == self.shape

    def paste(self, image: Plane) -> Plane:
        """Put an image of the window onto the whole grid, NaN elsewhere.

        Parameters
        ----------
        image : ndarray, shape (rows, columns) of the window

        Returns
        -------
        ndarray, shape (N1, N2)
        """
        if self.whole:
            return image
        canvas = np.full(self.shape, np.nan, image.dtype)
        canvas[self.window] = image
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
