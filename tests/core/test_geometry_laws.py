"""One battery of laws over every search space."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.geometry import Flat, ZeroMeanSpheres

BLOCKS = (9, 4)


def flat_case(rng):
    return Flat(), rng.standard_normal((6, 13))


def spheres_case(rng):
    space = ZeroMeanSpheres(BLOCKS)
    return space, space.random(6, rng)


SPACES = {"flat": flat_case, "spheres": spheres_case}


@pytest.fixture(params=SPACES)
def case(request):
    """A space, a point, and a function that draws tangent vectors there."""
    rng = np.random.default_rng(7)
    space, point = SPACES[request.param](rng)
    return space, point, lambda: space.gradient(point, rng.standard_normal(point.shape))


def is_tangent(space, point, vector):
    return np.allclose(space.gradient(point, vector), vector, rtol=0, atol=1e-13)


def retraction_starts_at_the_point(space, point, tangent):
    assert np.allclose(space.retract(point, 0 * tangent()), point, rtol=0, atol=1e-15)


def retraction_is_first_order(space, point, tangent):
    direction = tangent()
    errors = [
        np.linalg.norm(space.retract(point, t * direction) - point - t * direction)
        for t in (1e-3, 1e-4)
    ]
    assert errors[1] <= errors[0] / 50 + 1e-14


def gradient_is_tangent(space, point, tangent):
    assert is_tangent(space, point, tangent())


def gradient_is_the_nearest_tangent(space, point, tangent):
    ambient = np.random.default_rng(1).standard_normal(point.shape)
    rest = ambient - space.gradient(point, ambient)
    assert abs(np.sum(rest * tangent())) < 1e-12


def transport_keeps_tangency(space, point, tangent):
    along = tangent()
    end = space.retract(point, along)
    assert is_tangent(space, end, space.transport(point, along, end, tangent()))


def transport_keeps_inner_products(space, point, tangent):
    along, u, v = 0.7 * tangent(), tangent(), tangent()
    end = space.retract(point, along)
    moved_u, moved_v = (space.transport(point, along, end, vector) for vector in (u, v))
    assert space.inner(end, moved_u, moved_v) == pytest.approx(space.inner(point, u, v), rel=1e-12)


def transport_of_nothing_is_the_identity(space, point, tangent):
    vector = tangent()
    still = 0 * vector
    assert np.allclose(space.transport(point, still, point, vector), vector, rtol=0, atol=1e-14)


def transport_carries_the_geodesic_along(space, point, tangent):
    along = 0.3 * tangent()
    end = space.retract(point, along)
    twice = space.retract(end, space.transport(point, along, end, along))
    assert np.allclose(twice, space.retract(point, 2 * along), rtol=0, atol=1e-13)


def inner_is_symmetric_and_positive(space, point, tangent):
    u, v = tangent(), tangent()
    assert space.inner(point, u, v) == space.inner(point, v, u)
    assert space.inner(point, u, u) > 0


def first_length_is_positive_even_for_no_direction(space, point, tangent):
    direction = tangent()
    assert space.first_length(point, direction) == pytest.approx(
        10 * space.first_length(point, 10 * direction)
    )
    assert space.first_length(point, 0 * direction) > 0


def arguments_stay_as_they_are(space, point, tangent):
    along, vector = tangent(), tangent()
    before = [array.copy() for array in (point, along, vector)]
    end = space.retract(point, along)
    space.transport(point, along, end, vector)
    space.gradient(point, vector)
    assert all(map(np.array_equal, before, (point, along, vector)))


LAWS = [
    retraction_starts_at_the_point,
    retraction_is_first_order,
    gradient_is_tangent,
    gradient_is_the_nearest_tangent,
    transport_keeps_tangency,
    transport_keeps_inner_products,
    transport_of_nothing_is_the_identity,
    transport_carries_the_geodesic_along,
    inner_is_symmetric_and_positive,
    first_length_is_positive_even_for_no_direction,
    arguments_stay_as_they_are,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law, case):
    law(*case)


def rows_stay(point):
    for block in np.split(point, [BLOCKS[0]], axis=1):
        assert np.abs(block.mean(axis=1)).max() < 1e-14
        assert np.abs(np.linalg.norm(block, axis=1) - 1).max() < 1e-14


def test_rows_stay_unit_and_without_mean_after_many_steps():
    rng = np.random.default_rng(0)
    space, point = spheres_case(rng)
    rows_stay(point)
    for _ in range(500):
        step = space.gradient(point, rng.standard_normal(point.shape))
        point = space.retract(point, step)
    rows_stay(point)


def test_geodesic_returns_after_a_full_circle():
    rng = np.random.default_rng(0)
    space, point = spheres_case(rng)
    direction = space.gradient(point, rng.standard_normal(point.shape))
    edge = BLOCKS[0]
    direction[:, :edge] /= np.linalg.norm(direction[:, :edge], axis=1, keepdims=True)
    direction[:, edge:] /= np.linalg.norm(direction[:, edge:], axis=1, keepdims=True)
    around = space.retract(point, space.first_length(point, direction) * direction)
    assert np.allclose(around, point, rtol=0, atol=1e-13)


def test_dimension_counts_the_tangent_space():
    rng = np.random.default_rng(0)
    space, point = spheres_case(rng)
    tangents = [space.gradient(point, unit.reshape(point.shape)) for unit in np.eye(point.size)]
    rank = np.linalg.matrix_rank(np.reshape(tangents, (point.size, -1)), tol=1e-10)
    assert rank == space.dimension(len(point)) == 6 * (7 + 2)


def test_blocks_without_freedom_are_refused():
    with pytest.raises(InputError, match=r"\(9, 2\)"):
        ZeroMeanSpheres((9, 2))
