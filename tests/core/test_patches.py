"""Which patches are drawn, and what becomes of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import _images
from napari_cosparse.core.operators._candidates import Part, draw_positions
from napari_cosparse.core.operators._images import as_image, luminance, valid_pixels
from napari_cosparse.core.operators._patches import (
    eligible_positions,
    gather,
    normalise,
    shares,
    turn,
)
from napari_cosparse.core.ranges import robust_range


def noise(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def windows(image, side):
    """All patches, cut out one by one."""
    rows, columns = image.shape[0] - side + 1, image.shape[1] - side + 1
    return {(r, c): image[r : r + side, c : c + side] for r in range(rows) for c in range(columns)}


@settings(deadline=None, max_examples=40)
@given(
    height=st.integers(6, 30),
    width=st.integers(6, 30),
    side=st.integers(2, 6),
    threshold=st.floats(0, 0.5),
    seed=st.integers(0, 99),
)
def test_eligible_are_the_known_patches_above_the_threshold(height, width, side, threshold, seed):
    image = noise((height, width), seed)
    image[height // 2, width // 3] = np.nan
    image[:3, :3] = 0.25
    mask = eligible_positions(image, side, threshold)
    _, spread = robust_range(image[np.isfinite(image)])
    assert mask.shape == (height - side + 1, width - side + 1)
    for position, patch in windows(image, side).items():
        least = max(threshold, 1e-6) * spread
        expected = bool(np.isfinite(patch).all() and patch.std() > least)
        close = abs(patch.std() - least) < 1e-9 * spread
        assert mask[position] == expected or close


@pytest.mark.parametrize("colour", [False, True])
def test_bands_change_nothing(monkeypatch, colour):
    image = noise((41, 17, 3) if colour else (41, 17))
    whole = eligible_positions(image, 4, 0.2)
    monkeypatch.setattr(_images, "BAND", 7)
    assert np.array_equal(eligible_positions(image, 4, 0.2), whole)
    assert 0 < whole.sum() < whole.size


def test_constant_patches_are_never_eligible_however_far_from_the_range():
    image = noise((20, 20)).round(1)
    image[:6, :6] = 1e12
    mask = eligible_positions(image, 3, 0.0)
    assert not mask[:4, :4].any()
    assert np.isfinite(normalise(gather(image, np.argwhere(mask), 3))).all()


def test_thresholds_do_not_depend_on_unit_and_offset():
    image = noise((30, 30))
    mask = eligible_positions(image, 3, 0.2)
    assert np.array_equal(eligible_positions(1e-5 * image - 3, 3, 0.2), mask)
    assert np.array_equal(eligible_positions(4000 * image + 1e5, 3, 0.2), mask)
    assert 0 < mask.sum() < mask.size


def test_invalid_value_counts_in_all_channels_only():
    image = np.ones((4, 4, 3), np.uint8)
    image[0, 0] = 0
    image[1, 1, 0] = 0
    expected = np.ones((4, 4), bool)
    expected[0, 0] = False
    assert np.array_equal(valid_pixels(image, 0), expected)
    assert valid_pixels(image, None).all()


def test_invalid_value_need_not_fit_the_type():
    assert valid_pixels(np.zeros((3, 3), np.uint8), -9999.0).all()
    single = np.full((3, 3), 0.1, np.float32)
    assert not valid_pixels(single, np.float64(0.1)).any()


@settings(deadline=None, max_examples=60)
@given(available=st.lists(st.integers(0, 50), min_size=1, max_size=6), samples=st.integers(1, 200))
def test_shares_are_equal_as_far_as_they_can(available, samples):
    given_out = shares(available, samples)
    assert sum(given_out) == min(samples, sum(available))
    assert all(0 <= got <= most for got, most in zip(given_out, available, strict=True))
    unlimited = [got for got, most in zip(given_out, available, strict=True) if got < most]
    if unlimited:
        assert max(given_out) - min(unlimited) <= 1


def test_enough_patches_give_equal_numbers():
    assert shares([100, 200, 300], 30) == [10, 10, 10]
    assert shares([100, 2, 300], 31) == [15, 2, 14]


@settings(deadline=None, max_examples=30)
@given(count=st.integers(0, 20), seed=st.integers(0, 99))
def test_positions_are_eligible_different_and_repeatable(count, seed):
    mask = np.random.default_rng(seed).random((9, 13)) < 0.3
    count = min(count, int(mask.sum()))
    drawn = [draw_positions([Part.of(mask)], count, np.random.default_rng(seed)) for _ in "ab"]
    assert np.array_equal(*drawn)
    assert len({tuple(position) for position in drawn[0]}) == count
    assert mask[tuple(drawn[0].T)].all()
    parts = [Part.of(mask[:4]), Part.of(mask[4:], row=4)]
    assert np.array_equal(draw_positions(parts, count, np.random.default_rng(seed)), drawn[0])


def test_each_position_is_drawn_about_equally_often():
    mask = np.ones((3, 4), bool)
    counts = np.zeros(mask.shape)
    rng = np.random.default_rng(0)
    for _ in range(1200):
        counts[tuple(draw_positions([Part.of(mask)], 3, rng).T)] += 1
    assert np.abs(counts - 300).max() < 75  # five standard deviations


@pytest.mark.parametrize("side", [2, 3, 4, 5])
def test_gathered_patches_are_those_at_the_positions(side):
    image = noise((12, 10))
    positions = np.array([(0, 0), (12 - side, 10 - side), (3, 2)])
    patches = gather(image, positions, side)
    for patch, position in zip(patches, positions, strict=True):
        assert np.array_equal(patch, windows(image, side)[tuple(position)])


def test_colours_are_gathered_as_luminance():
    image = np.random.default_rng(0).integers(0, 256, (12, 10, 3), np.uint8)
    positions = np.array([(0, 0), (4, 5)])
    plane = image @ np.array([0.299, 0.587, 0.114])
    expected = gather(plane, positions, 3)
    assert np.allclose(gather(image, positions, 3), expected, rtol=0, atol=1e-12)
    assert np.allclose(luminance(image, colour=True), plane, rtol=0, atol=1e-12)


def test_normalised_patches_have_no_mean_and_unit_deviation():
    columns = normalise(1e4 + 0.01 * noise((7, 4, 4)))
    assert columns.shape == (16, 7)
    assert columns.dtype == np.float32
    assert np.abs(columns.mean(axis=0)).max() < 1e-6
    assert np.allclose(columns.std(axis=0), 1, atol=1e-6)


def test_turns_are_the_eight_symmetries_of_the_square():
    patch = np.arange(9.0).reshape(1, 3, 3)
    images = {turn(patch, np.array([code])).tobytes() for code in range(8)}
    assert len(images) == 8
    assert np.array_equal(turn(patch, np.array([0])), patch)
    for code in range(8):
        turned = turn(patch, np.array([code]))[0]
        assert turned[1, 1] == 4
        corners = [turned[0, 0], turned[0, 2], turned[2, 2], turned[2, 0]]
        start = corners.index(0)
        around = corners[start:] + corners[:start]
        assert around in ([0, 2, 8, 6], [0, 6, 8, 2])


def test_turns_are_chosen_for_each_patch():
    stack = noise((5, 4, 4))
    codes = np.array([3, 0, 7, 4, 1])
    turned = turn(stack, codes)
    for index in range(5):
        assert np.array_equal(
            turned[index], turn(stack[index : index + 1], codes[index : index + 1])[0]
        )


@pytest.mark.parametrize(("shape", "channels"), [((5, 6), None), ((5, 6, 3), 3), ((5, 6, 4), 3)])
def test_images_and_colours_are_taken_and_opacity_dropped(shape, channels):
    image = as_image(np.zeros(shape), "u")
    assert image.shape == ((5, 6) if channels is None else (5, 6, channels))


@pytest.mark.parametrize("shape", [(5,), (5, 6, 2), (5, 6, 1), (2, 5, 6, 3), ()])
def test_other_shapes_are_refused_by_name(shape):
    with pytest.raises(InputError, match="u of image pair 1"):
        as_image(np.zeros(shape), "u of image pair 1")


@pytest.mark.parametrize("dtype", [complex, object, "U3", "M8[s]"])
def test_other_types_are_refused(dtype):
    with pytest.raises(InputError, match="real numbers"):
        as_image(
            np.zeros((5, 6)).astype(dtype) if dtype != "M8[s]" else np.zeros((5, 6), dtype), "u"
        )


def test_masked_pixels_are_unknown():
    image = np.ma.masked_equal(np.arange(12).reshape(3, 4), 5)
    assert np.array_equal(valid_pixels(as_image(image, "u"), None), ~image.mask)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.float16, np.float32])
def test_range_of_narrow_types_does_not_overflow(dtype):
    ends = (np.finfo if np.dtype(dtype).kind == "f" else np.iinfo)(dtype)
    low, high = (float(ends.min), float(ends.max)) if np.dtype(dtype).kind != "f" else (-9e3, 9e3)
    values = np.repeat(np.array([low, high]), 50).astype(dtype)
    assert robust_range(values) == pytest.approx((low, high - low), rel=1e-3)


def test_range_falls_back_to_the_extremes_and_to_one():
    values = np.zeros(1000)
    assert robust_range(values) == (0.0, 1.0)
    values[3] = 7.0
    assert robust_range(values) == (0.0, 7.0)
    assert robust_range(np.zeros(0)) == (0.0, 1.0)
    assert robust_range(np.arange(101.0)) == (1.0, 98.0)
