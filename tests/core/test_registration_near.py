"""A start that lies near is refined, though the coarse levels lead elsewhere."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from napari_cosparse import register
from napari_cosparse.core.progress import drain
from napari_cosparse.core.registration._local import refine_start
from napari_cosparse.core.registration._motions import distance
from napari_cosparse.core.registration._scene import make_scene
from napari_cosparse.core.registration._sides import make_side
from napari_cosparse.core.registration._solve import PIXELS, descend
from napari_cosparse.io import make_scene as make_pair
from support.moved_pair import PAIR

TRUTH = (-10, -20)


@cache
def cut():
    """Parts of one scene that lie 10 rows and 20 columns apart."""
    whole = make_pair()
    return whole.guide[60:316, 100:420], whole.depth[70:300, 120:400]


def shift(place):
    matrix = np.eye(3)
    matrix[:2, 2] = place
    return matrix


@pytest.mark.parametrize("place", [(-8, -17), (-9, -19), (-8.3, -17.4), (-9.5, -19.5), (-12, -24)])
def test_near_start_is_refined(place):
    found = register(*cut(), initial=shift(place), search=False, verdict=False)
    assert np.hypot(*(found.matrix[:2, 2] - TRUTH)) < 0.1  # .05 with the last step, .55 without
    assert found.cost_after < found.cost_before - 0.015  # the nearest start has .017 to gain


def test_refined_near_start_is_trusted():
    found = register(*cut(), initial=shift((-8, -17)), search=False)
    assert found.trusted
    assert found.measure == "both"


# the coarser levels' ends are 11 to 16 pixels off and lower than these starts
@pytest.mark.parametrize("place", [(-7.5, -16), (-7, -15), (-8, -15)])
def test_near_start_is_refined_where_a_coarse_end_is_lower_than_it(place):
    scene = make_scene(*(make_side(image, "image") for image in cut()), "SE", PAIR)
    found = drain(refine_start(scene, "both", scene.frame.from_pixels(shift(place))))
    assert distance(scene, found.tau, scene.frame.from_pixels(shift(TRUTH))) < 0.7


def test_lowest_of_the_walks_from_all_levels_is_taken():
    scene = make_scene(*(make_side(image, "image") for image in cut()), "SE", PAIR)
    start = scene.frame.from_pixels(shift((-8, -17)))
    found = drain(refine_start(scene, "both", start))
    walks = [drain(descend(scene, "both", start, level)) for level in range(len(scene.fixed))]
    assert walks[-1].cost > found.cost + 0.07  # the coarsest level leads astray, by .08
    assert found.cost <= min(walk.cost for walk in walks) + 1e-3
    assert found.cost == scene.cost(0, "both", PIXELS)(found.tau).cost
    assert (
        distance(scene, found.tau, scene.frame.from_pixels(shift(TRUTH))) < 0.7
    )  # .58 before the last step
