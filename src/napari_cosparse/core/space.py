"""What a search space must offer. `geometry` implements it, `descent` uses it.

A point and a tangent vector are each one ndarray, so that a solver needs only ``+`` and ``*``.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Space(Protocol):
    """A Riemannian manifold, as far as a first-order solver has to know it.

    Points, tangent vectors and ambient gradients are arrays of the same shape.
    """

    def inner(self, point: Array, u: Array, v: Array) -> float:
        """Inner product of two tangent vectors at a point.

        Parameters
        ----------
        point : ndarray
            Where the vectors live.
        u, v : ndarray
            Tangent vectors there.

        Returns
        -------
        float
            The product.
        """

    def gradient(self, point: Array, ambient: Array) -> Array:
        """Riemannian gradient that belongs to a gradient in the surrounding flat space.

        Parameters
        ----------
        point : ndarray
            Where the gradient was taken.
        ambient : ndarray
            Gradient in the surrounding space.

        Returns
        -------
        ndarray
            Tangent vector whose inner product with any other is the slope along that one.
        """

    def retract(self, point: Array, tangent: Array) -> Array:
        """Walk from a point along a tangent vector; exact to first order at least.

        Parameters
        ----------
        point : ndarray
            Where to start.
        tangent : ndarray
            Direction and length.

        Returns
        -------
        ndarray
            The end of the walk, a point of the space to round-off.
        """

    def transport(self, point: Array, along: Array, to: Array, vector: Array) -> Array:
        """Carry a tangent vector along a walk.

        Parameters
        ----------
        point : ndarray
            Start of the walk.
        along : ndarray
            Tangent vector that was walked along.
        to : ndarray
            End of the walk, ``retract(point, along)``.
        vector : ndarray
            Tangent vector at the start.

        Returns
        -------
        ndarray
            Tangent vector at the end.
        """

    def first_length(self, point: Array, direction: Array) -> float:
        """Step length that a line search may try when it knows nothing else.

        Parameters
        ----------
        point : ndarray
            Where the search starts.
        direction : ndarray
            Tangent vector to walk along.

        Returns
        -------
        float
            Length in units of the direction; positive, also if that vanishes.
        """
