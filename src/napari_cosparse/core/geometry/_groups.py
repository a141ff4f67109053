"""Groups of motions of the plane: SO(2), SE(2), similarities, SA(2) and A(2)."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.space import Array

from ._algebras import GENERATORS, NEAREST
from ._exponential import exponential, logarithm
from ._matrix import TOLERANCE, as_motion


@dataclass(frozen=True)
class MatrixGroup:
    """A group of affine motions of the plane, as a search space.

    A point is a matrix tau that acts on (row, column, 1); a tangent vector at any point is a matrix
    H of the Lie algebra, and the walk along it is ``exp(H) @ tau`` (the paper updates from the
    left). Left translations carry the tangent spaces into each other, so transport is the identity.
    Coordinates should be centred and normalised, such that shifts and angles weigh alike.

    The inner product is that of eq. (innerprod) of the paper, tr((H1 * P) H2^T), with
    P = [[m, m, 1], [m, m, 1], [1, 1, 1]]: the mean product of the displacements of the points of
    an image whose coordinates have zero mean and mean square m. Except for SO(2) it is not
    bi-invariant: the walk is a retraction, no geodesic.

    Attributes
    ----------
    name : {"SO", "SE", "similarity", "SA", "A"}
        Rotations about the origin; rotations and shifts; these and scalings; area-preserving
        affine motions; affine motions of positive determinant.
    mean_square : float
        m, mean square of a coordinate over the image, in squared units of the coordinates. 1/3
        for a square image from -1 to 1.
    """

    name: str
    mean_square: float = 1 / 3

    def __post_init__(self) -> None:
        """Refuse unknown names and weights that are no metric."""
        if self.name not in GENERATORS:
            close = difflib.get_close_matches(str(self.name), GENERATORS, 1, 0.3)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise InputError(f"group {self.name!r} must be one of {', '.join(GENERATORS)}{hint}")
        if not (np.isfinite(self.mean_square) and self.mean_square > 0):
            raise InputError(f"mean_square {self.mean_square} must be positive and finite")

    @cached_property
    def weights(self) -> Array:
        """P of eq. (innerprod), shape (3, 3)."""
        m = self.mean_square
        return _frozen(np.array([[m, m, 1], [m, m, 1], [1, 1, 1]]))

    @cached_property
    def basis(self) -> Array:
        """Basis of the algebra, shape (dimension, 3, 3); orthonormal in the inner product.

        So the slopes of a cost along it are the coordinates of its Riemannian gradient.
        """
        generators = np.array(GENERATORS[self.name], np.float64)
        squares = np.einsum("kij,ij->k", generators**2, self.weights)
        return _frozen(generators / np.sqrt(squares)[:, None, None])

    @property
    def dimension(self) -> int:
        """Number of free parameters."""
        return len(self.basis)

    def inner(self, point: Array, u: Array, v: Array) -> float:  # noqa: ARG002 - part of Space
        """Inner product of eq. (innerprod); the same at all points."""
        return float(np.sum(self.weights * u * v))

    def project(self, matrix: Array) -> Array:
        """Project a matrix on the algebra, orthogonally in the inner product (the appendix).

        Parameters
        ----------
        matrix : ndarray, shape (3, 3)
            Any matrix.

        Returns
        -------
        ndarray, shape (dimension,)
            Coordinates in `basis`.
        """
        return np.asarray(np.einsum("kij,ij->k", self.basis, self.weights * matrix))

    def tangent(self, coordinates: ArrayLike) -> Array:
        """Element of the algebra that has these coordinates.

        Parameters
        ----------
        coordinates : array_like, shape (dimension,)
            Coordinates in `basis`.

        Returns
        -------
        ndarray, shape (3, 3)
            The matrix; its last row is zero.
        """
        return np.tensordot(np.asarray(coordinates, np.float64), self.basis, 1)

    def gradient(self, point: Array, ambient: Array) -> Array:
        """Gradient of a cost F along ``exp(H) @ point`` at H = 0, from its entry-wise derivatives.

        The appendix of the paper with vec^-1(r) = dF/dtau tau^T.
        """
        return self.tangent(self.project((ambient @ point.T) / self.weights))

    def exp(self, coordinates: ArrayLike) -> Array:
        """Group element at the end of a walk from the identity.

        Parameters
        ----------
        coordinates : array_like, shape (dimension,)
            Coordinates in `basis`.

        Returns
        -------
        ndarray, shape (3, 3)
            An element of the group to round-off.
        """
        return self.retract(np.eye(3), self.tangent(coordinates))

    def log(self, matrix: ArrayLike) -> Array | None:
        """Coordinates of the shortest walk from the identity to a group element.

        Parameters
        ----------
        matrix : array_like, shape (3, 3)
            An element of the group.

        Returns
        -------
        ndarray, shape (dimension,), or None
            Coordinates in `basis`; None where no single walk leads there (an affine motion with
            negative eigenvalues).

        Raises
        ------
        InputError
            If the matrix is not in the group.
        """
        motion = as_motion(matrix)
        if not self.contains(motion):
            raise InputError(f"matrix {motion.tolist()} is not in the group {self.name}")
        found = logarithm(motion)
        return None if found is None else self.project(found)

    def retract(self, point: Array, tangent: Array) -> Array:
        """Walk to ``exp(tangent) @ point``; round-off is brought back into the group."""
        moved = exponential(tangent) @ point
        moved[:2, :2] = NEAREST[self.name](moved[:2, :2])
        return moved

    def transport(self, point: Array, along: Array, to: Array, vector: Array) -> Array:  # noqa: ARG002
        """Return the vector as it is: it lives in the algebra."""
        return vector

    def first_length(self, point: Array, direction: Array) -> float:
        """Length that moves the points of the image by a tenth of a unit, on root-mean-square."""
        norm = self.inner(point, direction, direction) ** 0.5
        return 0.1 / norm if norm > 0 else 1.0

    def nearest(self, matrix: ArrayLike) -> Array:
        """Group element nearest to an affine motion; brings start matrices into the group.

        Least squares over the entries for SO, SE and similarity; for SA the area is scaled to
        one. SO drops the shift.

        Parameters
        ----------
        matrix : array_like, shape (3, 3)
            An affine motion.

        Returns
        -------
        ndarray, shape (3, 3)
            An element of the group.

        Raises
        ------
        InputError
            If the matrix is no affine motion, or mirrors.
        """
        motion = as_motion(matrix)
        determinant = float(np.linalg.det(motion[:2, :2]))
        if not (np.isfinite(determinant) and determinant > 0):
            raise InputError(
                f"matrix {motion.tolist()} has determinant {determinant:.3g}; the group "
                f"{self.name} needs a positive one. Flip the moving image first if it is mirrored"
            )
        motion[:2, :2] = NEAREST[self.name](motion[:2, :2])
        if self.name == "SO":
            motion[:2, 2] = 0
        return motion

    def contains(self, matrix: ArrayLike, tolerance: float = TOLERANCE) -> bool:
        """Whether a matrix belongs to the group.

        Parameters
        ----------
        matrix : array_like, shape (3, 3)
            Any matrix.
        tolerance : float
            Largest difference of an entry from the nearest group element.

        Returns
        -------
        bool
            False also for what is no affine motion.
        """
        try:
            near = self.nearest(matrix)
        except InputError:
            return False
        return float(np.abs(near - np.asarray(matrix, np.float64)).max()) <= tolerance


def matrix_group(name: str, mean_square: float = 1 / 3) -> MatrixGroup:
    """Group of motions of the plane by its name.

    Parameters
    ----------
    name : {"SO", "SE", "similarity", "SA", "A"}
        Which group; see `MatrixGroup`.
    mean_square : float
        Mean square of a coordinate over the image.

    Returns
    -------
    MatrixGroup
        The group.

    Raises
    ------
    InputError
        If there is no group of that name.
    """
    return MatrixGroup(name, mean_square)


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array
