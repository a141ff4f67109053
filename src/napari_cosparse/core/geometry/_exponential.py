"""Exponential and logarithm of affine motions of the plane, to round-off."""

from __future__ import annotations

from math import atan2, atanh, hypot, log, pi, sqrt

import numpy as np
from scipy.linalg import expm

from napari_cosparse.core.space import Array

EPSILON = float(np.finfo(np.float64).eps)


def exponential(tangent: Array) -> Array:
    """Matrix exponential of an element of the affine algebra.

    Parameters
    ----------
    tangent : ndarray, shape (3, 3)
        Its last row is zero.

    Returns
    -------
    ndarray, shape (3, 3)
        A motion of positive determinant.
    """
    linear, integral = _exponential_and_integral(tangent[:2, :2])
    motion = np.eye(3)
    motion[:2, :2] = linear
    motion[:2, 2] = integral @ tangent[:2, 2]
    return motion


def logarithm(motion: Array) -> Array | None:
    """Principal logarithm of an affine motion.

    Parameters
    ----------
    motion : ndarray, shape (3, 3)
        Its last row is (0, 0, 1).

    Returns
    -------
    ndarray, shape (3, 3), or None
        The element of the algebra; None if no real one exists.
    """
    linear = _linear_logarithm(motion[:2, :2])
    if linear is None:
        return None
    tangent = np.zeros((3, 3))
    tangent[:2, :2] = linear
    integral = _exponential_and_integral(linear)[1]
    tangent[:2, 2] = np.linalg.solve(integral, motion[:2, 2])
    return tangent


def _exponential_and_integral(linear: Array) -> tuple[Array, Array]:
    """Return exp(A) and the integral of exp(s A) over s in [0, 1], which carries the shift.

    The shift itself stays out of `expm`: a large one would cost the linear part its digits.
    """
    block = np.zeros((4, 4))
    block[:2, :2], block[:2, 2:] = linear, np.eye(2)
    both = expm(block)
    return both[:2, :2], both[:2, 2:]


def _linear_logarithm(linear: Array) -> Array | None:
    """Write the matrix as t I + B with B B = d I, of which every function is known."""
    determinant = float(np.linalg.det(linear))
    half_trace = float(np.trace(linear)) / 2
    rest = linear - half_trace * np.eye(2)
    square = float(rest[0, 0] ** 2 + rest[0, 1] * rest[1, 0])
    if determinant <= 0:
        return None
    if abs(rest).max() <= 4 * EPSILON * -half_trace:  # half a turn, in either sense
        return _spiral(determinant, pi, np.array([[0.0, -1.0], [1.0, 0.0]]))
    if square < 0:
        size = sqrt(-square)
        return _spiral(determinant, atan2(size, half_trace) / size, rest)
    if half_trace <= 0:
        return None  # two negative eigenvalues
    size = sqrt(square)
    # atanh loses its digits as one eigenvalue vanishes; the determinant has them
    ratio = size / half_trace
    if ratio < 0.5:
        return _spiral(determinant, atanh(ratio) / size if size else 1 / half_trace, rest)
    return _spiral(determinant, log((half_trace + size) / sqrt(determinant)) / size, rest)


def _spiral(determinant: float, share: float, rest: Array) -> Array:
    return 0.5 * log(determinant) * np.eye(2) + share * rest


def rotation_along(cosine: float, sine: float) -> Array:
    """Rotation by the angle of a vector that need not have unit length.

    Parameters
    ----------
    cosine, sine : float
        The vector; not zero.

    Returns
    -------
    ndarray, shape (2, 2)
        Orthogonal to round-off.
    """
    length = hypot(cosine, sine)
    c, s = cosine / length, sine / length
    return np.array([[c, -s], [s, c]])
