"""Exact samples as projections, noisy ones as a soft term."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse.core.checks import slope_error
from napari_cosparse.core.reconstruction import sampling_operator
from napari_cosparse.core.reconstruction._fidelity import ExactFidelity, SoftFidelity

HOLES = st.sampled_from(["none", "some", "most", "block", "all but one"])


def mask_of(kind, shape, rng):
    """Known samples of a kind."""
    known = np.ones(shape, bool)
    if kind in ("some", "most"):
        known = rng.random(shape) < (0.8 if kind == "some" else 0.2)
    if kind == "block":
        known[1:4, 1:5] = False
    if kind == "all but one":
        known[:] = False
    known[-1, -1] = True
    return known


@st.composite
def constraints(draw):
    """Constraints with every kind of holes, kernel and factor, and their parts."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    target = draw(st.tuples(st.integers(5, 9), st.integers(5, 9)))
    factor = draw(st.sampled_from([(2.0, 2.0), (4.0, 4.0), (2.5, 3.0), (1.0, 2.0)]))
    guide = tuple(int(np.ceil(m * d)) for m, d in zip(target, factor, strict=True))
    sampling = sampling_operator(
        guide,
        target,
        factor,
        phase=draw(st.sampled_from(["centre", "corner"])),
        blur=draw(st.sampled_from(["box", "gaussian", "bicubic"])),
    )
    samples = rng.standard_normal(target).astype(np.float32)
    known = mask_of(draw(HOLES), target, rng)
    images = rng.standard_normal((2, *guide)).astype(np.float32)
    return ExactFidelity(sampling, samples, known), sampling, samples, known, images


@settings(max_examples=50)
@given(constraint=constraints())
def test_point_agrees_with_the_known_samples(constraint):
    exact, sampling, samples, known, (image, _) = constraint
    misfit = sampling.forward(exact.point(image)) - samples
    assert np.abs(misfit[known]).max() < 1e-5


@settings(max_examples=50)
@given(constraint=constraints())
def test_direction_leaves_the_known_samples_alone(constraint):
    exact, sampling, _, known, (image, _) = constraint
    assert np.abs(sampling.forward(exact.direction(image))[known]).max() < 1e-5


@settings(max_examples=50)
@given(constraint=constraints())
def test_both_are_orthogonal_projections(constraint):
    exact, _, _, _, (a, b) = constraint
    once = exact.direction(a)
    assert np.abs(exact.direction(once) - once).max() < 1e-5
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    assert abs(float(np.vdot(once, b) - np.vdot(a, exact.direction(b)))) < 1e-5 * scale
    point = exact.point(a)
    assert np.abs(exact.point(point) - point).max() < 1e-5
    # The way to the set is orthogonal to every direction inside it.
    assert abs(float(np.vdot(a - point, exact.direction(b)))) < 1e-5 * scale


@settings(max_examples=30)
@given(constraint=constraints())
def test_direction_is_the_difference_of_two_points(constraint):
    exact, _, _, _, (a, b) = constraint
    difference = exact.point(a + b) - exact.point(a)
    assert np.abs(difference - exact.direction(b)).max() < 2e-5


@settings(max_examples=30)
@given(constraint=constraints(), value=st.sampled_from([0.0, -3.0, 1e6]))
def test_unknown_samples_change_no_bit(constraint, value):
    exact, sampling, samples, known, (image, _) = constraint
    other = ExactFidelity(sampling, np.where(known, samples, np.float32(value)), known)
    assert np.array_equal(exact.point(image), other.point(image))
    assert np.array_equal(exact.direction(image), other.direction(image))


def test_unknown_samples_are_free():
    sampling = sampling_operator((12, 12), (6, 6), (2.0, 2.0))
    known = np.ones((6, 6), bool)
    known[2, 3] = False
    exact = ExactFidelity(sampling, np.zeros((6, 6), np.float32), known)
    image = np.ones((12, 12), np.float32)
    point = exact.point(image)
    assert np.allclose(point[4:6, 6:8], 1)
    point[4:6, 6:8] = 0
    assert np.abs(point).max() < 1e-5


@pytest.mark.parametrize("holes", ["none", "some"])
def test_projections_match_a_dense_solve(holes):
    rng = np.random.default_rng(1)
    sampling = sampling_operator((14, 18), (5, 6), (3.0, 3.0), phase="corner", blur="gaussian")
    known = mask_of(holes, (5, 6), rng)
    samples = rng.standard_normal((5, 6)).astype(np.float32)
    image = rng.standard_normal((14, 18)).astype(np.float32)
    phi = np.kron(sampling.rows.matrix.toarray(), sampling.columns.matrix.toarray())
    phi = phi.astype(float)[known.ravel()]
    inverse = np.linalg.pinv(phi)
    move = inverse @ (phi @ image.ravel() - samples[known])
    exact = ExactFidelity(sampling, samples, known)
    assert np.allclose(exact.point(image).ravel(), image.ravel() - move, rtol=0, atol=1e-5)
    direction = image.ravel() - inverse @ (phi @ image.ravel())
    assert np.allclose(exact.direction(image).ravel(), direction, rtol=0, atol=1e-5)


@pytest.fixture
def soft():
    rng = np.random.default_rng(2)
    sampling = sampling_operator((13, 16), (5, 6), (2.75, 2.75), blur="box")
    samples = rng.standard_normal((5, 6)).astype(np.float32)
    weights = rng.uniform(0, 2, (5, 6)).astype(np.float32)
    weights[2, 2:4] = 0
    image = rng.standard_normal((13, 16)).astype(np.float32)
    return sampling, samples, weights, image


def test_soft_cost_is_the_weighted_misfit(soft):
    sampling, samples, weights, image = soft
    cost, _ = SoftFidelity(sampling, samples, weights).evaluate(image)
    misfit = sampling.forward(image) - samples
    assert cost == pytest.approx(float((weights * misfit**2).sum()), rel=1e-5)


def test_soft_gradient(soft):
    sampling, samples, weights, image = soft
    term = SoftFidelity(sampling, samples, weights)
    direction = np.random.default_rng(3).standard_normal(image.shape).astype(np.float32)
    # A quadratic: the central difference is exact, so a long step drowns float32's noise.
    assert slope_error(term.evaluate, image, direction, step=0.5) < 1e-5


def test_soft_curvature_is_the_diagonal_of_its_hessian(soft):
    sampling, samples, weights, image = soft
    term = SoftFidelity(sampling, samples, weights)
    middle, slope = term.evaluate(image)
    curvature = term.curvature()
    for pixel in [(0, 0), (6, 7), (12, 15), (3, 11)]:
        step = np.zeros_like(image)
        step[pixel] = 1
        second = 2 * (term.evaluate(image + step)[0] - middle - float(slope[pixel]))
        assert second == pytest.approx(curvature[pixel], rel=1e-3, abs=1e-4)


def test_samples_without_weight_change_no_bit(soft):
    sampling, samples, weights, image = soft
    other = np.where(weights > 0, samples, np.float32(1e6))
    cost, gradient = SoftFidelity(sampling, samples, weights).evaluate(image)
    again, slope = SoftFidelity(sampling, other, weights).evaluate(image)
    assert cost == again
    assert np.array_equal(gradient, slope)
