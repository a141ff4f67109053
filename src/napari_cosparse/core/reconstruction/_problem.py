"""The reconstruction problem that all solvers share: prior, bounds, samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.bands import each_band, row_products, total
from napari_cosparse.core.mapping import once
from napari_cosparse.core.types import Plane

from ._fidelity import ExactFidelity, SoftFidelity
from ._holes import large_holes, without_gaps
from ._interpolate import bicubic, fill_nearest
from ._prior import Prior
from ._sampling_protocol import Sampling
from ._scalars import Scalars
from ._scale import Scaled

T = TypeVar("T")

# Strength of the penalty outside the measured range, in units of 1/eps^2: it stiffens with the
# prior, since thin structures push harder as eps shrinks.
BOUND_STRENGTH = 0.1
OVERSHOOT = 0.02  # of the range: what the contract allows
CLIP_ROUNDS = 200
RELAXATION = np.float32(1.9)  # alternating projections converge for less than 2, faster than with 1


@dataclass(frozen=True, eq=False)
class Problem:
    """Target samples in units of their range, and the prior on the image behind them.

    Attributes
    ----------
    sampling : Sampling
        Phi.
    target : Scaled
        Samples, which of them are known, and their unit.
    prior : Prior
        Coupled co-sparsity with the guide.
    noise : float
        Standard deviation of the samples' noise, in ranges; 0 for exact samples.
    weights : ndarray, shape (m1, m2), float32
        Confidence of the samples; 0 where unknown.
    responses : float
        K of the contract: sum of the atoms' weights times the number of pixels.
    whole : Scalars or None
        Of the image that this one is a part of.
    corner : tuple of int
        First row and column in that image, in pixels.
    """

    sampling: Sampling
    target: Scaled
    prior: Prior
    noise: float
    weights: Plane
    responses: float
    whole: Scalars | None = None
    corner: tuple[int, int] = (0, 0)

    def interpolated(self) -> Plane:
        """Bicubic start: interpolation of the known samples, in ranges.

        Returns
        -------
        ndarray, shape (N1, N2), float32
        """
        filled = once(self.prior.map_, fill_nearest, self.target.samples, self.target.known)
        return bicubic(filled, self.sampling)

    def holes(self) -> NDArray[np.bool_] | None:
        """Pixels in large holes between known samples; None if there are none.

        Returns
        -------
        ndarray, shape (N1, N2), bool, or None
        """
        return once(self.prior.map_, large_holes, self.weights > 0, self.sampling)

    @cached_property
    def exact(self) -> ExactFidelity:
        """The constraint of exact samples."""
        return ExactFidelity(self.sampling, self.target.samples, self.target.known)

    @property
    def soft(self) -> SoftFidelity:
        """The soft term of noisy samples."""
        return SoftFidelity(self.sampling, self.target.samples, self.weights)

    @cached_property
    def bounds(self) -> tuple[np.float32, np.float32]:
        """Smallest and largest known sample, in ranges."""
        if self.whole is not None:
            return np.float32(self.whole.limits[0]), np.float32(self.whole.limits[1])
        known = self.target.samples[self.target.known]
        return known.min(), known.max()

    @cached_property
    def density(self) -> float:
        """K / m of the contract: weighted responses for each known sample, as `Scalars` has it."""
        if self.whole is not None:
            return self.whole.density
        known, inside = self.weights > 0, self.sampling.inside
        share = np.count_nonzero(
            once(self.prior.map_, without_gaps, known) & inside
        ) / np.count_nonzero(inside)
        return self.responses * share / np.count_nonzero(known)

    def excess(self, image: Plane, slack: float = 0.0) -> Plane:
        """How far each pixel lies outside the bounds, with its sign.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32
            In ranges.
        slack : float
            Width added to the bounds, in ranges.

        Returns
        -------
        ndarray, shape (N1, N2), float32
        """
        low, high = self.bounds
        return image - np.clip(image, low - np.float32(slack), high + np.float32(slack))

    def bounded_prior(self, image: Plane, eps: float) -> tuple[float, Plane]:
        """Prior plus the smooth penalty outside the bounds: cost and gradient.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32
            In ranges.
        eps : float
            Smoothing of the logarithm, in ranges.

        Returns
        -------
        cost : float
        gradient : ndarray, shape (N1, N2), float32
        """
        cost, gradient = self.prior.evaluate(image, eps)
        strength = BOUND_STRENGTH / eps**2

        def work(rows: slice) -> Plane:
            excess = self.excess(image[rows])
            gradient[rows] += np.float32(2 * strength) * excess
            return row_products(excess, excess)

        return cost + strength * total(self._each(work)), gradient

    def _each(self, work: Callable[[slice], T]) -> list[T]:
        """Call a function for each band of the image."""
        return each_band(work, self.prior.shape, self.prior.map_)

    def bounded_curvature(self, image: Plane, eps: float) -> Plane:
        """Diagonal that majorises the Hessian of `bounded_prior`.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32
            In ranges.
        eps : float
            Smoothing of the logarithm, in ranges.

        Returns
        -------
        ndarray, shape (N1, N2), float32
        """
        curvature = self.prior.curvature(image, eps)

        def work(rows: slice) -> None:
            outside = self.excess(image[rows]) != 0
            curvature[rows] += np.float32(2 * BOUND_STRENGTH / eps**2) * outside

        self._each(work)
        return curvature

    def within_bounds(self, image: Plane) -> Plane:
        """Clip to the bounds, and back onto exact samples, until both hold or rounds end.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32
            In ranges; changed.

        Returns
        -------
        ndarray, shape (N1, N2), float32
            The same plane. Exact samples are kept exactly, at the price of the bounds if the two
            conflict.
        """
        slack = OVERSHOOT / 2
        if self.noise:
            self._withdraw(image, slack, np.float32(1))
            return image
        for _ in range(CLIP_ROUNDS):
            if self.overshoot(image, slack) <= slack / 2:
                break
            self._withdraw(image, slack, RELAXATION)
            self.exact.to_point(image)
        return image

    def overshoot(self, image: Plane, slack: float = 0.0) -> float:
        """Largest distance of a pixel from the bounds.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32
            In ranges.
        slack : float
            Width added to the bounds, in ranges.

        Returns
        -------
        float
            In ranges.
        """
        return max(self._each(lambda rows: float(np.abs(self.excess(image[rows], slack)).max())))

    def _withdraw(self, image: Plane, slack: float, share: np.float32) -> None:
        """Move pixels outside the bounds towards them, in place."""

        def work(rows: slice) -> None:
            image[rows] -= share * self.excess(image[rows], slack)

        self._each(work)
