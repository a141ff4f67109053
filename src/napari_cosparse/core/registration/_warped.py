"""The moving image under a motion, at the sampled pixels, and how it changes with the motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from napari_cosparse.core.types import Plane

from ._frame import Frame, Matrix
from ._overlap import Overlap
from ._pyramid import Level
from ._samples import Samples
from ._spline import Spline


@dataclass(frozen=True)
class Warped:
    """Moving image at the blocks of the fixed one, and how it changes with the motion.

    Attributes
    ----------
    values : ndarray, shape (blocks, s, s)
        Moving image at every pixel of the blocks.
    gradient : ndarray, shape (2, blocks, s, s)
        Its derivative along rows and columns, per unit of length.
    place : ndarray, shape (2, blocks, s, s)
        Normalised positions y in the moving image.
    weight : ndarray, shape (blocks, b, b)
        Overlap weight of the blocks' centres, times the fixed image's.
    weight_gradient : ndarray, shape (2, blocks, b, b)
        Its derivatives, per unit of length.
    """

    values: Plane
    gradient: Plane
    place: Plane
    weight: Plane
    weight_gradient: Plane

    @property
    def _centres(self) -> Plane:
        radius = (self.values.shape[1] - self.weight.shape[1]) // 2
        stop = radius + self.weight.shape[1]
        return self.place[..., radius:stop, radius:stop]

    def moments(self, factors: Plane) -> NDArray[np.float64]:
        """Sum factor times gradient (x) [y; 1]: the r of the paper's appendix.

        Parameters
        ----------
        factors : ndarray, shape (n, blocks, s, s)
            One factor per pixel, for n quantities.

        Returns
        -------
        ndarray, shape (n, 2, 3), float64
        """
        return _moments(factors, self.gradient, self.place)

    def weight_moments(self, factors: Plane) -> NDArray[np.float64]:
        """Sum factor times the weight's gradient (x) [y; 1].

        Parameters
        ----------
        factors : ndarray, shape (n, centres)
            One factor per centre, for n quantities.

        Returns
        -------
        ndarray, shape (n, 2, 3), float64
        """
        return _moments(factors, self.weight_gradient, self._centres)

    def along(self, basis: NDArray[np.float64]) -> Iterator[Plane]:
        """Change of the values along elements of the algebra.

        Parameters
        ----------
        basis : ndarray, shape (d, 3, 3)
            Elements H.

        Yields
        ------
        ndarray, shape (blocks, s, s)
            Inner product of the gradient with H y.
        """
        for element in basis.astype(self.values.dtype):
            total = np.zeros_like(self.values)
            for axis in range(2):
                step = element[axis, 0] * self.place[0] + element[axis, 1] * self.place[1]
                total += self.gradient[axis] * (step + element[axis, 2])
            yield total


def _moments(factors: Plane, gradient: Plane, place: Plane) -> NDArray[np.float64]:
    pixels = gradient[0].size
    flat = factors.reshape(-1, pixels)
    where = place.reshape(2, pixels)
    out = np.empty((len(flat), 2, 3))
    for axis in range(2):
        pulled = flat * gradient[axis].reshape(pixels)
        out[:, axis, :2] = pulled @ where.T
        out[:, axis, 2] = pulled.sum(1, dtype=np.float64)
    return out


class Moving:
    """One level of the moving image, ready to be sampled.

    Parameters
    ----------
    level : Level
        Moving image.
    frame : Frame
        Centres and unit of length, in pixels of the finest level.
    radius : int
        Reach of the atoms, in pixels.
    dtype : dtype-like
        Arithmetic; float64 serves checks.
    """

    def __init__(
        self,
        level: Level,
        frame: Frame,
        radius: int,
        dtype: DTypeLike = np.float32,
    ) -> None:
        self.scale, self.frame = level.scale, frame
        self.dtype = np.dtype(dtype)
        exact = self.dtype != np.float32
        self._spline = Spline(level.image, dtype=dtype) if exact else level.spline
        self._windows = level.windows
        self._overlap = Overlap(level.usable, radius, dtype, faded=level.windows is None)

    def warp(self, tau: Matrix, samples: Samples) -> Warped:
        """Sample the moving image where a motion takes the fixed pixels.

        Parameters
        ----------
        tau : ndarray, shape (3, 3)
            Group element, acts on normalised coordinates.
        samples : Samples
            Pixels of the fixed image, same level.

        Returns
        -------
        Warped
            With what the derivatives along exp(t H) tau at t = 0 need (the paper's appendix).
        """
        radius = samples.radius
        moved = self._moved(tau, samples)
        places = self._level_pixels(moved, samples)
        values, *gradient = self._spline.sample(*places)
        side = moved.shape[-1] - 2 * radius
        centres = places[..., radius : radius + side, radius : radius + side]
        weight, *slopes = self._overlap.weigh(*centres)
        unit = np.asarray(self.frame.radius / self.scale, self.dtype)
        return Warped(
            values,
            np.stack(gradient) * unit,
            moved.astype(self.dtype),
            weight * samples.weight,
            np.stack(slopes) * (samples.weight * unit),
        )

    def _moved(self, tau: Matrix, samples: Samples) -> NDArray[np.float64]:
        """Normalised positions in the moving image, shape (2, blocks, s, s)."""
        centre, radius = self.frame.centre_fixed, self.frame.radius
        rows = (samples.rows * self.scale - centre[0]) / radius
        columns = (samples.columns * self.scale - centre[1]) / radius
        return np.stack(
            [
                (line[0] * rows + line[2])[:, :, None] + (line[1] * columns)[:, None, :]
                for line in tau[:2]
            ]
        )

    def _level_pixels(self, moved: NDArray[np.float64], samples: Samples) -> NDArray[np.float64]:
        """Places in the level's array, shape (2, blocks, s, s)."""
        centre, radius = self.frame.centre_moving, self.frame.radius
        places = np.stack([(centre[axis] + radius * moved[axis]) / self.scale for axis in (0, 1)])
        if self._windows is None or samples.window is None:
            return places
        inside = places - self._windows.shifts[samples.window].T[:, :, None, None]
        # a place beyond its own window must not fall into the next one
        first = np.zeros((2, len(samples), 1, 1))
        first[0, :, 0, 0] = samples.window * self._windows.side
        return np.clip(inside, first, first + (self._windows.side - 1))
