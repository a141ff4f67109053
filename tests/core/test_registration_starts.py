"""Where a registration may start: rotations, scales and shears that are tried."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse.core.progress import drain
from napari_cosparse.core.registration._measures import Evaluation
from napari_cosparse.core.registration._motions import distance
from napari_cosparse.core.registration._newton import State
from napari_cosparse.core.registration._scene import make_scene
from napari_cosparse.core.registration._sides import make_side
from napari_cosparse.core.registration._solve import _choose
from napari_cosparse.core.registration._start import Candidate, grid_of_motions, rotation, sheared
from napari_cosparse.core.registration._starts import (
    Plan,
    largest_margin,
    margin,
    search_starts,
)
from napari_cosparse.core.registration._walk import until_joined
from support.moved_pair import PAIR, motion, moved_pair

SHAPE = 208, 272


def best_start(group, matrix):
    """Distance of the best start from the truth, in pixels."""
    pair = moved_pair(matrix, SHAPE)
    made = make_scene(*(make_side(image, "image") for image in pair), group, PAIR)
    found = drain(search_starts(made, "both", Plan(15.0, 1.1, np.eye(2))))
    truth = made.frame.from_pixels(matrix)
    return distance(made, found[0].tau, truth)


@settings(deadline=None, max_examples=30)
@given(st.floats(0, 200), st.floats(1, 3))
def test_grid_reaches_its_limits_and_holds_no_rotation_twice(turn, scale):
    motions = grid_of_motions(turn, scale)
    sizes = np.sqrt([np.linalg.det(part) for part in motions])
    assert sizes.max() >= scale * (1 - 1e-9)
    assert sizes.min() <= (1 + 1e-9) / scale
    assert len({tuple(np.round(part.ravel(), 6)) for part in motions}) == len(motions)


def test_grid_follows_what_is_known():
    known = np.array([[1.5, 0.2], [0, 1.0]])
    first = grid_of_motions(3, 1.0, known)
    assert len(first) == 3
    np.testing.assert_allclose(first[0], rotation(-3.0) @ known)


def test_shears_surround_a_motion_and_keep_areas_to_second_order():
    around = sheared([rotation(9.0)], 0.04)
    assert len(around) == 9
    np.testing.assert_allclose([np.linalg.det(part) for part in around], 1, atol=0.04**2 + 1e-12)
    assert any(np.allclose(part, rotation(9.0)) for part in around)


def test_shears_of_neighbours_are_tried_once():
    one = sheared([np.eye(2)], 0.08)
    again = sheared(one, 0.08)
    assert len(again) < 9 * len(one)


@pytest.mark.parametrize("linear", [[[1.09, 0.0], [0.0, 0.92]], [[1.0, 0.08], [0.08, 1.0]]])
def test_start_of_an_affine_motion_is_sheared(linear):
    matrix = motion(5, (6, -9), linear, SHAPE)
    assert best_start("A", matrix) < 8 < best_start("similarity", matrix)


def test_walk_to_the_end_of_an_earlier_one_is_broken_off():
    matrix = motion(3, (2, -4), shape=SHAPE)
    pair = moved_pair(matrix, SHAPE)
    made = make_scene(*(make_side(image, "image") for image in pair), "SE", PAIR)
    cost = made.cost(0, "both", 5000)

    def walk(shift):
        return made.walk(cost, made.frame.from_pixels(motion(3, shift, shape=SHAPE)), 40, 0.01)

    first = drain(walk((3, -3)))
    alone = drain(walk((0, -5)))
    joined = drain(until_joined(made, walk((0, -5)), [first], 1.0))
    assert distance(made, joined.tau, first.tau) <= 1.0
    assert joined.evaluations < alone.evaluations
    assert joined.found.cost >= first.found.cost
    higher = first._replace(found=first.found._replace(cost=np.inf))
    free = drain(until_joined(made, walk((0, -5)), [higher], 1.0))
    np.testing.assert_array_equal(free.tau, alone.tau)


class Uncertain:
    """A cost whose parts differ between two ends by a given deviation."""

    def __init__(self, deviation):
        self.spread = deviation / np.sqrt(3) * np.array([-1, 1, -1, 1])

    def without_each(self, tau, size, *, slopes):
        return [Evaluation(s * tau[0, 2], np.zeros(3), 1, 1) for s in self.spread]


@pytest.mark.parametrize(
    ("score", "deviation", "chosen"),
    [
        (0.8, 0.010, 0),  # the desk: a worse start ends lower, but by chance
        (0.8, 0.003, 1),  # lower beyond chance
        (0.95, 0.010, 1),  # starts as good: Aloe under an affine motion
    ],
)
def test_a_clearly_better_start_stays_unless_another_end_is_lower_beyond_chance(
    score, deviation, chosen
):
    there = np.eye(3)
    there[0, 2] = 1.0
    starts = [Candidate(np.eye(3), 40.0), Candidate(there, 40.0 * score)]
    ends = [
        State(start.tau, Evaluation(cost, np.zeros(3), 1, 1), 1)
        for start, cost in zip(starts, (-1.36, -1.372), strict=True)
    ]
    assert _choose(Uncertain(deviation), starts, ends) == chosen


places = st.tuples(st.floats(-60, 60), st.floats(-60, 60), st.floats(-30, 30))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(places, st.floats(0, 20)), min_size=1, max_size=12), places)
def test_no_answer_leads_by_more_than_the_starts_allow(starts, answer):
    made = flat_scene()
    found = [Candidate(placed_at(made, place), score) for place, score in starts]
    found.sort(key=lambda start: -start.score)
    assert margin(made, found, placed_at(made, answer)) <= largest_margin(made, found)


def test_a_start_without_rivals_may_lead_by_all():
    made = flat_scene()
    near = [Candidate(placed_at(made, (0, 0, turn)), 9.0 - turn) for turn in (0.0, 3.0)]
    assert largest_margin(made, near) == 1
    far = Candidate(placed_at(made, (60, 60, 0)), 6.3)
    assert largest_margin(made, [near[0], far, near[1]]) == pytest.approx(0.3)


def flat_scene():
    sides = (make_side(image, "image") for image in moved_pair(np.eye(3), SHAPE))
    return make_scene(*sides, "SE", PAIR)


def placed_at(made, place):
    """Group element of a shift in pixels and a turn in degrees."""
    *shift, turn = place
    return made.frame.from_pixels(motion(turn, shift))
