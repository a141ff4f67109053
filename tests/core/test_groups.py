"""The groups of motions of the plane: laws, projections, exactness, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from napari_cosparse.core.checks import slope_error
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.geometry import MatrixGroup, matrix_group

DIMENSIONS = {"SO": 1, "SE": 3, "similarity": 4, "SA": 5, "A": 6}
names = st.sampled_from(list(DIMENSIONS))
seeds = st.integers(0, 2**32 - 1)
weights = st.floats(0.05, 20)
quick = settings(deadline=None, max_examples=50)


@pytest.fixture(params=DIMENSIONS)
def group(request):
    return matrix_group(request.param, 0.21)


def drawn(group, seed, size=0.5):
    rng = np.random.default_rng(seed)
    return group.exp(size * rng.standard_normal(group.dimension))


# --- the algebra and its metric


def test_dimension_counts_the_algebra(group):
    assert group.dimension == DIMENSIONS[group.name]
    flat = group.basis.reshape(group.dimension, 9)
    assert np.linalg.matrix_rank(flat) == group.dimension
    assert not group.basis[:, 2].any()


@given(names, weights)
@quick
def test_basis_is_orthonormal_in_the_metric(name, weight):
    group = matrix_group(name, weight)
    gram = [[group.inner(np.eye(3), a, b) for b in group.basis] for a in group.basis]
    np.testing.assert_allclose(gram, np.eye(group.dimension), atol=1e-14)


def test_inner_is_the_trace_of_the_paper(group):
    u, v = np.random.default_rng(0).standard_normal((2, 3, 3))
    m = group.mean_square
    p = np.array([[m, m, 1], [m, m, 1], [1, 1, 1]])
    assert group.inner(np.eye(3), u, v) == pytest.approx(np.trace((u * p) @ v.T), rel=1e-13)


def test_metric_is_the_mean_product_of_displacements(group):
    side = np.linspace(-1, 1, 101)
    points = np.stack([axis.ravel() for axis in np.meshgrid(side, side)] + [np.ones(101**2)])
    metric = MatrixGroup(group.name, float((side**2).mean()))
    u, v = (
        metric.tangent(np.random.default_rng(s).standard_normal(group.dimension)) for s in (1, 2)
    )
    mean = ((u @ points) * (v @ points)).sum(0).mean()
    assert metric.inner(np.eye(3), u, v) == pytest.approx(mean, rel=1e-10)


@given(names, weights, seeds)
@quick
def test_projection_is_the_one_of_the_appendix(name, weight, seed):
    group = matrix_group(name, weight)
    x = np.random.default_rng(seed).standard_normal((3, 3))
    block = x[:2, :2]
    expected = np.zeros((3, 3))
    expected[:2, :2] = {
        "SO": (block - block.T) / 2,
        "SE": (block - block.T) / 2,
        "similarity": (block - block.T) / 2 + np.trace(block) / 2 * np.eye(2),
        "SA": block - np.trace(block) / 2 * np.eye(2),
        "A": block,
    }[name]
    expected[:2, 2] = 0 if name == "SO" else x[:2, 2]
    found = group.tangent(group.project(x))
    np.testing.assert_allclose(found, expected, atol=1e-14)
    rest = x - found
    for element in group.basis:  # orthogonal in the metric
        assert abs(group.inner(np.eye(3), rest, element)) < 1e-12


def test_gradient_gives_the_slope(group):
    point = drawn(group, 3)
    wanted = np.random.default_rng(4).standard_normal((3, 3))

    def cost(tau):
        return float(np.sum(np.sin(wanted * tau))), wanted * np.cos(wanted * tau)

    direction = group.tangent(np.random.default_rng(5).standard_normal(group.dimension))
    assert slope_error(cost, point, direction, space=group) < 1e-8
    gradient = group.gradient(point, cost(point)[1])
    slopes = [np.sum(cost(point)[1] * (element @ point)) for element in group.basis]
    np.testing.assert_allclose(group.project(gradient), slopes, atol=1e-13)


# --- walks


def test_walk_starts_at_the_point_and_is_first_order(group):
    point = drawn(group, 1)
    tangent = group.tangent(np.random.default_rng(2).standard_normal(group.dimension))
    np.testing.assert_allclose(group.retract(point, 0 * tangent), point, atol=1e-15)
    errors = [
        np.linalg.norm(group.retract(point, t * tangent) - point - t * tangent @ point)
        for t in (1e-3, 1e-4)
    ]
    assert errors[1] < errors[0] / 50


@given(names, seeds, st.floats(-6, 1))
@quick
def test_exponential_agrees_with_scipy(name, seed, magnitude):
    group = matrix_group(name)
    coordinates = 10**magnitude * np.random.default_rng(seed).standard_normal(group.dimension)
    assume(abs(coordinates).max() < 10)
    expected = expm(group.tangent(coordinates))
    found = group.exp(coordinates)
    assert abs(found - expected).max() <= 1e-12 * abs(expected).max()
    assert np.linalg.det(found[:2, :2]) > 0


def test_a_large_shift_costs_the_rotation_no_digits():
    group = matrix_group("SE")
    turn, *shift = group.project([[0, -0.3, 1e9], [0.3, 0, -2e9], [0, 0, 0]])
    found = group.exp([turn, *shift])
    assert abs(found[1, 0] - np.sin(0.3)) < 1e-15
    angle = 0.3  # the shift is carried by the integral of the rotation
    integral = np.array([[np.sin(angle), np.cos(angle) - 1], [1 - np.cos(angle), np.sin(angle)]])
    np.testing.assert_allclose(found[:2, 2], integral @ [1e9, -2e9] / angle, rtol=1e-14)


def test_members_stay_members_after_thousands_of_updates(group):
    rng = np.random.default_rng(0)
    tau = np.eye(3)
    for _ in range(3000):
        tau = group.retract(tau, group.tangent(0.01 * rng.standard_normal(group.dimension)))
    linear = tau[:2, :2]
    assert np.linalg.det(linear) > 0
    assert tau[2].tolist() == [0, 0, 1]
    if group.name in ("SO", "SE"):
        assert abs(linear.T @ linear - np.eye(2)).max() < 5e-16
    if group.name == "SA":
        assert np.linalg.det(linear) == pytest.approx(1, abs=1e-13)
    if group.name == "similarity":
        assert (linear[0, 0], linear[0, 1]) == (linear[1, 1], -linear[1, 0])
    assert group.contains(tau)


# --- group laws


@given(names, seeds, seeds)
@quick
def test_closed_under_product_and_inverse(name, first, second):
    group = matrix_group(name)
    a, b = drawn(group, first), drawn(group, second)
    assert group.contains(a @ b, 1e-9 * abs(a @ b).max())
    assert group.contains(np.linalg.inv(a), 1e-9 * abs(np.linalg.inv(a)).max())


@given(names, seeds)
@quick
def test_inverse_is_the_walk_back(name, seed):
    group = matrix_group(name)
    coordinates = np.random.default_rng(seed).standard_normal(group.dimension)
    product = group.exp(coordinates) @ group.exp(-coordinates)
    scale = abs(group.exp(coordinates)).max() * abs(group.exp(-coordinates)).max()
    np.testing.assert_allclose(product, np.eye(3), atol=1e-13 * scale)


@given(names, seeds, st.floats(-8, 0))
@quick
def test_logarithm_undoes_the_exponential(name, seed, magnitude):
    group = matrix_group(name)
    coordinates = np.random.default_rng(seed).standard_normal(group.dimension)
    coordinates *= 10**magnitude / np.linalg.norm(coordinates)  # below half a turn
    found = group.log(group.exp(coordinates))
    np.testing.assert_allclose(found, coordinates, atol=1e-13)


def test_half_a_turn_has_a_logarithm():
    group = matrix_group("SE")
    half = np.array([[-1.0, 0, 3], [0, -1, 2], [0, 0, 1]])
    np.testing.assert_allclose(group.exp(group.log(half)), half, atol=1e-14)


@pytest.mark.parametrize("linear", [np.diag([-1.0, -2]), [[-1, 1], [0, -1]]])
def test_no_logarithm_where_no_walk_leads(linear):
    motion = np.eye(3)
    motion[:2, :2] = linear
    assert matrix_group("A").log(motion) is None


@pytest.mark.parametrize("stretch", [1 + 1e-9, 2.0, 1e6])
def test_logarithm_of_a_stretch_keeps_its_digits(stretch):
    group = matrix_group("A")
    motion = np.diag([stretch, 1 / stretch, 1.0])
    tangent = group.tangent(group.log(motion))
    assert tangent[0, 0] == pytest.approx(np.log(stretch), rel=1e-7)
    np.testing.assert_allclose(group.exp(group.log(motion)), motion, rtol=1e-13)


# --- nearest and membership


@given(names, seeds)
@quick
def test_nearest_leaves_members_alone(name, seed):
    group = matrix_group(name)
    member = drawn(group, seed)
    np.testing.assert_allclose(group.nearest(member), member, atol=1e-13)


@given(st.sampled_from(["SO", "SE", "similarity"]), seeds, seeds)
@quick
def test_nearest_is_a_least_squares_fit(name, seed, rival):
    group = matrix_group(name)
    matrix = drawn(matrix_group("A"), seed)
    matrix[:2, 2] = 0 if name == "SO" else matrix[:2, 2]
    near = group.nearest(matrix)
    step = 0.3 * np.random.default_rng(rival).standard_normal(group.dimension)
    other = group.retract(near, group.tangent(step))
    other[:2, 2] = near[:2, 2]
    assert np.linalg.norm(near - matrix) <= np.linalg.norm(other - matrix) + 1e-12


def test_membership():
    turn, stretch = drawn(matrix_group("SE"), 0), np.diag([2.0, 0.5, 1])
    assert [n for n in DIMENSIONS if matrix_group(n).contains(turn)] == [
        "SE",
        "similarity",
        "SA",
        "A",
    ]
    assert [n for n in DIMENSIONS if matrix_group(n).contains(stretch)] == ["SA", "A"]
    assert [n for n in DIMENSIONS if matrix_group(n).contains(2 * np.eye(3))] == []
    assert not matrix_group("A").contains(np.diag([1.0, -1, 1]))
    assert matrix_group("SE").contains(turn + 1e-4, tolerance=1e-3) is False  # the last row counts


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        (np.eye(2), r"\(2, 2\)"),
        (np.diag([1, 1, 2.0]), "last row"),
        (np.full((3, 3), np.nan), "not finite"),
        (np.diag([1, -1, 1.0]), "mirrored"),
        (np.diag([1, 0, 1.0]), "determinant 0"),
        ("matrix", "3x3 numbers"),
    ],
)
def test_what_is_no_motion_is_refused(matrix, says):
    with pytest.raises(InputError, match=says):
        matrix_group("SE").nearest(matrix)


def test_wrong_names_and_weights_are_refused():
    with pytest.raises(InputError, match="did you mean 'similarity'"):
        matrix_group("similar")
    with pytest.raises(InputError, match="mean_square 0"):
        matrix_group("SE", 0)
    with pytest.raises(InputError, match="not in the group SE"):
        matrix_group("SE").log(np.diag([2.0, 2, 1]))


# --- the rest of the protocol


def test_first_length_is_a_tenth_of_the_image(group):
    direction = group.tangent(np.random.default_rng(0).standard_normal(group.dimension))
    step = group.first_length(np.eye(3), direction) * direction
    assert group.inner(np.eye(3), step, step) == pytest.approx(0.01)
    assert group.first_length(np.eye(3), 0 * direction) > 0


def test_arguments_stay_as_they_are(group):
    point = drawn(group, 0)
    tangent = group.tangent(np.ones(group.dimension))
    before = point.copy(), tangent.copy()
    group.retract(point, tangent)
    group.gradient(point, tangent)
    group.nearest(point)
    assert group.transport(point, tangent, point, tangent) is tangent
    assert np.array_equal(before[0], point)
    assert np.array_equal(before[1], tangent)


def test_the_basis_cannot_be_changed(group):
    with pytest.raises(ValueError, match="read-only"):
        group.basis[0, 0, 0] = 1
