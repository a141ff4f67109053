"""Penalties on one operator: rank on the complement of the constants, and coherence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._products import steady_product

Matrix = NDArray[np.float64]


def complement_basis(n: int) -> Matrix:
    """Orthonormal basis W of the vectors with zero mean.

    Parameters
    ----------
    n : int
        Number of coefficients of a patch.

    Returns
    -------
    ndarray, shape (n, n - 1), float64
        Columns of unit length with zero mean, orthogonal to each other.
    """
    steps = np.arange(1, n)
    upper = (np.arange(n)[:, None] < steps).astype(np.float64)
    below = np.where(np.arange(n)[:, None] == steps, -steps.astype(np.float64), 0.0)
    return (upper + below) / np.sqrt(steps * (steps + 1.0))


class RankPenalty:
    """Penalty h of eq. (logdet): -log det(W' A' A W / k) / ((n - 1) log(n - 1)).

    Parameters
    ----------
    n : int
        Number of columns of the operator, at least 4.
    """

    def __init__(self, n: int) -> None:
        self._basis = complement_basis(n)
        self._scale = 1.0 / ((n - 1) * np.log(n - 1))

    def value(self, operator: Matrix) -> float:
        """Value at an operator (k, n); infinite without full rank on the complement."""
        reduced = steady_product(operator, self._basis)
        try:
            factor = np.linalg.cholesky(steady_product(reduced.T, reduced) / len(operator))
        except np.linalg.LinAlgError:
            return float("inf")
        return float(-2 * self._scale * np.log(np.diagonal(factor)).sum())

    def gradient(self, operator: Matrix) -> Matrix:
        """Gradient (k, n) at an operator of full rank on the complement."""
        reduced = steady_product(operator, self._basis)
        inverse = np.linalg.inv(steady_product(reduced.T, reduced))
        turned = steady_product(inverse, self._basis.T)
        return np.asarray(-2 * self._scale * steady_product(reduced, turned))


class CoherencePenalty:
    """Penalty r of eq. (lindep), averaged: -sum log(1 - (a_i . a_l)^2) 2 / (k^2 - k).

    The sum runs over all ordered pairs i != l, so each pair counts twice (the convention of the
    authors' earlier code; as printed the penalty would be some thousand times the data term).
    """

    def value(self, operator: Matrix) -> float:
        """Value at an operator (k, n); infinite if two rows are parallel."""
        gaps = self._gaps(steady_product(operator, operator.T))
        if gaps.min() <= 0:
            return float("inf")
        return float(-self._scale(operator) * np.log(gaps).sum())

    def gradient(self, operator: Matrix) -> Matrix:
        """Gradient (k, n) at an operator without parallel rows."""
        products = steady_product(operator, operator.T)
        weights = products / self._gaps(products)
        np.fill_diagonal(weights, 0.0)
        return np.asarray(4 * self._scale(operator) * steady_product(weights, operator))

    @staticmethod
    def _gaps(products: Matrix) -> Matrix:
        gaps = 1.0 - products**2
        np.fill_diagonal(gaps, 1.0)
        return gaps

    @staticmethod
    def _scale(operator: Matrix) -> float:
        k = len(operator)
        return 2.0 / (k * k - k)
