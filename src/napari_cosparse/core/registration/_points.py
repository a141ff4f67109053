"""A start from pairs of points: the best motion of the group, by least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._frame import Matrix
from ._pixel import axes_of

Points = NDArray[np.float64]


def from_points(fixed: Points, moving: Points, group: str) -> Matrix:
    """Fit a motion to pairs of points.

    Parameters
    ----------
    fixed, moving : ndarray, shape (n, 2)
        Row and column of each point, in pixels of one size.
    group : {"SO", "SE", "similarity", "SA", "A"}
        Allowed motions. The shift is always fitted.

    Returns
    -------
    ndarray, shape (3, 3)
        Fixed (row, column, 1) -> moving (row, column, 1).
    """
    middle_fixed, middle_moving = fixed.mean(0), moving.mean(0)
    linear = _linear(fixed - middle_fixed, moving - middle_moving, group)
    out = np.eye(3)
    out[:2, :2] = linear
    out[:2, 2] = middle_moving - linear @ middle_fixed
    return out


def _linear(fixed: Points, moving: Points, group: str) -> NDArray[np.float64]:
    if group in ("A", "SA"):
        linear = np.asarray(np.linalg.lstsq(fixed, moving, rcond=None)[0].T)
        area = float(np.linalg.det(linear))
        return linear / np.sqrt(area) if group == "SA" and area > 0 else linear
    # as complex numbers a similarity is one factor (Umeyama's closed form in the plane)
    p, q = (points[:, 0] + 1j * points[:, 1] for points in (fixed, moving))
    energy = float((np.abs(p) ** 2).sum())
    factor = complex(np.vdot(p, q)) / energy if energy > 0 else 1.0 + 0j
    if group != "similarity":
        factor = factor / abs(factor) if abs(factor) > 0 else 1.0 + 0j
    return np.array([[factor.real, -factor.imag], [factor.imag, factor.real]])


def point_misfits(
    points: tuple[Points, Points],
    group: str,
    pixel_size_fixed: Any = (1.0, 1.0),  # noqa: ANN401 - pair or matrix
    pixel_size_moving: Any = (1.0, 1.0),  # noqa: ANN401
) -> NDArray[np.float64]:
    """Distances that the best motion leaves between pairs of points.

    Parameters
    ----------
    points : tuple of ndarray, shape (n, 2)
        Rows and columns of the same places in the fixed and in the moving image, in pixels.
    group : {"SO", "SE", "similarity", "SA", "A"}
        Allowed motions.
    pixel_size_fixed, pixel_size_moving : pair of float, or array_like, shape (2, 2)
        As for `register`.

    Returns
    -------
    ndarray, shape (n,)
        In moving pixels: square ones of the area of the real ones.
    """
    fixed = axes_of(pixel_size_fixed, "the fixed image")
    moving = axes_of(pixel_size_moving, "the moving image")
    ours, theirs = points[0] @ fixed.T, points[1] @ moving.T
    matrix = from_points(ours, theirs, group)
    left = ours @ matrix[:2, :2].T + matrix[:2, 2] - theirs
    return np.asarray(np.hypot(*left.T) / np.sqrt(abs(np.linalg.det(moving))))
