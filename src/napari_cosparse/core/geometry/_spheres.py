"""Product of spheres of zero-mean unit vectors, the space of coupled operator pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.space import Array

TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class ZeroMeanSpheres:
    """Matrices whose rows have zero mean and unit length inside each block of columns.

    The manifold of eq. (intersection_manifold) of the paper, once for each modality: a point is
    one (k, n_u + n_v) array, row j is the pair of atoms j. Tangent vectors have the same shape;
    inside each block their rows have zero mean and are orthogonal to the point's rows.

    Attributes
    ----------
    blocks : tuple of int
        Number of columns of each block, for instance (n_u, n_v). Each is at least 3.
    """

    blocks: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse blocks whose spheres have no dimension."""
        if not self.blocks or min(self.blocks) < 3:
            raise InputError(
                f"blocks {self.blocks} of columns: zero-mean unit rows can only move with at "
                "least 3 columns in each block"
            )

    def dimension(self, rows: int) -> int:
        """Count the free parameters of a point with so many rows."""
        return rows * sum(n - 2 for n in self.blocks)

    def random(self, rows: int, rng: np.random.Generator) -> Array:
        """Point whose rows are evenly distributed on their spheres.

        Parameters
        ----------
        rows : int
            Number of rows, k.
        rng : numpy.random.Generator
            Source of the random numbers.

        Returns
        -------
        ndarray, shape (k, sum of blocks), float64
            The point.
        """
        return self.normalise(rng.standard_normal((rows, sum(self.blocks))))

    def normalise(self, matrix: Array) -> Array:
        """Nearest point of the space: remove the means, divide by the lengths."""
        return self._by_block(_normalise, matrix)

    def inner(self, point: Array, u: Array, v: Array) -> float:  # noqa: ARG002 - part of Space
        """Sum of the products of the entries."""
        return float(np.sum(u * v))  # a BLAS dot product depends on the number of threads

    def gradient(self, point: Array, ambient: Array) -> Array:
        """Project on the tangent space, eq. (projection_final)."""
        return self._by_block(_project, point, ambient)

    def retract(self, point: Array, tangent: Array) -> Array:
        """Follow the geodesic (a great circle in each row); round-off is normalised away."""
        return self._by_block(_geodesic, point, tangent)

    def transport(self, point: Array, along: Array, to: Array, vector: Array) -> Array:
        """Transport in parallel along the geodesic; keeps all inner products."""
        return self._by_block(_transport, point, along, to, vector)

    def first_length(self, point: Array, direction: Array) -> float:  # noqa: ARG002
        """Length that carries the fastest row once around its circle."""
        fastest = float(self._by_block(_lengths, direction).max())
        return 2 * np.pi / fastest if fastest > 0 else 1.0

    def _by_block(self, function: Callable[..., Array], *matrices: Array) -> Array:
        """Apply a function to each block of columns and put the results side by side."""
        edges = np.cumsum((0, *self.blocks))
        parts = [
            function(*(matrix[:, start:stop] for matrix in matrices))
            for start, stop in pairwise(edges)
        ]
        return np.concatenate(parts, axis=1)


def _lengths(matrix: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", matrix, matrix))[:, None])


def _centred(matrix: Array) -> Array:
    return np.asarray(matrix - matrix.mean(axis=1, keepdims=True))


def _normalise(matrix: Array) -> Array:
    centred = _centred(matrix)
    return centred / _lengths(centred)


def _project(point: Array, vector: Array) -> Array:
    centred = _centred(vector)
    share = np.einsum("ij,ij->i", point, centred)[:, None]
    return np.asarray(centred - share * point)


def _geodesic(point: Array, tangent: Array) -> Array:
    angle = _lengths(tangent)
    return _normalise(np.cos(angle) * point + np.sinc(angle / np.pi) * tangent)


def _transport(point: Array, along: Array, to: Array, vector: Array) -> Array:
    """Turn the share of `vector` along the geodesic, keep the rest; drop round-off at the end."""
    angle = _lengths(along)
    unit = along / np.maximum(angle, TINY)
    share = np.einsum("ij,ij->i", unit, vector)[:, None]
    # 1 - cos a = 2 sin^2(a/2) keeps its digits for small angles
    moved = vector - share * (np.sin(angle) * point + 2 * np.sin(angle / 2) ** 2 * unit)
    return _project(to, moved)
