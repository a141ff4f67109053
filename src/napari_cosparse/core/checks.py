"""Numerical checks for gradients and adjoints.

The tests pass every gradient and every adjoint of the package through them; authors of new
penalties and sampling operators should do the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .space import Array, Space

__all__ = ["adjoint_error", "slope_error"]


def slope_error(
    value_and_gradient: Callable[[Array], tuple[float, Array]],
    point: Array,
    direction: Array,
    *,
    space: Space | None = None,
    step: float = 1e-5,
) -> float:
    """Relative difference of a function's analytic slope and its central difference.

    Parameters
    ----------
    value_and_gradient : callable
        Returns the value and the gradient (in the surrounding flat space) at a point.
    point : ndarray
        Where to check.
    direction : ndarray, shape of `point`
        Tangent vector along which to check.
    space : Space, optional
        Search space whose retraction carries the step; flat space if None.
    step : float
        Length of the finite difference in units of `direction`.

    Returns
    -------
    float
        ``|numeric - analytic| / max(|numeric|, |analytic|)``, 0 if both vanish. No unit.
    """
    gradient = value_and_gradient(point)[1]
    if space is None:
        analytic = float(np.sum(gradient * direction, dtype=np.float64))
        ends = [point + sign * step * direction for sign in (1, -1)]
    else:
        analytic = space.inner(point, space.gradient(point, gradient), direction)
        ends = [space.retract(point, sign * step * direction) for sign in (1, -1)]
    ahead, behind = (value_and_gradient(end)[0] for end in ends)
    numeric = (ahead - behind) / (2 * step)
    scale = max(abs(numeric), abs(analytic))
    return abs(numeric - analytic) / scale if scale else 0.0


def adjoint_error(
    forward: Callable[[NDArray[np.floating]], NDArray[np.floating]],
    adjoint: Callable[[NDArray[np.floating]], NDArray[np.floating]],
    x: NDArray[np.floating],
    z: NDArray[np.floating],
) -> float:
    """Relative difference of <A x, z> and <x, A* z>.

    Parameters
    ----------
    forward : callable
        The linear map A.
    adjoint : callable
        The map that claims to be its adjoint.
    x : ndarray
        Vector of the domain of A.
    z : ndarray
        Vector of the range of A.

    Returns
    -------
    float
        ``|<A x, z> - <x, A* z>| / (|A x| |z|)``, 0 if both sides vanish. No unit.
    """
    image = np.asarray(forward(x), np.float64)
    back = np.asarray(adjoint(z), np.float64)
    left = float(np.vdot(image, z))
    right = float(np.vdot(x, back))
    scale = float(np.linalg.norm(image) * np.linalg.norm(z))
    scale = scale or float(np.linalg.norm(back) * np.linalg.norm(x))
    return abs(left - right) / scale if scale else 0.0
