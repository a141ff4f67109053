"""The paper's solver: conjugate gradients with Armijo steps and a shrinking lambda.

Minimises eq. (depth_reconstruction_middlebury), ``lambda g(c, Omega s) + ||Phi s - y||^2``, with
restarts in which lambda falls geometrically to its final value.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.descent import Iterate, Stop, iterate, until
from napari_cosparse.core.geometry import Flat
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.types import Plane

from ._graduated import Solution
from ._problem import Problem
from ._stage_cost import prior_weight

EPS = 0.003  # 1 / (sqrt(nu) a_D): nu = 400 and images in units of about 17 ranges
LAMBDAS = (1e-2, 1e-6)  # first and last, in squared ranges of the target; the last is the paper's
# lambda = 1 for images in 0..255 with a range of a few hundred levels, per sample (m / K)
RESTARTS = 4
ITERATIONS = 50


def paper_schedule(problem: Problem, start: Plane) -> Generator[Progress, None, Solution]:
    """Solve as the paper does.

    Parameters
    ----------
    problem : Problem
        Prior and samples; the bounds are not used.
    start : ndarray, shape (N1, N2), float32
        First image, in ranges; any will do.

    Yields
    ------
    Progress
        One for each iteration.

    Returns
    -------
    Solution
    """
    image: NDArray[np.float64] = start.astype(np.float64)
    costs: list[float] = []
    evaluations, stop, last_lambda = 0, Stop.BUDGET_SPENT, LAMBDAS[1]
    if problem.noise:
        last_lambda = prior_weight(problem)
    lambdas = np.geomspace(max(LAMBDAS[0], last_lambda), last_lambda, RESTARTS)
    for restart, weight in enumerate(lambdas):
        last: Iterate | None = None
        objective = _PenalisedCost(problem, float(weight))
        for last in until(iterate(Flat(), objective, image), iterations=ITERATIONS):
            costs.append(last.value)
            step = restart * ITERATIONS + last.index
            name = f"restart {restart + 1} of {RESTARTS}"
            yield Progress(name, step, RESTARTS * ITERATIONS, last.value)
        if last is not None:
            image, stop = last.point, last.stop or Stop.BUDGET_SPENT
            evaluations += last.evaluations
    iterations = len(costs) - RESTARTS
    return Solution(image.astype(np.float32), tuple(costs), iterations, evaluations, stop)


class _PenalisedCost:
    """``lambda (m / K) sum log(eps^2 + c^2 + x^2) + ||Phi s - y||^2`` in flat space."""

    def __init__(self, problem: Problem, weight: float) -> None:
        samples = float(np.count_nonzero(problem.weights))
        self._prior, self._soft = problem.prior, problem.soft
        self._weight = weight * samples / problem.responses
        self._seen: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    def value(self, point: NDArray[np.float64]) -> float:
        """Cost at an image; its gradient is kept, since the accepted trial needs it next."""
        image = point.astype(np.float32)
        cost, gradient = self._prior.evaluate(image, EPS)
        misfit, slope = self._soft.evaluate(image)
        self._seen = point, (np.float32(self._weight) * gradient + slope).astype(np.float64)
        return self._weight * cost + misfit

    def gradient(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gradient at an image."""
        if self._seen is None or self._seen[0] is not point:
            self.value(point)
        assert self._seen is not None  # noqa: S101 - value() sets it
        return self._seen[1]
