"""What fits for a wrong reason: burnt-in captions and frames, textures and lattices that repeat."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from napari_cosparse.core.registration._concentration import BETTER
from napari_cosparse.core.registration._repeats import rival
from napari_cosparse.core.registration._verdict import Verdict
from napari_cosparse.core.registration._verdict_after import (
    LONE,
    in_few_places,
    one_of_many,
)
from support.moved_pair import error, folded, motion, moved_pair, run

SHAPE = 240, 320
YES = Verdict(trusted=True, reason="yes")


def scenery(seed):
    """Blobs of many sizes."""
    random = np.random.default_rng(seed)
    return 120 + 900 * sum(s * gaussian_filter(random.normal(size=SHAPE), s) for s in (2, 5))


@cache
def caption():
    """Strip of block letters at the lower border."""
    letters = np.kron(np.random.default_rng(7).integers(0, 2, (5, 75)), np.ones((4, 4)))
    return letters > 0


def stamped(image):
    out = image.copy()
    out[-24:] = image.min()
    out[-22:-2, 10:310][caption()] = image.max()
    return out


def test_a_caption_on_unrelated_images_is_not_trusted():
    found = run(stamped(scenery(0)), stamped(scenery(1)), verdict=True)
    assert not found.trusted
    assert "of what agrees lies in 5% of the picture, but another place fits" in found.because
    assert found.because.endswith("mask it in both images")


def test_one_object_before_a_plain_background_is_trusted():
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]]
    ripples = np.sin(rows / 3) * np.cos(columns / 4) > 0
    image = (np.hypot(rows - 110, columns - 150) < 28) * (0.6 + 0.4 * ripples)
    noise = [gaussian_filter(np.random.default_rng(n).normal(size=SHAPE), 1) for n in (1, 2)]
    found = run(image + 0.02 * noise[0], 1 - image + 0.02 * noise[1], verdict=True)
    assert found.trusted
    assert error(found.matrix, np.eye(3), SHAPE) < 0.5


def test_a_caption_does_not_hide_that_the_images_are_moved():
    large = gaussian_filter(np.random.default_rng(5).normal(size=(320, 400)), 3)
    fixed, moving = stamped(large[40:280, 40:360]), stamped(-large[60:300, 10:330])
    found = run(fixed, moving, verdict=True)
    assert not found.trusted or error(found.matrix, motion(0, (-20, 30), shape=SHAPE), SHAPE) < 1


def test_a_caption_on_related_images_is_no_harm():
    image = scenery(0)
    found = run(stamped(image), stamped(folded(image)), verdict=True)
    assert found.trusted
    assert error(found.matrix, np.eye(3), SHAPE) < 1


@pytest.mark.parametrize("period", [16, 20])
def test_a_texture_that_repeats_is_not_trusted(period):
    tile = np.random.default_rng(4).uniform(size=(period, period))
    texture = np.tile(tile, (400 // period, 500 // period))
    found = run(texture[:300, :400], 1 - texture[7:307, 5:405], verdict=True)
    assert not found.trusted


def test_a_lattice_is_not_trusted_but_a_given_start_is_refined():
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]] / 14.0
    lattice = np.sin(2 * np.pi * rows) * np.sin(2 * np.pi * columns)
    lattice += 0.3 * scenery(2) / 900
    moved = np.roll(lattice, (3, -4), (0, 1))
    truth = motion(0, (3, -4), shape=SHAPE)
    found = run(lattice, -moved, verdict=True)
    assert not found.trusted
    assert "the images repeat themselves: " in found.because
    near = motion(0.5, (2, -3), shape=SHAPE)
    found = run(lattice, -moved, initial=near)
    assert error(found.matrix, truth, SHAPE) < 1


def test_a_scene_that_does_not_repeat_is_trusted():
    truth = motion(7.3, (5.4, -8.3))
    found = run(*moved_pair(truth), verdict=True)
    assert found.trusted


@pytest.mark.parametrize(("second", "lead"), [(0.0, 1.0), (0.3, 0.5), (0.72, -0.2)])
def test_lead_over_the_best_other_shift(second, lead):
    match, chance = np.zeros((2, 64, 80), np.float32)
    chance += 1.0
    match[32, 41], match[32, 43] = 1.0, 0.9  # one top
    match[20, 40], chance[20, 40] = second, 0.6
    match[32, 75], match[32, 7] = second * 0.99, second * 0.98  # as many edges: less for each
    match[50, 10], chance[50, 10] = 0.49, 0.4  # too little is shared
    found, away = rival(match, chance)
    assert found == pytest.approx(lead)
    assert np.isnan(away) if not second else away == 12


def test_of_periods_the_nearest_is_told():
    match, chance = np.zeros((2, 64, 80), np.float32)
    chance += 1.0
    match[32, 40] = 1.0
    match[32, 20], match[2, 40] = 0.99, 1.0
    assert rival(match, chance) == (0.0, 20.0)


def test_no_agreement_at_all_has_no_lead():
    assert rival(np.full((64, 80), -1.0, np.float32), np.ones((64, 80), np.float32))[0] == -1


@pytest.mark.parametrize("lead", [LONE - 0.01, LONE, -0.3])
def test_words_of_a_neighbour(lead):
    verdict = one_of_many(YES, lead, 16.0)
    assert verdict.trusted == (lead >= LONE)
    if not verdict.trusted:
        assert "the images repeat themselves: 16 px away another place is only" in verdict.because


def test_few_places_alone_are_no_reason():
    assert in_few_places(YES, 0.9, "") is YES
    assert not in_few_places(YES, 0.3, BETTER).trusted
