"""What fits for a wrong reason: burnt-in captions and frames, textures and lattices that repeat."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from napari_cosparse.core.registration._repeats import _rival
from napari_cosparse.core.registration._verdict import Verdict
from napari_cosparse.core.registration._verdict_after import (
    NEIGHBOUR_MARGIN,
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


@pytest.mark.parametrize(("second", "lead"), [(0.0, 1.0), (0.5, 0.5), (1.2, -0.2)])
def test_lead_over_the_best_neighbour(second, lead):
    score = np.zeros((41, 41), np.float32)
    score[20, 21] = 1.0
    score[20, 33] = second
    score[20, 23] = 0.9  # the same top
    score[20, 39] = 2.0  # on the rim: a slope that rises beyond
    found, away = _rival(score)
    assert found == pytest.approx(lead)
    assert np.isnan(away) if not second else away == 13


def test_no_agreement_at_all_has_no_lead():
    assert _rival(np.full((41, 41), -1.0, np.float32))[0] == -1


@pytest.mark.parametrize("lead", [NEIGHBOUR_MARGIN - 0.01, NEIGHBOUR_MARGIN, -0.3])
def test_words_of_a_neighbour(lead):
    verdict = one_of_many(YES, lead, 16.0)
    assert verdict.trusted == (lead >= NEIGHBOUR_MARGIN)
    if not verdict.trusted:
        assert "the images repeat themselves: 16 px away another place is only" in verdict.because


def test_few_places_alone_are_no_reason():
    assert in_few_places(YES, 0.9, contradicted=False) is YES
    assert not in_few_places(YES, 0.3, contradicted=True).trusted
