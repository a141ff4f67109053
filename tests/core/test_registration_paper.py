"""The paper's measure and solver: they run, lower the cost, and have the minima they have."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse.core.geometry import matrix_group
from napari_cosparse.core.registration._frame import Frame
from napari_cosparse.core.registration._newton import refine
from napari_cosparse.core.registration._scene import make_scene
from napari_cosparse.core.registration._sides import make_side
from support.moved_pair import PAIR, SHAPE, error, motion, moved_pair, run

TRUTH = motion(4.3, (3.4, -2.3))
NEAR = motion(3, (2, -1))


@pytest.fixture(scope="module")
def pair():
    return moved_pair(TRUTH)


@pytest.mark.parametrize("group", ["SE", "SA"])
def test_gradient_descent_lowers_the_coupled_sparsity(pair, group):
    found = run(*pair, group=group, measure="coupled", solver="gradient", initial=NEAR)
    assert found.measure == "coupled"
    assert found.parameters["solver"] == "gradient"
    assert found.cost_after < found.cost_before
    assert list(found.history) == sorted(found.history, reverse=True)
    assert matrix_group(group).contains(Frame(SHAPE, SHAPE).from_pixels(found.matrix), 1e-9)


def test_gradient_descent_nears_the_truth_with_the_normalised_measure(pair):
    found = run(*pair, measure="mutual", solver="gradient", initial=NEAR)
    assert error(found.matrix, TRUTH) < 0.5 * error(NEAR, TRUTH)


def test_gradient_steps_go_along_the_gradient(pair):
    made = make_scene(make_side(pair[0], "fixed"), make_side(pair[1], "moving"), "SE", PAIR)
    cost = made.cost(1, "mutual", 3000)
    start = made.frame.from_pixels(NEAR)
    first = next(refine(cost, start, made.group.exp, 1, gradient_only=True))
    step = made.group.log(first.tau @ np.linalg.inv(start))
    slope = cost(start).slope
    np.testing.assert_allclose(
        step / np.linalg.norm(step), -slope / np.linalg.norm(slope), atol=1e-6
    )


def test_coupled_sparsity_has_a_degenerate_minimum(pair):
    # pushing the images apart leaves nothing to be sparse about: cheaper than the truth
    made = make_scene(make_side(pair[0], "fixed"), make_side(pair[1], "moving"), "SE", PAIR)
    truth, apart = (made.frame.from_pixels(m) for m in (TRUTH, motion(0, (100, 0))))
    coupled, mutual = (made.cost(0, name, 5000) for name in ("coupled", "mutual"))
    assert coupled(apart).cost < 0.2 * coupled(truth).cost
    assert mutual(truth).cost < mutual(apart).cost


def test_normalised_measure_is_least_at_the_truth(pair):
    made = make_scene(make_side(pair[0], "fixed"), make_side(pair[1], "moving"), "A", PAIR)
    cost = made.cost(0, "mutual", 5000)
    least = cost(made.frame.from_pixels(TRUTH)).cost
    rng = np.random.default_rng(0)
    rivals = [made.frame.from_pixels(TRUTH @ motion(a, s)) for a, *s in rng.normal(0, 5, (20, 3))]
    rivals.append(made.frame.from_pixels(motion(0, linear=0.2 * np.eye(2))))  # zoom into a flat
    assert all(cost(tau).cost > least + 0.02 for tau in rivals)
