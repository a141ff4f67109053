"""Every slope of every measure against central differences."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from napari_cosparse.core.checks import slope_error
from napari_cosparse.core.geometry import matrix_group
from napari_cosparse.core.operators import bank, random_frame
from napari_cosparse.core.registration._both import BothCost
from napari_cosparse.core.registration._cost import CoSparsityCost
from napari_cosparse.core.registration._cost_nmi import InformationCost
from napari_cosparse.core.registration._scene import make_scene
from napari_cosparse.core.registration._sides import make_side
from support.moved_pair import PAIR, motion, moved_pair

SHAPE = 72, 100
GROUPS = ("SO", "SE", "similarity", "SA", "A")
MEASURES = ("both", "mutual", "coupled", "nmi")
PIXELS = 3000


@cache
def scene(group="SE", *, masked=True):
    fixed, moving = moved_pair(motion(4, (2, -3), shape=SHAPE), SHAPE)
    mask_fixed, mask_moving = np.ones((2, *SHAPE), bool)
    if masked:
        mask_fixed[:20, 60:] = False
        mask_moving[30:40, 20:45] = False
    sides = make_side(fixed, "fixed", mask_fixed), make_side(moving, "moving", mask_moving)
    return make_scene(*sides, group, PAIR)


def exact_cost(made, level, measure, pair=PAIR):
    if measure == "both":
        return BothCost(*(exact_cost(made, level, name, pair) for name in ("mutual", "nmi")))
    levels = made.fixed[level], made.moving[level]
    if measure == "nmi":
        return InformationCost(levels, made.frame, made.basis, PIXELS, dtype=np.float64)
    return CoSparsityCost(
        levels, made.frame, made.basis, pair, measure, pixels=PIXELS, dtype=np.float64
    )


def along(made, cost, tau):
    """Cost and slopes as functions of the algebra's coordinates, around a motion."""

    def value_and_gradient(coordinates):
        found = cost(made.group.exp(coordinates) @ tau)
        return found.cost, found.slope

    return value_and_gradient


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("group", GROUPS)
def test_slopes_are_those_of_the_cost(group, measure, level):
    made = scene(group)
    assert len(made.fixed) == 2
    cost = exact_cost(made, level, measure)
    tau = made.group.exp(0.03 * np.random.default_rng(2).standard_normal(made.group.dimension))
    function = along(made, cost, tau)
    point = np.zeros(made.group.dimension)
    slope = function(point)[1]
    # each axis, mixed with the steepest direction lest a small slope is compared with round-off
    directions = np.eye(len(point)) * np.where(slope < 0, -1, 1) + slope / np.linalg.norm(slope)
    errors = [slope_error(function, point, d, step=1e-6) for d in directions]
    assert max(errors) < 1e-5


@pytest.mark.parametrize("measure", MEASURES)
def test_slopes_where_the_images_overlap_little(measure):
    made = scene("A", masked=False)
    tau = made.frame.from_pixels(motion(10, (30, 45), [[1.1, 0.1], [0, 0.9]], SHAPE))
    cost = exact_cost(made, 0, measure)
    assert 0.1 < cost(tau).overlap < 0.5
    function = along(made, cost, tau)
    direction = np.random.default_rng(0).standard_normal(6)
    assert slope_error(function, np.zeros(6), direction, step=1e-6) < 1e-5


def test_slopes_with_a_bank_of_many_scales():
    pair = bank(random_frame())
    made = scene()
    cost = exact_cost(made, 0, "mutual", pair)
    function = along(made, cost, np.eye(3))
    assert slope_error(function, np.zeros(3), np.array([0.4, 1, -0.7]), step=1e-6) < 1e-5


@pytest.mark.parametrize("measure", MEASURES)
def test_single_precision_gives_the_same_cost_and_slope(measure):
    made = scene()
    single = made.cost(0, measure, PIXELS)(np.eye(3))
    double = exact_cost(made, 0, measure)(np.eye(3))
    assert single.cost == pytest.approx(double.cost, rel=1e-5)
    np.testing.assert_allclose(single.slope, double.slope, atol=1e-3 * abs(double.slope).max())


@pytest.mark.parametrize("measure", MEASURES)
def test_curvature_is_positive_and_symmetric(measure):
    made = scene("A")
    curvature = exact_cost(made, 0, measure).curvature(np.eye(3))
    np.testing.assert_allclose(curvature, curvature.T, rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(curvature).min() > 0


@pytest.mark.parametrize("measure", MEASURES)
def test_no_overlap_costs_no_digits(measure):
    made = scene()
    found = exact_cost(made, 0, measure)(made.frame.from_pixels(motion(0, (500, 0), shape=SHAPE)))
    assert found.overlap == 0
    assert np.isfinite(found.cost)
    assert not found.slope.any()


def test_both_adds_the_measures_and_leaves_out_the_parts_of_each():
    made = scene()
    edges, levels, both = (made.cost(0, name, PIXELS) for name in ("mutual", "nmi", "both"))
    here = np.eye(3)
    assert both(here).cost == pytest.approx(edges(here).cost + levels(here).cost)
    rest = [len(cost.without_each(here, 5)) for cost in (edges, levels)]
    costs = [part.cost for part in both.without_each(here, 5)]
    assert len(costs) == sum(rest)
    first = levels(here).cost + np.array([part.cost for part in edges.without_each(here, 5)])
    np.testing.assert_allclose(costs[: rest[0]], first)


def test_order_of_tiles_is_kept_by_any_map():
    made = scene()

    def backwards(function, numbers):
        numbers = list(numbers)
        return [function(number) for number in numbers[::-1]][::-1]

    levels = made.fixed[0], made.moving[0]
    costs = [
        CoSparsityCost(levels, made.frame, made.basis, PAIR, map_=map_)(np.eye(3))
        for map_ in (map, backwards)
    ]
    assert costs[0].cost == costs[1].cost
    np.testing.assert_array_equal(costs[0].slope, costs[1].slope)


def test_basis_is_that_of_the_group():
    made = scene("SA")
    np.testing.assert_array_equal(made.basis, matrix_group("SA", made.frame.mean_square).basis)


def test_a_motion_changed_in_place_is_another_motion():
    made = scene()
    cost, here = made.cost(0, "mutual", PIXELS), np.eye(3)
    before = cost(here)
    here[0, 2] = 0.05
    assert cost(here).cost != before.cost
    assert cost(np.eye(3)).cost == before.cost
