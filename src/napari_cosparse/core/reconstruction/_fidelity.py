"""Data fidelity: the samples as an exact constraint, or as a soft term for noisy ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.bands import inner
from napari_cosparse.core.types import Plane

from ._linear import conjugate_gradients
from ._sampling_protocol import Sampling

PCG_TOLERANCE = 1e-6  # of the residual's length: the noise of float32
PCG_STEPS = 60


class ExactFidelity:
    """The affine set ``Phi s = y`` over the known samples.

    Parameters
    ----------
    sampling : Sampling
        Phi.
    samples : ndarray, shape (m1, m2), float32
        y; any number where unknown.
    known : ndarray, shape (m1, m2), bool
        Samples that count; the others are free.
    """

    def __init__(self, sampling: Sampling, samples: Plane, known: NDArray[np.bool_]) -> None:
        self._sampling, self._samples = sampling, samples
        self._mask = None if known.all() else known.astype(np.float32)

    def point(self, image: Plane) -> Plane:
        """Nearest image that agrees with the samples.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32

        Returns
        -------
        ndarray, shape (N1, N2), float32
        """
        return self.to_point(image.copy())

    def direction(self, image: Plane) -> Plane:
        """Part of a direction along which the samples stay as they are.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32

        Returns
        -------
        ndarray, shape (N1, N2), float32
        """
        return self.to_direction(image.copy())

    def to_point(self, image: Plane) -> Plane:
        """Do what `point` does, in place.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32
            Changed.

        Returns
        -------
        ndarray, shape (N1, N2), float32
            The same plane.
        """
        return self._remove(image, self._sampling.forward(image) - self._samples)

    def to_direction(self, image: Plane) -> Plane:
        """Do what `direction` does, in place.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32
            Changed.

        Returns
        -------
        ndarray, shape (N1, N2), float32
            The same plane.
        """
        return self._remove(image, self._sampling.forward(image))

    def _remove(self, image: Plane, residual: Plane) -> Plane:
        self._sampling.add_adjoint(image, self._solve(residual), -1.0)
        return image

    def _solve(self, residual: Plane) -> Plane:
        """Solve ``Phi Phi^T z = residual`` on the known samples."""
        if self._mask is None:
            return self._sampling.solve(residual)
        return self._masked_solve(residual * self._mask, self._mask)

    def _masked_solve(self, residual: Plane, mask: Plane) -> Plane:
        """Precondition by the inverse on all samples or one like it."""
        return conjugate_gradients(
            lambda samples: mask * self._sampling.gram(samples),
            lambda samples: mask * self._sampling.precondition(samples),
            residual,
            PCG_TOLERANCE,
            PCG_STEPS,
        )


class SoftFidelity:
    """``strength * ||weights^(1/2) (Phi s - y)||^2`` over the known samples.

    Parameters
    ----------
    sampling : Sampling
        Phi.
    samples : ndarray, shape (m1, m2), float32
        y; any number where the weight is 0.
    weights : ndarray, shape (m1, m2), float32
        Confidence of each sample, at least 0; 0 for unknown ones.
    """

    def __init__(self, sampling: Sampling, samples: Plane, weights: Plane) -> None:
        self._sampling, self._samples, self._weights = sampling, samples, weights

    def evaluate(self, image: Plane) -> tuple[float, Plane]:
        """Cost and gradient at strength 1.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32

        Returns
        -------
        cost : float
            Squared unit of the samples.
        gradient : ndarray, shape (N1, N2), float32
        """
        gradient = np.zeros_like(image)
        return self.add(image, gradient, 1.0), gradient

    def add(self, image: Plane, gradient: Plane, strength: float) -> float:
        """Add the term's gradient to another one, in place.

        Parameters
        ----------
        image : ndarray, shape (N1, N2), float32
        gradient : ndarray, shape (N1, N2), float32
            Changed.
        strength : float
            Weight of the term.

        Returns
        -------
        float
            Cost at that strength.
        """
        residual = self._sampling.forward(image) - self._samples
        weighted = self._weights * residual
        self._sampling.add_adjoint(gradient, 2 * weighted, strength)
        return strength * inner(weighted, residual)

    def curvature(self) -> Plane:
        """Diagonal of the Hessian at strength 1.

        Returns
        -------
        ndarray, shape (N1, N2), float32
        """
        return self._sampling.diagonal(2 * self._weights)
