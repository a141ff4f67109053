"""What counts as the matrix of an affine motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.space import Array

TOLERANCE = 1e-9
"""Largest round-off of an entry."""


def as_motion(matrix: ArrayLike, name: str = "matrix") -> Array:
    """Check that a matrix is an affine motion of the plane.

    Parameters
    ----------
    matrix : array_like, shape (3, 3)
        Acts on (row, column, 1).
    name : str
        What to call it in an error.

    Returns
    -------
    ndarray, shape (3, 3), float64
        A copy.

    Raises
    ------
    InputError
        If shape, values or last row are others.
    """
    try:
        motion = np.array(matrix, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} {matrix!r} must be 3x3 numbers") from error
    if motion.shape != (3, 3):
        raise InputError(f"{name} has shape {motion.shape}; it must be (3, 3)")
    if not np.isfinite(motion).all():
        raise InputError(f"{name} {motion.tolist()} has entries that are not finite")
    if not np.allclose(motion[2], (0, 0, 1), rtol=0, atol=TOLERANCE):
        raise InputError(f"{name} has the last row {motion[2].tolist()}; it must be (0, 0, 1)")
    motion[2] = 0, 0, 1
    return motion
