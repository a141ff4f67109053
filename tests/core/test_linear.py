"""Conjugate gradients for the normal equations of the samples."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from napari_cosparse.core.reconstruction._linear import conjugate_gradients

SHAPE = 120, 130  # large enough for the BLAS to use its threads


@pytest.fixture
def system():
    """A symmetric positive tridiagonal matrix along the rows, and a right side."""

    def apply(plane):
        out = 3 * plane
        out[:, 1:] -= plane[:, :-1]
        out[:, :-1] -= plane[:, 1:]
        return out

    return apply, np.random.default_rng(0).standard_normal(SHAPE)


@pytest.mark.parametrize(("kind", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-12)])
def test_system_is_solved_in_the_type_of_its_right_side(system, kind, tolerance):
    apply, right = system
    right = right.astype(kind)
    given = right.copy()
    found = conjugate_gradients(apply, lambda plane: plane / 3, right, tolerance, 60)
    assert found.dtype == kind
    assert np.linalg.norm(apply(found) - right) < 2 * tolerance * np.linalg.norm(right)
    np.testing.assert_array_equal(right, given)


def test_it_stops_after_the_steps_or_at_the_goal(system):
    apply, right = system
    calls = []

    def counted(plane):
        calls.append(1)
        return apply(plane)

    for tolerance, steps, wanted in ((1e-12, 4, 4), (0.5, 60, 1), (1e-6, 0, 0)):
        calls.clear()
        conjugate_gradients(counted, lambda plane: plane / 3, right, tolerance, steps)
        assert len(calls) == wanted
    assert not conjugate_gradients(apply, np.copy, 0 * right, 1e-6, 60).any()


def test_threads_of_the_blas_change_no_bit(system):
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(conjugate_gradients(system[0], np.copy, system[1], 1e-9, 60))
    np.testing.assert_array_equal(*found)
