"""The checks find wrong gradients and adjoints, and pass right ones."""

from __future__ import annotations

import numpy as np

from napari_cosparse.core.checks import adjoint_error, slope_error
from napari_cosparse.core.geometry import ZeroMeanSpheres

RNG = np.random.default_rng(0)


def cubic(point):
    return float(np.sum(point**3)), 3 * point**2


def wrong_cubic(point):
    return float(np.sum(point**3)), 3.1 * point**2


def test_slope_of_a_right_and_a_wrong_gradient():
    point, direction = RNG.standard_normal((2, 4, 3))
    assert slope_error(cubic, point, direction) < 1e-8
    assert slope_error(wrong_cubic, point, direction) > 0.02


def test_slope_along_a_retraction():
    space = ZeroMeanSpheres((5,))
    point = space.random(3, RNG)
    direction = space.gradient(point, RNG.standard_normal(point.shape))
    assert slope_error(cubic, point, direction, space=space) < 1e-7
    assert slope_error(wrong_cubic, point, direction, space=space) > 0.02


def test_slope_of_a_constant_is_no_error():
    point = np.ones(3)
    assert slope_error(lambda p: (1.0, np.zeros_like(p)), point, point) == 0.0


def test_adjoint_of_a_matrix():
    matrix = RNG.standard_normal((4, 6))
    x, z = RNG.standard_normal(6), RNG.standard_normal(4)
    assert adjoint_error(lambda a: matrix @ a, lambda b: matrix.T @ b, x, z) < 1e-14
    assert adjoint_error(lambda a: matrix @ a, lambda b: 1.01 * matrix.T @ b, x, z) > 1e-4


def test_map_to_zero_with_an_adjoint_that_is_not_is_found():
    x, z = np.ones(2), np.ones(3)
    assert adjoint_error(lambda _: np.zeros(3), lambda _: np.ones(2), x, z) > 0.1
    assert adjoint_error(lambda _: np.zeros(3), lambda _: np.zeros(2), x, z) == 0.0
