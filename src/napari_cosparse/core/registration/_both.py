"""Co-sparsity and mutual information in one cost: edges say where, grey levels which."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._cost import Cost
from ._frame import Matrix
from ._measures import Evaluation

# Of a cost near 1: far more than double precision loses, far less than a step gains.
ROUNDING = 1e-9


class BothCost:
    """Mutual co-sparsity C less normalised mutual information N.

    Both have no unit and move by some hundredths around an answer; where one is flat or rough, the
    other decides.

    Parameters
    ----------
    edges : Cost
        C at some level.
    levels : Cost
        -N at the same level.
    """

    def __init__(self, edges: Cost, levels: Cost) -> None:
        self.scale, self.frame, self.basis = edges.scale, edges.frame, edges.basis
        self._edges, self._levels = edges, levels

    def __call__(self, tau: Matrix, most: float = np.inf) -> Evaluation:
        """Evaluate a motion; see `Cost`."""
        levels = self._levels(tau)
        # the sum below may be rounded down to the limit where the difference is not
        return _added(self._edges(tau, most - levels.cost + ROUNDING), levels)

    def curvature(self, tau: Matrix) -> NDArray[np.float64]:
        """Sum of both models of the second derivatives; see `Cost`."""
        return self._edges.curvature(tau) + self._levels.curvature(tau)

    def without_each(self, tau: Matrix, size: int, *, slopes: bool = True) -> list[Evaluation]:
        """Leave out each part of the one and then each of the other; see `Cost`.

        The two divide the image differently, so that what they share is not counted.
        """
        edges, levels = self._edges(tau), self._levels(tau)
        return [
            *(_added(part, levels) for part in self._edges.without_each(tau, size, slopes=slopes)),
            *(_added(edges, part) for part in self._levels.without_each(tau, size, slopes=slopes)),
        ]


def _added(edges: Evaluation, levels: Evaluation) -> Evaluation:
    return edges._replace(cost=edges.cost + levels.cost, slope=edges.slope + levels.slope)
