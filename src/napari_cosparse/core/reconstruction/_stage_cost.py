"""One stage's cost of the default solver, and what the prior weighs in it."""

from __future__ import annotations

import numpy as np

from napari_cosparse.core.bands import each_band
from napari_cosparse.core.types import Plane

from ._problem import Problem
from ._recipe import effective_factor

LAMBDA_PER_VARIANCE = 8.0  # up to factor 4; in proportion to the factor from there on
MOST_NOISE = 1e6  # ranges: from there on samples say nothing, and squares stay finite


def prior_weight(problem: Problem, least_noise: float = 0.0) -> float:
    """Lambda of the contract's noisy cost, from the noise and the factor.

    Parameters
    ----------
    problem : Problem
        Gives both.
    least_noise : float
        Smallest noise that is believed, in ranges: a misfit far stiffer than the prior would
        leave the solver no room.

    Returns
    -------
    float
        ``8 sigma^2 max(1, d / 4)``, in squared ranges.
    """
    d = effective_factor(problem.sampling.factor)
    noise = min(max(problem.noise, least_noise), MOST_NOISE)
    return LAMBDA_PER_VARIANCE * noise**2 * max(1.0, d / 4)


class StageCost:
    """One stage's cost: the bounded prior, plus the misfit of noisy samples.

    With noise it is ``prior + ||Phi s - y||^2 K / (lambda m)`` (contract, "Noisy", divided by
    lambda m / K), so that the prior's scale is the same with and without noise.

    Parameters
    ----------
    problem : Problem
        Prior, bounds and samples.
    eps : float
        Smoothing of the logarithm, in ranges.

    Attributes
    ----------
    evaluations : int
        Calls so far.
    """

    def __init__(self, problem: Problem, eps: float) -> None:
        self._problem, self._eps = problem, eps
        self._soft = problem.soft if problem.noise else None
        weight = prior_weight(problem, least_noise=eps)
        self._strength = problem.density / weight if problem.noise else 0.0
        self.evaluations = 0

    def __call__(self, image: Plane) -> tuple[float, Plane]:
        """Return cost and gradient at an image."""
        self.evaluations += 1
        cost, gradient = self._problem.bounded_prior(image, self._eps)
        if self._soft is not None:
            cost += self._soft.add(image, gradient, self._strength)
        return cost, gradient

    def curvature(self, image: Plane) -> Plane:
        """Diagonal that majorises the Hessian at an image.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32
            In ranges.

        Returns
        -------
        ndarray, shape (N1, N2), float32
        """
        curvature = self._problem.bounded_curvature(image, self._eps)
        if self._soft is not None:
            soft, strength = self._soft.curvature(), np.float32(self._strength)

            def add(rows: slice) -> None:
                curvature[rows] += strength * soft[rows]

            each_band(add, curvature.shape, self._problem.prior.map_)
        return curvature

    def is_stationary(self, image: Plane) -> bool:
        """Whether the gradient is zero, as for a constant target.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32
            In ranges.

        Returns
        -------
        bool
        """
        problem, (_, gradient) = self._problem, self(image)
        return not (gradient if problem.noise else problem.exact.to_direction(gradient)).any()
