"""How well an answer is determined: block jackknife of the gradient and of the gain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._cost import Cost
from ._frame import Matrix
from ._measures import Evaluation
from ._newton import motion_of
from ._scene import Scene

LEAST_BEND = 0.1  # of the largest second derivative


@dataclass(frozen=True)
class Determined:
    """What the jackknife says.

    Attributes
    ----------
    error : float
        One deviation of the corners, in working pixels of the moving image.
    gain_error : float
        One deviation of the gain.
    before, after : Evaluation
        Of the start and of the answer.
    bend : ndarray, shape (d, d)
        Second derivatives at the answer.
    """

    error: float
    gain_error: float
    before: Evaluation
    after: Evaluation
    bend: NDArray[np.float64]

    @property
    def gain(self) -> float:
        """Cost of the start less that of the answer."""
        return self.before.cost - self.after.cost


def determine(scene: Scene, cost: Cost, tau: Matrix, start: Matrix, size: int) -> Determined:
    """Leave out each part of the image in turn and see what changes.

    Parameters
    ----------
    scene : Scene
        The pair.
    cost : Cost
        The measure at the finest level.
    tau : ndarray, shape (3, 3)
        The answer.
    start : ndarray, shape (3, 3)
        Where the images lay before.
    size : int
        Blocks to a part.

    Returns
    -------
    Determined
    """
    here = cost.without_each(tau, size)
    before = cost.without_each(start, size, slopes=False)
    slopes = np.stack([h.slope for h in here])
    covariance = _jackknife(slopes)
    bend = _bend(scene, cost, tau)
    moved = np.linalg.lstsq(bend, covariance, rcond=1e-9)[0]
    spread = np.linalg.lstsq(bend, moved.T, rcond=1e-9)[0]
    return Determined(
        _corner_error(scene, tau, spread),
        deviation(before, here),
        cost(start),
        cost(tau),
        bend,
    )


def deviation(first: list[Evaluation], second: list[Evaluation]) -> float:
    """One deviation of the difference of two costs.

    Parameters
    ----------
    first, second : list of Evaluation
        With each part of the image left out in turn; the same parts.

    Returns
    -------
    float
    """
    gains = np.array([a.cost - b.cost for a, b in zip(first, second, strict=True)])
    return float(np.sqrt(_jackknife(gains[:, None])[0, 0]))


def _jackknife(values: NDArray[np.float64]) -> NDArray[np.float64]:
    count = len(values)
    rest = values - values.mean(0)
    return np.asarray((count - 1) / count * rest.T @ rest)


def _bend(scene: Scene, cost: Cost, tau: Matrix) -> NDArray[np.float64]:
    """Second derivatives by central differences over one pixel."""
    columns = []
    for axis in np.eye(len(scene.basis)):
        step = axis / motion_of(axis, tau, cost)
        up, down = (cost(scene.group.exp(sign * step) @ tau).slope for sign in (1, -1))
        columns.append((up - down) / (2 * float(np.abs(step).sum())))
    bend = np.stack(columns)
    values, vectors = np.linalg.eigh((bend + bend.T) / 2)
    # the roughness of the cost must not pass for a direction that nothing determines
    held = np.maximum(values, LEAST_BEND * max(float(values.max()), 1e-12))
    return np.asarray((vectors * held) @ vectors.T)


def _corner_error(scene: Scene, tau: Matrix, spread: NDArray[np.float64]) -> float:
    """Root mean square over the corners of the motion that a covariance allows."""
    corners = tau @ scene.frame.corners
    moves = (scene.basis @ corners)[:, :2] * scene.frame.radius
    variance = np.einsum("iac,ij,jac->c", moves, spread, moves)
    return float(np.sqrt(max(float(variance.mean()), 0.0)))
