"""What a search space must offer. `geometry` implements it, `descent` uses it.

A point and a tangent vector are each one ndarray, so that a solver needs only ``+`` and ``*``.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Space(Protocol):
    """A Riemannian manifold, as far as a first-order solver has to know it."""

    def inner(self, point: Array, u: Array, v: Array) -> float:
        """Inner product of two tangent vectors at a point."""

    def gradient(self, point: Array, ambient: Array) -> Array:
        """Riemannian gradient that belongs to the gradient in the surrounding flat space."""

    def retract(self, point: Array, tangent: Array) -> Array:
        """Point that is reached from `point` along `tangent`; exact to first order at least."""

    def transport(self, point: Array, along: Array, to: Array, vector: Array) -> Array:
        """Tangent vector at ``to = retract(point, along)`` that continues `vector` from `point`."""

    def first_length(self, point: Array, direction: Array) -> float:
        """Step length that a line search may try first when it knows nothing else."""
