"""The moving image under a motion, at the sampled pixels, and how it changes with the motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from napari_cosparse.core.types import Plane

from ._frame import Frame, Matrix
from ._measures import Vector
from ._overlap import Overlap
from ._pyramid import Level
from ._samples import Samples
from ._spline import Spline


class Slopes(NamedTuple):
    """How a warped image changes with the motion.

    Attributes
    ----------
    gradient : ndarray, shape (2, blocks, s, s)
        Derivative of the values along rows and columns, per unit of length.
    place : ndarray, shape (2, blocks, s, s)
        Normalised positions y in the moving image.
    weight_gradient : ndarray, shape (2, blocks, b, b)
        Derivatives of the weight, per unit of length.
    """

    gradient: Plane
    place: Plane
    weight_gradient: Plane


@dataclass(frozen=True)
class Warped:
    """Moving image at the blocks of the fixed one, and how it changes with the motion.

    Attributes
    ----------
    values : ndarray, shape (blocks, s, s)
        Moving image at every pixel of the blocks.
    weight : ndarray, shape (blocks, b, b)
        Overlap weight of the blocks' centres, times the fixed image's.
    slopes : callable
        Gives `Slopes`, and computes them once: about half of all evaluations need none.
    """

    values: Plane
    weight: Plane
    slopes: Callable[[], Slopes]

    def masked(self, kept: Plane) -> Warped:
        """Weigh the centres once more.

        Parameters
        ----------
        kept : ndarray, shape (blocks, b, b)
            Factors.

        Returns
        -------
        Warped
        """

        def slopes() -> Slopes:
            found = self.slopes()
            return found._replace(weight_gradient=found.weight_gradient * kept)

        return Warped(self.values, self.weight * kept, cache(slopes))

    def moments(self, factors: Plane, *, each: bool = False) -> Vector:
        """Sum factor times gradient (x) [y; 1]: the r of the paper's appendix.

        Parameters
        ----------
        factors : ndarray, shape (n, blocks, s, s)
            One factor per pixel, for n quantities.
        each : bool
            Sum over each block alone.

        Returns
        -------
        ndarray, shape (n, 2, 3) or (blocks, n, 2, 3), float64
        """
        slopes = self.slopes()
        return _moments(factors, slopes.gradient, slopes.place, each=each)

    def weight_moments(self, factors: Plane, *, each: bool = False) -> Vector:
        """Sum factor times the weight's gradient (x) [y; 1].

        Parameters
        ----------
        factors : ndarray, shape (n, blocks, b, b)
            One factor per centre, for n quantities.
        each : bool
            Sum over each block alone.

        Returns
        -------
        ndarray, shape (n, 2, 3) or (blocks, n, 2, 3), float64
        """
        slopes = self.slopes()
        radius = (self.values.shape[1] - self.weight.shape[1]) // 2
        inner = slice(radius, radius + self.weight.shape[1])
        place = slopes.place[..., inner, inner]
        return _moments(factors, slopes.weight_gradient, place, each=each)

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
        gradient, place, _ = self.slopes()
        for element in basis.astype(self.values.dtype):
            total = np.zeros_like(self.values)
            for axis in range(2):
                step = element[axis, 0] * place[0] + element[axis, 1] * place[1]
                total += gradient[axis] * (step + element[axis, 2])
            yield total


def _moments(factors: Plane, gradient: Plane, place: Plane, *, each: bool) -> Vector:
    sets = len(place[0]) if each else 1
    flat = factors.reshape(-1, sets, place[0].size // sets)
    where = place.reshape(2, *flat.shape[1:]).transpose(1, 2, 0)
    out = np.empty((sets, len(flat), 2, 3))
    for axis in range(2):
        pulled = flat * gradient[axis].reshape(flat.shape[1:])
        out[:, :, axis, :2] = pulled.swapaxes(0, 1) @ where
        out[:, :, axis, 2] = pulled.sum(2, dtype=np.float64).T
    return out if each else out[0]


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
        places = self._places(tau, samples)
        reading = self._spline.read(*places)
        side = places.shape[-1] - 2 * radius
        centres = places[..., radius : radius + side, radius : radius + side]
        weight, *weight_slopes = self._overlap.weigh(*centres)

        def slopes() -> Slopes:
            unit = np.asarray(self.frame.radius / self.scale, self.dtype)
            return Slopes(
                np.stack(reading.slopes()) * unit,
                _positions(self._normal(tau), samples, self.dtype),
                np.stack(weight_slopes) * (samples.weight * unit),
            )

        return Warped(reading.value, weight * samples.weight, cache(slopes))

    def _normal(self, tau: Matrix) -> Matrix:
        """Motion from pixels of the fixed level to normalised positions y, shape (2, 3)."""
        (down, right), radius = self.frame.centre_fixed, self.frame.radius
        into = [[self.scale, 0, -down], [0, self.scale, -right], [0, 0, radius]]
        return np.asarray(tau[:2] @ (np.array(into, np.float64) / radius))

    def _places(self, tau: Matrix, samples: Samples) -> NDArray[np.float64]:
        """Places in the level's array, shape (2, blocks, s, s)."""
        motion = self.frame.radius * self._normal(tau)
        motion[:, 2] += self.frame.centre_moving
        places = np.asarray(_positions(motion / self.scale, samples, np.float64), np.float64)
        if self._windows is None or samples.window is None:
            return places
        inside = places - self._windows.shifts[samples.window].T[:, :, None, None]
        # a place beyond its own window must not fall into the next one
        first = np.zeros((2, len(samples), 1, 1))
        first[0, :, 0, 0] = samples.window * self._windows.side
        return np.clip(inside, first, first + (self._windows.side - 1))


def _positions(motion: Matrix, samples: Samples, dtype: DTypeLike) -> Plane:
    """Where a motion, shape (2, 3), takes the pixels of blocks: shape (2, blocks, s, s)."""
    side = samples.rows.shape[1]
    out = np.empty((2, len(samples), side, side), dtype)
    for place, (down, right, shift) in zip(out, motion, strict=True):
        rows, columns = down * samples.rows + shift, right * samples.columns
        np.add(rows[:, :, None], columns[:, None, :], out=place, casting="same_kind")
    return out
