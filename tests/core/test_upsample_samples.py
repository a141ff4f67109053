"""Known, unknown, noisy and misplaced samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse.core.ranges import robust_range
from napari_cosparse.core.reconstruction import (
    degrade,
)
from support.disc_scene import (
    DEPTH,
    GUIDE,
    SHAPE,
    TARGET,
    holed,
    make_depth,
    make_guide,
    rmse,
    run,
    run_bicubic,
)

# --- samples ---


@pytest.mark.parametrize("blur", ["box", "gaussian", "bicubic", "none"])
@pytest.mark.parametrize("factor", [1, 2, 4, (2, 4), 2.025])
def test_known_samples_are_kept(blur, factor):
    phase = "corner"
    target = degrade(DEPTH, factor, phase=phase, blur=blur)
    found = run(target, factor=factor, phase=phase, blur=blur, noise=0)
    again = degrade(found.image, factor, phase=phase, blur=blur)
    span = robust_range(target)[1]
    assert np.abs(again - target).max() < 1e-4 * span
    assert found.misfit < 1e-4 * span
    assert found.misfit == pytest.approx(np.abs(again - target).max(), abs=1e-5)


@pytest.mark.parametrize("noise", [None, 0.0, 0.05])
def test_value_of_unknown_samples_changes_no_bit(noise):
    plain = run(holed(np.nan), noise=noise)
    assert np.isfinite(plain.image).all()
    for value in (np.inf, -np.inf):
        assert np.array_equal(run(holed(value), noise=noise).image, plain.image)
    for value in (0.0, -1.0, 1e4, 777.25):
        assert np.array_equal(run(holed(value), noise=noise, invalid=value).image, plain.image)


@pytest.mark.parametrize("noise", [None, 0.0, 0.05])
def test_value_of_samples_without_weight_changes_no_bit(noise):
    weights = np.isfinite(holed(np.nan)).astype(float)
    images = [
        run(holed(value), noise=noise, weights=weights).image
        for value in (1.5, 0.0, 1e6, np.nan, -np.inf)
    ]
    assert all(np.array_equal(image, images[0]) for image in images)
    assert np.array_equal(images[0], run(holed(np.nan), noise=noise).image)


@settings(max_examples=6)
@given(mask=st.integers(0, 2**32 - 1), value=st.floats(-1e3, 1e3), share=st.floats(0.02, 0.9))
def test_any_pattern_of_holes(mask, value, share):
    unknown = np.random.default_rng(mask).random(TARGET.shape) < share
    unknown[3, 3] = False
    target = np.where(unknown, np.float32(np.nan), TARGET)
    weights = np.where(unknown, 0.0, 1.0)
    found = run(target, noise=0)
    other = run(np.where(unknown, value, TARGET), noise=0, weights=weights)
    assert np.array_equal(found.image, other.image)
    assert np.abs(degrade(found.image, 4) - TARGET)[~unknown].max() < 1e-4 * 2
    assert found.overshoot <= 0.02 + 1e-6


def test_masked_array_is_known_where_not_masked():
    masked = np.ma.masked_array(holed(9.0), holed(9.0) == 9.0)
    assert np.array_equal(run(masked).image, run(holed(np.nan)).image)
    guide = np.ma.masked_array(GUIDE, GUIDE > 110)
    assert np.array_equal(run(guide=guide).image, run(guide=guide.filled(np.nan)).image)


def test_invalid_value_is_that_of_the_targets_type():
    target = holed(np.float32(0.1))  # not the number 0.1
    assert np.array_equal(run(target, invalid=0.1).image, run(holed(np.nan)).image)
    levels = np.rint(holed(0.0) * 50).astype(np.uint8)
    plain = run(np.where(levels == 0, np.nan, levels))
    assert np.array_equal(run(levels, invalid=0).image, plain.image)
    assert np.array_equal(run(levels, invalid=300).image, run(levels).image)


def test_holes_are_filled_by_the_model():
    truth = DEPTH.copy()
    target = degrade(truth, 1).astype(np.float32)
    unknown = np.random.default_rng(0).random(SHAPE) < 0.5
    target[unknown] = np.nan
    found = run(target, noise=0)
    assert found.factor == (1, 1)
    assert np.abs(found.image - target)[~unknown].max() < 1e-6
    assert rmse(found.image[unknown], truth[unknown]) < 0.2


def test_factor_one_without_holes_gives_the_target_back():
    assert np.allclose(run(DEPTH, noise=0).image, DEPTH, rtol=0, atol=1e-5)


# --- noise and weights ---

LARGE = make_depth((192, 200))
NOISY = degrade(LARGE, 4, noise=0.06, seed=3)
LARGE_GUIDE = make_guide(LARGE)


def test_noise_is_estimated_and_removed():
    found = run(NOISY, LARGE_GUIDE)
    assert found.noise_estimated
    assert found.noise == pytest.approx(0.06, rel=0.2)
    exact = run(NOISY, LARGE_GUIDE, noise=0)
    assert not exact.noise_estimated
    assert exact.noise == 0
    assert rmse(found.image, LARGE) < 0.7 * rmse(exact.image, LARGE)
    assert 0.06 < found.misfit < 0.5
    assert exact.misfit < 1e-4


def test_given_noise_is_used():
    found = run(NOISY, LARGE_GUIDE, noise=0.05)
    assert (found.noise_estimated, found.noise) == (False, pytest.approx(0.05))
    assert found.parameters["noise"] == pytest.approx(0.05)
    smoother = run(NOISY, LARGE_GUIDE, noise=0.3)
    assert smoother.misfit > found.misfit


def test_exact_samples_are_found_to_be_exact():
    found = run(degrade(LARGE, 4), LARGE_GUIDE)
    assert (found.noise_estimated, found.noise) == (True, 0)
    assert np.array_equal(found.image, run(degrade(LARGE, 4), LARGE_GUIDE, noise=0).image)


@pytest.mark.parametrize("factor", [2, 4])
@pytest.mark.parametrize("noise", [6e-4, 6e-3, 0.02])
def test_little_noise_does_little_harm(noise, factor):
    target = degrade(DEPTH, factor, noise=noise, seed=3)
    told, exact = run(target, noise=noise), run(target, noise=0)
    assert rmse(told.image) < 1.2 * rmse(exact.image) + noise


def test_weights_act_relative_to_their_mean():
    weights = np.random.default_rng(0).uniform(0.5, 2, NOISY.shape)
    first, second = (run(NOISY, LARGE_GUIDE, weights=w).image for w in (weights, 1000 * weights))
    assert rmse(first, second) < 1e-3
    even = run(NOISY, LARGE_GUIDE, weights=np.full(NOISY.shape, 4.0)).image
    assert np.array_equal(even, run(NOISY, LARGE_GUIDE).image)
    assert not np.array_equal(even, first)


def test_samples_of_little_confidence_give_way():
    spoiled = NOISY.copy()
    spoiled[20:24, 20:24] += 0.6
    weights = np.ones(NOISY.shape)
    weights[20:24, 20:24] = 1e-3
    part = (slice(80, 96), slice(80, 96))
    errors = [
        rmse(run(spoiled, LARGE_GUIDE, noise=0.06, weights=w).image[part], LARGE[part])
        for w in (None, weights)
    ]
    assert errors[1] < 0.3 * errors[0]


# --- placing ---


def test_origin_overrides_the_phase():
    centre = run(noise=0)
    given_ = run(noise=0, origin=(1.5, 1.5), phase="corner")
    assert np.array_equal(centre.image, given_.image)
    assert given_.origin == centre.origin == (1.5, 1.5)
    assert given_.parameters["origin"] == [1.5, 1.5]


def test_part_that_the_target_does_not_cover_is_unknown():
    part = TARGET[4:12, 5:]
    found = run(part, factor=4, origin=(17.5, 21.5), noise=0)
    known = np.isfinite(found.image)
    rows, columns = known.any(1), known.any(0)
    assert np.array_equal(known, np.outer(rows, columns))
    # Samples cover rows 16 to 47 and columns 20 to 71; two samples more are 8 pixels.
    assert np.flatnonzero(rows).tolist() == list(range(8, 56))
    assert np.flatnonzero(columns).tolist() == list(range(12, 72))
    assert rmse(found.image[16:48, 20:], DEPTH[16:48, 20:]) < 0.1
    assert found.image.shape == SHAPE
    assert found.origin == (17.5, 21.5)


def test_samples_outside_the_guide_do_not_count():
    wide = degrade(make_depth((64, 104)), 4)
    found = run(wide, factor=4, origin=(1.5, 1.5), noise=0)
    assert np.isfinite(found.image).all()
    assert np.abs(degrade(found.image, 4) - wide[:, :18]).max() < 1e-4 * 2
    assert found.misfit < 1e-4 * 2


def test_shift_of_the_origin_shifts_the_result():
    found = run(noise=0, origin=(1.5, 5.5), factor=4, guided=False).image
    plain = run(noise=0, guided=False).image
    assert rmse(found[:, 12:-8], plain[:, 8:-12]) < 0.1 * rmse(run_bicubic(TARGET))
