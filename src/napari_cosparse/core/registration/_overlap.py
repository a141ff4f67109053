"""Soft weight of a moving pixel: 0 beyond the border and in masks, 1 well inside; smooth."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike
from scipy.ndimage import minimum_filter

from napari_cosparse.core.types import Mask, Plane

from ._spline import Spline

LEAST_RIM = 3.0  # pixels of the level
RIM_SHARE = 0.05  # of the image's side


class Overlap:
    """Weight as a function of the position in the moving image.

    Parameters
    ----------
    usable : ndarray, shape (h, w), bool
        Pixels of the moving image that may be used.
    radius : int
        Reach of the atoms: a pixel this near to an unusable one counts as unusable.
    dtype : dtype-like
        Arithmetic.
    faded : bool
        Fade towards the border. False where what is usable says where the image ends.
    """

    def __init__(
        self, usable: Mask, radius: int, dtype: DTypeLike = np.float32, *, faded: bool = True
    ) -> None:
        self.shape, self._faded = usable.shape, faded
        self.rims = [max(LEAST_RIM, RIM_SHARE * size) for size in self.shape]
        self.dtype = np.dtype(dtype)
        self._mask = None if usable.all() else _mask(usable, radius, self.dtype)

    def weigh(self, rows: Plane, columns: Plane) -> tuple[Plane, Plane, Plane]:
        """Weight and its derivatives.

        Parameters
        ----------
        rows, columns : ndarray, shape (...)
            Positions in pixels of the level.

        Returns
        -------
        weight, along_rows, along_columns : ndarray, shape (...)
            No unit, and per pixel.
        """
        first, slope_first = self._ramp(rows, 0)
        second, slope_second = self._ramp(columns, 1)
        weight, down, right = first * second, slope_first * second, first * slope_second
        if self._mask is None:
            return weight, down, right
        mask, mask_down, mask_right = self._mask.sample(rows, columns)
        return weight * mask, down * mask + weight * mask_down, right * mask + weight * mask_right

    def _ramp(self, positions: Plane, axis: int) -> tuple[Plane, Plane]:
        """Smoothstep from each border, and its slope."""
        if not self._faded:
            return np.ones(positions.shape, self.dtype), np.zeros(positions.shape, self.dtype)
        last, rim = self.shape[axis] - 1, self.rims[axis]
        if positions.min() >= rim and positions.max() <= last - rim:  # most tiles: well inside
            return np.ones(positions.shape, self.dtype), np.zeros(positions.shape, self.dtype)
        near = np.minimum(positions, last - positions)
        t = np.clip(near / rim, 0, 1).astype(self.dtype)
        sign = np.where(positions <= last - positions, 1, -1).astype(self.dtype)
        return t * t * (3 - 2 * t), sign * 6 * t * (1 - t) / self.dtype.type(rim)


def _mask(usable: Mask, radius: int, dtype: DTypeLike) -> Spline:
    # one pixel more, over which the weight falls to zero
    inner = minimum_filter(usable, 2 * radius + 3, mode="nearest") if radius else usable
    return Spline(inner.astype(float), interpolate=False, dtype=dtype)
