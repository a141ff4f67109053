"""The learning cost against the formulas of the paper, and its gradients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse.core.checks import slope_error
from napari_cosparse.core.geometry import ZeroMeanSpheres
from napari_cosparse.core.operators._objective import CoupledSparsity, LearningCost
from napari_cosparse.core.operators._penalties import (
    CoherencePenalty,
    RankPenalty,
    complement_basis,
)
from napari_cosparse.core.operators._products import ONE_THREAD, steady_product

K, N_U, N_V, M, NU = 10, 9, 4, 37, 400.0
SPACE = ZeroMeanSpheres((N_U, N_V))
KAPPA, MU = (5.0, 22.0), (1e2, 2.5e4)


def patches(n, samples=M, seed=0):
    """Zero-mean columns of standard deviation 1."""
    columns = np.random.default_rng(seed).standard_normal((n, samples))
    columns -= columns.mean(axis=0)
    return (columns / columns.std(axis=0)).astype(np.float32)


def point_and_direction(seed=1):
    rng = np.random.default_rng(seed)
    point = SPACE.random(K, rng)
    return point, SPACE.gradient(point, rng.standard_normal(point.shape))


def learning_cost(samples=M):
    return LearningCost(
        patches(N_U, samples, 2), patches(N_V, samples, 3), atoms=K, nu=NU, kappa=KAPPA, mu=MU
    )


def sparsity_as_printed(u, v, patches_u, patches_v):
    squares = (u @ patches_u.astype(float)) ** 2 + (v @ patches_v.astype(float)) ** 2
    return np.log(1 + NU * squares).sum(axis=0).mean()


def rank_as_printed(operator):
    k, n = operator.shape
    basis = np.linalg.svd(np.ones((1, n)))[2][1:].T
    determinant = np.linalg.det(basis.T @ operator.T @ operator @ basis / k)
    return -np.log(determinant) / ((n - 1) * np.log(n - 1))


def coherence_over_ordered_pairs(operator):
    k = len(operator)
    total = 0.0
    for i in range(k):
        for j in range(k):
            if i != j:
                total -= np.log(1 - (operator[i] @ operator[j]) ** 2)
    return 2 / (k * k - k) * total


@pytest.mark.parametrize("n", [4, 9, 25])
def test_basis_is_orthonormal_and_without_mean(n):
    basis = complement_basis(n)
    assert basis.shape == (n, n - 1)
    assert np.allclose(basis.T @ basis, np.eye(n - 1), atol=1e-14)
    assert np.abs(basis.sum(axis=0)).max() < 1e-13


def test_cost_is_the_printed_one():
    point, _ = point_and_direction()
    u, v = point[:, :N_U], point[:, N_U:]
    expected = sparsity_as_printed(u, v, patches(N_U, M, 2), patches(N_V, M, 3))
    for operator, kappa, mu in zip((u, v), KAPPA, MU, strict=True):
        expected += kappa * rank_as_printed(operator)
        expected += mu * coherence_over_ordered_pairs(operator)
    assert learning_cost().value(point) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(
    "penalty", [RankPenalty(N_U), CoherencePenalty()], ids=["rank", "coherence"]
)
def test_gradient_of_a_penalty(penalty):
    point, direction = (part[:, :N_U] for part in point_and_direction())

    def value_and_gradient(operator):
        return penalty.value(operator), penalty.gradient(operator)

    assert slope_error(value_and_gradient, point, direction) < 1e-7
    ambient = np.random.default_rng(0).standard_normal(point.shape)
    assert slope_error(value_and_gradient, point, ambient) < 1e-7


def test_gradient_of_the_sparsity():
    point, _ = point_and_direction()
    u, v = point[:, :N_U], point[:, N_U:]
    patches_u, patches_v = patches(N_U, seed=2), patches(N_V, seed=3)
    ours = CoupledSparsity(patches_u, patches_v, NU, K).gradient(u, v)
    a, b = u @ patches_u.astype(float), v @ patches_v.astype(float)
    ratio = 1 + NU * (a**2 + b**2)
    expected = [
        2 * NU / M * (part / ratio) @ block.T for part, block in ((a, patches_u), (b, patches_v))
    ]
    for one, other in zip(ours, expected, strict=True):
        assert np.abs(one - other).max() < 1e-5 * np.abs(other).max()


def test_slope_of_the_whole_cost_along_the_spheres():
    point, direction = point_and_direction()
    cost = learning_cost(samples=500)

    def value_and_gradient(where):
        return cost.value(where), cost.gradient(where)

    # float32 responses allow no shorter step
    assert slope_error(value_and_gradient, point, direction, space=SPACE, step=1e-4) < 1e-4


@settings(deadline=None, max_examples=30)
@given(samples=st.integers(1, 4000), atoms=st.integers(3, 80))
def test_blocks_and_padding_change_nothing(samples, atoms):
    rng = np.random.default_rng(samples)
    space = ZeroMeanSpheres((4, 4))
    u, v = np.split(space.random(atoms, rng), 2, axis=1)
    patches_u, patches_v = patches(4, samples, 1), patches(4, samples, 2)
    value = CoupledSparsity(patches_u, patches_v, NU, atoms).value(u, v)
    assert value == pytest.approx(sparsity_as_printed(u, v, patches_u, patches_v), rel=1e-5)


@pytest.mark.parametrize("nu", [1e-6, 1.0, 1e6, 1e15])
def test_products_of_ratios_never_overflow(nu):
    point, _ = point_and_direction()
    u, v = point[:, :N_U], point[:, N_U:]
    patches_u, patches_v = patches(N_U, seed=2), patches(N_V, seed=3)
    squares = (u @ patches_u) ** 2 + (v @ patches_v) ** 2
    expected = np.log1p(nu * squares.astype(float)).sum() / M
    value = CoupledSparsity(patches_u, patches_v, nu, K).value(u, v)
    assert value == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_lost_rank_and_parallel_rows_cost_infinitely_much():
    point, _ = point_and_direction()
    cost = learning_cost()
    twins, flat = point.copy(), point.copy()
    twins[1, :N_U] = -twins[0, :N_U]
    flat[:, N_U:] = SPACE.normalise(np.ones_like(point) * np.arange(N_U + N_V))[:, N_U:]
    assert np.isfinite(cost.value(point))
    assert cost.value(twins) == np.inf
    assert cost.value(flat) == np.inf


def test_tight_frame_of_orthogonal_rows_is_free_of_coherence():
    rows = complement_basis(9).T
    assert CoherencePenalty().value(rows) == pytest.approx(0, abs=1e-13)
    assert np.abs(CoherencePenalty().gradient(rows)).max() < 1e-13


@settings(deadline=None, max_examples=30)
@given(p=st.integers(1, 70), q=st.integers(1, 90), r=st.integers(1, 120))
def test_steady_product_is_the_product(p, q, r):
    rng = np.random.default_rng(p)
    a, b = rng.standard_normal((p, q)), rng.standard_normal((q, r))
    assert np.allclose(steady_product(a, b), a @ b, rtol=0, atol=1e-12)
    assert ONE_THREAD // (q * r) >= 1
