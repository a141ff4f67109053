"""The algebras of the groups of the plane, and how a matrix is brought back into a group."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from napari_cosparse.core.space import Array

from ._exponential import rotation_along

TURN = ((0, -1, 0), (1, 0, 0), (0, 0, 0))
GROW = ((1, 0, 0), (0, 1, 0), (0, 0, 0))
STRETCH = ((1, 0, 0), (0, -1, 0), (0, 0, 0))
SHEAR = ((0, 1, 0), (1, 0, 0), (0, 0, 0))
SHIFTS = (((0, 0, 1), (0, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 1), (0, 0, 0)))

GENERATORS = {
    "SO": (TURN,),
    "SE": (TURN, *SHIFTS),
    "similarity": (TURN, GROW, *SHIFTS),
    "SA": (TURN, STRETCH, SHEAR, *SHIFTS),
    "A": (TURN, GROW, STRETCH, SHEAR, *SHIFTS),
}
"""Orthogonal to each other in the displacement metric, whatever its weight."""


def _nearest_rotation(linear: Array) -> Array:
    return rotation_along(linear[0, 0] + linear[1, 1], linear[1, 0] - linear[0, 1])


def _nearest_similarity(linear: Array) -> Array:
    cosine, sine = linear[0, 0] + linear[1, 1], linear[1, 0] - linear[0, 1]
    return 0.5 * np.array([[cosine, -sine], [sine, cosine]])


def _same_area(linear: Array) -> Array:
    return np.asarray(linear / sqrt(float(np.linalg.det(linear))))


def _as_it_is(linear: Array) -> Array:
    return np.array(linear)


NEAREST: dict[str, Callable[[Array], Array]] = {
    "SO": _nearest_rotation,
    "SE": _nearest_rotation,
    "similarity": _nearest_similarity,
    "SA": _same_area,
    "A": _as_it_is,
}
"""Linear part of the group's element that is closest to a linear part of positive determinant."""
