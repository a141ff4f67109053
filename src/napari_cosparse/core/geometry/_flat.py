"""Flat space: arrays of any shape with the usual inner product."""

from __future__ import annotations

import numpy as np

from napari_cosparse.core.space import Array


class Flat:
    """Euclidean space; every array is a point and a tangent vector."""

    def inner(self, point: Array, u: Array, v: Array) -> float:  # noqa: ARG002 - part of Space
        """Sum of the products of the entries, in float64."""
        return float(np.sum(u * v, dtype=np.float64))

    def gradient(self, point: Array, ambient: Array) -> Array:  # noqa: ARG002 - part of Space
        """Return the gradient as it is."""
        return ambient

    def retract(self, point: Array, tangent: Array) -> Array:
        """Go straight: ``point + tangent``."""
        return point + tangent

    def transport(self, point: Array, along: Array, to: Array, vector: Array) -> Array:  # noqa: ARG002
        """Return the vector as it is."""
        return vector

    def first_length(self, point: Array, direction: Array) -> float:  # noqa: ARG002
        """Length that moves the point by one unit."""
        norm = float(np.linalg.norm(direction))
        return 1.0 / norm if norm > 0 else 1.0
