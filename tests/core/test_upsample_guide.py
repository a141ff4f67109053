"""What a guide says, and when it says nothing."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse.core.reconstruction import (
    degrade,
    gray_values,
)
from support.disc_scene import DEPTH, GUIDE, SHAPE, TARGET, make_guide, rmse, run, run_bicubic

CONSTANT_GUIDES = {
    "zero": np.zeros(SHAPE),
    "one value": np.full(SHAPE, 7, np.uint8),
    "one colour": np.broadcast_to(np.array([9, 80, 200], np.uint8), (*SHAPE, 3)),
    "alpha alone varies": np.dstack([np.full(SHAPE, 3.0), GUIDE]),
    "unknown": np.full(SHAPE, np.nan),
}


@pytest.mark.parametrize("name", CONSTANT_GUIDES)
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_constant_guide_is_no_guide(name, noise):
    found = run(guide=CONSTANT_GUIDES[name], noise=noise)
    plain = run(noise=noise, guided=False)
    assert np.array_equal(found.image, plain.image)
    assert (found.guided, plain.guided, run().guided) == (False, False, True)
    assert found.parameters["guided"] is False


def test_channels_count_by_the_largest_response_and_alpha_not_at_all():
    red, green = GUIDE.copy(), make_guide(DEPTH, seed=1)
    red[:, :36], green[:, 36:] = 90, 60  # each channel sees half of the scene
    colour = np.dstack([red, green, np.full(SHAPE, 50.0)])
    target = degrade(DEPTH, 8)
    found = run(target, colour, noise=0)
    assert rmse(found.image) < 0.8 * rmse(run(target, guided=False, noise=0).image)
    alpha = np.random.default_rng(0).uniform(0, 255, (*SHAPE, 1))
    with_alpha = run(target, np.concatenate([colour, alpha], 2), noise=0)
    assert np.array_equal(found.image, with_alpha.image)


def test_gray_guide_in_any_dress_is_the_same():
    plain = run()
    for guide in (GUIDE[..., None], np.dstack([GUIDE, 9 * GUIDE[::-1]])):
        assert np.array_equal(run(guide=guide).image, plain.image)
    gray = np.rint(GUIDE)
    same = run(guide=np.dstack([gray] * 3).astype(np.uint8)).image
    assert np.abs(same - run(guide=gray.astype(np.uint8)).image).max() < 1e-3 * 2


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_unknown_guide_pixels_say_nothing(value):
    guide = GUIDE.copy()
    guide[20:23, 40:42] = value
    found = run(guide=guide)
    assert np.isfinite(found.image).all()
    assert found.iterations > 20
    assert rmse(found.image) < 0.5 * rmse(run_bicubic(TARGET))


@pytest.mark.parametrize("value", [1e4, 65535, 1e12, -1e30])
def test_hot_pixel_of_the_guide_spoils_nothing(value):
    guide = GUIDE.copy()
    guide[5, 60] = value
    found = run(guide=guide)
    assert found.iterations > 20
    assert rmse(found.image) < 0.5 * rmse(run_bicubic(TARGET))


@pytest.mark.parametrize("channels", [1, 2, 3, 7, 8, 9, 20])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32", "float64"])
def test_gray_values_are_the_mean_of_the_channels_to_the_last_bit(channels, dtype):
    """Summing channel by channel is faster; the bits of earlier results must not change."""
    rng = np.random.default_rng(channels)
    image = rng.uniform(0, 200, (30, 40, channels))
    if np.dtype(dtype).kind == "f":
        image *= 10.0 ** rng.integers(-3, 3, image.shape)
        image[3, 4, 0], image[5, 6, -1] = np.nan, np.inf
    planes = image.astype(dtype)
    gray, ends = gray_values(planes)
    finite = planes.astype(np.float64)[np.isfinite(planes).all(2)]
    assert np.array_equal(gray, finite.mean(1))
    assert np.array_equal(ends, [finite.min(0), finite.max(0)])


def test_gray_values_of_an_unknown_guide_are_none_with_ends_the_wrong_way_round():
    gray, ends = gray_values(np.full((4, 5, 3), np.nan, np.float32))
    assert gray.size == 0
    assert (ends[0] == np.inf).all()
    assert (ends[1] == -np.inf).all()
