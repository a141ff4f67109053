"""Textures and lattices that repeat fit again one period away."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from napari_cosparse.core.registration._repeats import rival
from napari_cosparse.core.registration._verdict import Verdict
from napari_cosparse.core.registration._verdict_after import (
    LONE,
    one_of_many,
)
from support.moved_pair import error, motion, moved_pair, run

SHAPE = 240, 320
YES = Verdict(trusted=True, reason="yes")


def scenery(seed):
    """Blobs of many sizes."""
    random = np.random.default_rng(seed)
    return 120 + 900 * sum(s * gaussian_filter(random.normal(size=SHAPE), s) for s in (2, 5))


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
