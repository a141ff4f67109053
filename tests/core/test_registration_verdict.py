"""What cannot be decided is not trusted, and says why."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.registration._answer import Answer
from napari_cosparse.core.registration._frame import Frame
from napari_cosparse.core.registration._verdict import _consistent, _outdone, judge_quickly
from napari_cosparse.core.registration._verdict_after import agreed
from support.moved_pair import SHAPE, error, folded, motion, moved_pair, picture, run, view

TRUTH = motion(7.3, (5.4, -8.3))


SMALL = 72, 96


def noise(seed, shape=SMALL, width=0.0):
    return gaussian_filter(np.random.default_rng(seed).standard_normal(shape), width)


def flip(columns=SHAPE[1]):
    return np.array([[1, 0, 0], [0, -1, columns - 1], [0, 0, 1.0]])


def mirrored(*, allow):
    """Registration with the reversed columns of the moving image."""
    fixed, moving = moved_pair(TRUTH)
    quick = {"measure": "mutual", "max_rotation": 20} if allow else {}
    return run(fixed, moving[:, ::-1], verdict=True, allow_reflection=allow, **quick)


def test_clear_pair_is_trusted():
    found = run(*moved_pair(TRUTH), verdict=True)
    assert found.trusted
    assert found.because.startswith("by edges and grey values together, it agrees to 0.")
    assert f"the next best place is {int(100 * found.margin)}% worse" in found.because
    assert max(found.inverse_consistency) < 1
    assert found.margin > 0.3
    assert 0 < found.predicted_error < 1
    assert 0.7 < found.overlap < 1
    assert not found.reflected
    assert error(found.matrix, TRUTH) < 0.2
    assert f"trusted: {found.because}" in str(found)


@pytest.mark.parametrize("width", [0, 2])
def test_noise_is_not_trusted(width):
    found = run(noise(0, width=width), noise(1, width=width), verdict=True)
    assert not found.trusted
    assert "(limit " in found.because or "another place fits better" in found.because
    assert ": give a start" in found.because
    assert np.linalg.det(found.matrix) > 0


def test_what_a_start_elsewhere_equals_is_refused_without_a_backward_run():
    found = run(noise(0, width=2), noise(1, width=2), measure="both", verdict=True)
    assert found.margin < 0.15
    assert np.isnan(found.inverse_consistency).all()
    assert "by edges and grey values together, " in found.because
    assert "place" in found.because


def test_noise_is_not_trusted_without_backward_runs():
    found = run(noise(0, SHAPE), noise(1, SHAPE))
    assert not found.trusted
    assert "Judge the result (verdict=True; no --no-verdict)" in found.because


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("value", [0.0, 7.5, np.nan])
def test_nothing_to_register_leaves_the_start(which, value):
    images = [view(picture()), view(picture())]
    images[which] = np.full(SHAPE, value)
    start = motion(3, (4, 5))
    found = run(*images, initial=start, verdict=True)
    np.testing.assert_allclose(found.matrix, start, atol=1e-12)
    np.testing.assert_array_equal(found.matrix, found.start)
    assert not found.trusted
    assert f"the {('fixed', 'moving')[which]} image" in found.because
    assert "nothing to register" in found.because
    assert np.isnan(found.cost_after)
    assert found.stop is Stop.NO_DESCENT
    assert found.residual is None


def test_mirror_image_is_named_and_not_trusted():
    found = mirrored(allow=False)
    assert found.reflected
    assert not found.trusted
    for words in ("flip it", "> Allow a mirror image", "allow_reflection", "--allow-reflection"):
        assert words in found.because
    assert np.linalg.det(found.matrix) < 0


def test_mirror_image_is_solved_where_it_may_be():
    found = mirrored(allow=True)
    assert found.trusted
    assert found.reflected
    assert np.linalg.det(found.matrix) < 0
    assert error(found.matrix, flip() @ TRUTH) < 0.3


def test_reflection_that_is_allowed_is_not_preferred():
    found = run(*moved_pair(TRUTH), verdict=True, allow_reflection=True)
    assert not found.reflected
    assert np.linalg.det(found.matrix) > 0


@pytest.mark.parametrize(
    ("lead", "words"),
    [
        (0.149, "the next best place is 14% worse (limit 15%): give a start or landmarks"),
        (-1.0, "another place fits better: give a start or landmarks"),
    ],
)
def test_what_leads_too_little_is_told(lead, words):
    told = _outdone("both", answer(margin=lead))
    assert not told.trusted
    assert told.because == f"by edges and grey values together, {words}"


def test_images_of_different_places_are_not_trusted():
    fixed, moving = view(picture(SMALL, 3), None, SMALL), view(picture(SMALL, 11), None, SMALL)
    found = run(fixed, folded(moving), verdict=True)
    assert not found.trusted
    assert np.linalg.det(found.matrix) > 0


def test_start_beyond_the_images_is_not_trusted():
    fixed, moving = moved_pair(TRUTH)
    found = run(fixed, moving, initial=motion(0, (0, 155)), verdict=True)
    assert not found.trusted
    assert "of the fixed image is covered (limit 15%)" in found.because
    assert np.isfinite(found.matrix).all()


def test_grey_levels_answer_where_edges_say_too_little():
    found = run(*moved_pair(TRUTH), measure="nmi", verdict=True)
    assert found.measure == "nmi"
    assert error(found.matrix, TRUTH) < 0.3
    assert "grey values alone (mutual information)" in found.because


def test_start_without_verdict_says_that_it_was_not_checked():
    found = run(*moved_pair(TRUTH), initial=motion(6, (4, -7)))
    assert not found.trusted
    assert "nothing was checked: turn on" in found.because
    assert np.isnan(found.inverse_consistency).all()


# --- what is left


def test_residual_shows_the_part_that_moved():
    shape = 192, 256
    truth = motion(0, (3, -2), shape=shape)
    fixed, moving = moved_pair(truth, shape)
    moving[:96, :128] = np.roll(moving, 6, 1)[:96, :128]
    found = run(fixed, moving, initial=truth)
    assert error(found.matrix, truth, shape) < 1.5
    corner, rest = found.residual[:3, :3], found.residual[4:, 4:]
    assert found.residual.shape == (8, 8)
    assert abs(np.nanmedian(corner) - 6) <= 1
    assert np.nanmedian(rest) <= 1


def test_residual_of_a_good_fit_is_small():
    shape = 192, 256
    truth = motion(3, (3, -2), shape=shape)
    found = run(*moved_pair(truth, shape), initial=truth)
    assert np.nanmax(found.residual[1:7, 1:7]) <= 1
    assert np.isfinite(found.residual).mean() > 0.5


def test_predicted_error_grows_with_the_noise():
    fixed, moving = moved_pair(TRUTH)
    found = [
        run(fixed, moving + s * noise(0, SHAPE), initial=TRUTH).predicted_error for s in (0, 40)
    ]
    assert found[1] > 1.5 * found[0]


@pytest.mark.parametrize(
    ("overlap", "agreement", "shape", "trusted"),
    [
        (0.52, 0.5, (60, 80), False),  # one period off: the basket in Middlebury's Laundry
        (0.52, 1.0, (60, 80), True),  # no start leads elsewhere
        (0.9, 0.5, (60, 80), True),
        (0.3, 0.5, (30, 40), True),  # a small moving image that lies inside the fixed one
    ],
)
def test_little_overlap_asks_for_closer_backward_runs(overlap, agreement, shape, trusted):
    frame = Frame((60, 80), shape)
    answer = Answer(np.eye(3), -1.3, agreement, 0.56, 60.0, 9, Stop.CHANGE_SMALL, (), overlap)
    pair = SimpleNamespace(frame=frame)
    verdict = _consistent(pair, "both", answer, 1.65, 1.48)
    assert verdict.trusted == trusted
    assert ("repeated pattern" in verdict.because) != trusted
    assert _consistent(pair, "both", answer, 0.7, 0.4).trusted


@pytest.mark.parametrize(
    ("swapped", "overlap", "doubtful"), [(1.9, 0.9, False), (2.6, 0.9, True), (0.1, 0.5, True)]
)
def test_trusted_answers_may_be_doubtful(swapped, overlap, doubtful):
    """The mirror image of a facade fits its other half, far ahead of other places."""
    pair = SimpleNamespace(frame=Frame((60, 80), (60, 80)))
    found = replace(answer(overlap=overlap, agreement=0.5), margin=0.56)
    verdict = _consistent(pair, "both", found, 0.9, swapped)
    assert verdict.trusted
    assert verdict.doubtful is doubtful


@pytest.mark.parametrize(
    ("apart", "overlap", "agreement", "trusted"),
    [
        (2.9, 0.9, 0.25, True),
        (3.1, 0.9, 0.25, False),
        (0.1, 0.5, 0.25, False),  # a repeated pattern deceives both
        (0.1, 0.1, 1.0, False),
    ],
)
def test_two_measures_that_find_one_place_are_believed(apart, overlap, agreement, trusted):
    frame = Frame((60, 80), (60, 80))
    first = replace(answer(overlap=overlap, agreement=agreement), margin=0.05)
    tau = np.eye(3)
    tau[1, 2] = apart / frame.radius
    verdict = agreed(SimpleNamespace(frame=frame), first, replace(first, tau=tau))
    assert (verdict is not None) == trusted
    if trusted:
        assert verdict.trusted
        assert f"find the same place in two searches, {apart:.2f} px apart" in verdict.because


@pytest.mark.parametrize("margins", [(np.nan, np.nan), (np.nan, 0.3), (0.3, np.nan)])
def test_two_descents_from_where_the_images_lay_are_no_agreement(margins):
    scene = SimpleNamespace(frame=Frame((60, 80), (60, 80)))
    first, second = (answer(margin=margin, agreement=0.5) for margin in margins)
    assert agreed(scene, first, second) is None


@pytest.mark.parametrize("what", ["itself", "noise", "mirror"])
def test_without_a_start_nothing_is_trusted(what):
    """A small part of the fixed image, by a mask: nothing can be searched there."""
    fixed, moving = moved_pair(TRUTH)
    kinds = {"itself": moving, "noise": noise(0, moving.shape), "mirror": moving[:, ::-1]}
    mask = np.zeros(fixed.shape, bool)
    mask[40:72, 64:96] = True
    found = run(fixed, kinds[what], verdict=True, measure="auto", mask_fixed=mask)
    assert not found.trusted
    assert np.isnan(found.margin)
    assert "no start was found" in found.because
    assert found.because.endswith("fill small holes, enlarge masks, or give a start")


# --- words


def answer(overlap=0.9, margin=0.56, agreement=1.0, score=60.0):
    return Answer(np.eye(3), -1.3, agreement, margin, score, 9, Stop.CHANGE_SMALL, (), overlap)


@pytest.mark.parametrize(
    ("given", "back", "other", "words"),
    [
        (
            {},
            0.7,
            0.41,
            "it agrees to 0.70 px if registered the other way round (limit 4 px), ",
        ),
        ({}, 12.34, np.inf, "it lands 12 px away if registered the other way round (limit 4 px): "),
        ({"margin": 0.27}, 0.7, 3.456, "it lands 3.46 px away if"),
        ({}, 3.456, 12.3, "it agrees to 3.46 px if"),
        ({}, np.inf, np.inf, "nothing fits if registered the other way round: give a start or"),
        ({"margin": 1.0}, 3.5, 4.5, "(limit 4 px), and no other place fits"),
        ({"margin": 0.27}, 2.5, 0.4, "(limit 3 px), and the next best place is 27% worse"),
        (
            {"margin": 0.2},
            1.5,
            0.4,
            "other way round (limit 1 px), and the next best place is 20% ",
        ),
        ({"margin": np.nan}, 1.5, 0.4, "it agrees to 1.50 px if registered the other way round ("),
        ({"margin": np.nan}, 5.0, np.inf, ": give a nearer start, or search"),
    ],
)
def test_reasons_tell_number_limit_and_way_out(given, back, other, words):
    pair = SimpleNamespace(frame=Frame((60, 80), (60, 80)))
    verdict = _consistent(pair, "both", answer(**given), back, other)
    assert words in verdict.because
    assert verdict.trusted == (not verdict.way)


@pytest.mark.parametrize(
    ("given", "trusted", "words"),
    [
        (
            {},
            True,
            "edges coincide clearly (60 over chance, limit 15) and the next best place is ",
        ),
        ({"score": 12.0}, False, "edges coincide too little (12 over chance, limit 15): turn on"),
        ({"margin": 0.3}, False, "the next best place is 30% worse (limit 35%): turn on"),
        ({"margin": np.nan}, False, "nothing was checked: turn on"),
        ({"overlap": 0.1496}, False, "only 14% of the fixed image is covered (limit 15%): give"),
    ],
)
def test_reasons_without_backward_runs(given, trusted, words):
    verdict = judge_quickly(answer(**given), "both")
    assert verdict.because.startswith(words)
    assert verdict.trusted == trusted
