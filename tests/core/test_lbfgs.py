"""Projected L-BFGS: it converges, stays where it must, and tells the truth."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from napari_cosparse.core.bands import inner
from napari_cosparse.core.descent import lbfgs

SHAPE = 6, 7


def free(direction):
    return direction


class Counted:
    """Count the calls of an objective."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, image):
        self.calls += 1
        return self.function(image)


def quadratic(condition=100.0, seed=0):
    """A convex quadratic with mixed axes, its minimum and the diagonal of its matrix."""
    rng = np.random.default_rng(seed)
    size = SHAPE[0] * SHAPE[1]
    axes = np.linalg.qr(rng.standard_normal((size, size)))[0]
    matrix = axes * np.geomspace(1, condition, size) @ axes.T
    best = rng.standard_normal(SHAPE).astype(np.float32)

    def cost(image):
        error = (image - best).ravel().astype(float)
        slope = matrix @ error
        return float(error @ slope) / 2, slope.reshape(SHAPE).astype(np.float32)

    return cost, best, matrix


def robust(seed=0):
    """A cost that is not convex, of the kind that the prior is made of."""
    data = np.random.default_rng(seed).standard_normal(SHAPE).astype(np.float32)

    def cost(image):
        error = (image - data).astype(float)
        across = np.diff(image.astype(float), axis=1)
        value = np.sum(error**2) + np.log(0.01 + across**2).sum()
        slope, part = 2 * error, 2 * across / (0.01 + across**2)
        slope[:, 1:] += part
        slope[:, :-1] -= part
        return float(value), slope.astype(np.float32)

    return cost


ONES = np.ones(SHAPE, np.float32)


def run(objective, start, steps=100, project=free, inverse=ONES, **options):
    descents = lbfgs(objective, start, project=project, inverse=inverse, **options)
    return list(islice(descents, steps))


def start_image(seed=3):
    return np.random.default_rng(seed).standard_normal(SHAPE).astype(np.float32)


@pytest.mark.parametrize("memory", [1, 6, 20])
def test_quadratic_is_solved(memory):
    cost, best, _ = quadratic(condition=20)
    last = run(cost, start_image(), memory=memory)[-1]
    assert np.abs(last.point - best).max() < 1e-3
    assert last.value < 1e-6 * cost(start_image())[0]


def test_memory_beats_steepest_descent():
    cost, _, _ = quadratic()
    long, short = (run(cost, start_image(), 30, memory=memory)[-1].value for memory in (10, 0))
    assert long < 0.1 * short


def test_exact_inverse_needs_one_step():
    scales = np.geomspace(1, 1e3, SHAPE[0] * SHAPE[1]).reshape(SHAPE).astype(np.float32)
    best = start_image(5)

    def cost(image):
        error = image - best
        return float(np.sum(scales * error.astype(float) ** 2)) / 2, scales * error

    first = run(cost, start_image(), 1, inverse=1 / scales)[0]
    assert np.abs(first.point - best).max() < 1e-4
    assert first.evaluations == 2


def test_diagonal_inverse_cures_bad_units():
    scales = np.geomspace(1, 1e3, SHAPE[0] * SHAPE[1]).reshape(SHAPE).astype(np.float32)

    def cost(image):
        return float(np.sum(scales * image.astype(float) ** 2)) / 2, scales * image

    plain = run(cost, start_image(), 5)[-1].value
    cured = run(cost, start_image(), 5, inverse=1 / scales)[-1].value
    assert cured < 1e-10 < plain


def without_row_means(direction):
    return direction - direction.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("preconditioned", [False, True])
def test_every_iterate_stays_on_the_affine_set(preconditioned):
    weights = np.random.default_rng(9).uniform(0.2, 5, SHAPE).astype(np.float32)
    inverse = weights if preconditioned else ONES
    start = start_image()
    steps = run(robust(), start, 40, project=without_row_means, inverse=inverse)
    assert len(steps) == 40
    for step in steps:
        assert np.allclose(step.point.mean(1), start.mean(1), rtol=0, atol=1e-5)


def test_constrained_minimum_is_found():
    cost, best, _ = quadratic(condition=10)
    start = start_image()
    last = run(cost, start, project=without_row_means)[-1]
    # Lagrange: the gradient at the constrained minimum is constant along each row.
    gradient = cost(last.point)[1]
    assert np.abs(without_row_means(gradient)).max() < 1e-2
    assert np.abs(gradient).max() > 0.1
    assert np.abs(last.point - best).max() > 0.1


@pytest.mark.parametrize("seed", range(4))
def test_cost_falls_at_every_step_and_is_the_points_own(seed):
    cost, start = robust(seed), start_image()
    steps = run(cost, start, 60)
    values = [cost(start)[0], *(step.value for step in steps)]
    assert np.all(np.diff(values) < 0)
    assert all(step.value == cost(step.point)[0] for step in steps)
    assert [step.index for step in steps] == list(range(1, len(steps) + 1))
    assert all(step.slope < 0 for step in steps)


def test_evaluations_are_counted_one_by_one():
    counted = Counted(robust())
    descents = lbfgs(counted, start_image(), project=free, inverse=3 * ONES)
    retries = 0
    for step in islice(descents, 50):
        assert step.evaluations == counted.calls
        retries = step.evaluations - step.index - 1
    assert retries > 0  # else the count of rejected trials is not tested


def test_gradient_of_the_wrong_sign_ends_without_a_step():
    cost, _, _ = quadratic()

    def wrong(image):
        value, gradient = cost(image)
        return value, -gradient

    counted = Counted(wrong)
    assert run(counted, start_image()) == []
    assert counted.calls < 20


def test_minimum_as_start_ends_without_a_step():
    cost, best, _ = quadratic()
    assert run(cost, best) == []


def test_nothing_free_ends_without_a_step():
    assert run(quadratic()[0], start_image(), project=np.zeros_like) == []


def test_step_is_shortened_where_the_cost_is_not_finite():
    def barrier(image):
        inside = np.all(image > 0)
        value = float(np.sum(image.astype(float) - np.log(image))) if inside else np.inf
        gradient = 1 - 1 / image if inside else np.full_like(image, np.nan)
        return value, gradient

    last = run(barrier, np.full(SHAPE, 0.01, np.float32), 200)[-1]
    assert np.allclose(last.point, 1, rtol=0, atol=1e-2)


def test_start_and_earlier_points_are_not_overwritten():
    start = start_image()
    kept = start.copy()
    steps = run(robust(), start, 10)
    copies = [step.point.copy() for step in steps]
    again = run(robust(), start, 10)
    assert np.array_equal(start, kept)
    assert all(np.array_equal(a, b.point) for a, b in zip(copies, again, strict=True))


def test_single_precision_throughout():
    assert all(step.point.dtype == np.float32 for step in run(robust(), start_image(), 20))


def test_inner_sums_in_double_precision():
    tall = np.full((200_000, 2), 0.1, np.float32)
    expected = 400_000 * float(np.float32(0.1)) ** 2
    assert inner(tall, tall) == pytest.approx(expected, rel=1e-7)
    assert inner(tall, -tall) < 0
