"""What a solver must know of a cost, and an honest count of its evaluations."""

from __future__ import annotations

from typing import Protocol

from napari_cosparse.core.space import Array


class Objective(Protocol):
    """A cost to minimise. The gradient is always the one in the surrounding flat space."""

    def value(self, point: Array) -> float:
        """Cost at a point; infinite where the point is not admissible."""

    def gradient(self, point: Array) -> Array:
        """Gradient of the cost at a point, same shape."""


class Counted:
    """An objective that counts how often it is evaluated.

    Parameters
    ----------
    objective : Objective
        The cost to hand the calls to.

    Attributes
    ----------
    values, gradients : int
        Number of calls so far.
    """

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self.values = 0
        self.gradients = 0

    @property
    def evaluations(self) -> int:
        """Calls of either kind."""
        return self.values + self.gradients

    def value(self, point: Array) -> float:
        """Cost at a point."""
        self.values += 1
        return self._objective.value(point)

    def gradient(self, point: Array) -> Array:
        """Gradient at a point."""
        self.gradients += 1
        return self._objective.gradient(point)
