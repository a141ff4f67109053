"""The estimate of the noise: right on noise, zero on what is exact."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse.core.reconstruction import Settings, degrade, measure
from napari_cosparse.core.reconstruction._noise import estimate_noise
from napari_cosparse.core.reconstruction._scale import scale_target
from napari_cosparse.io import load_operators


def estimate(image, known=None):
    """Estimate in the image's own unit."""
    known = np.ones(image.shape, bool) if known is None else known
    scaled = scale_target(np.where(known, image, np.nan))
    return estimate_noise(scaled.samples, scaled.known, scaled.unit.step) * scaled.span


def pieces(shape, seed=0, parts=4):
    """Planes that meet at straight edges of any angle, sampled by boxes of 4 x 4 pixels."""
    rng = np.random.default_rng(seed)
    rows, columns = np.indices([4 * n for n in shape]) / (4 * max(shape))
    image = np.zeros(rows.shape)
    for _ in range(parts):
        angle = rng.uniform(0, np.pi)
        side = np.cos(angle) * (rows - 0.5) + np.sin(angle) * (columns - 0.5)
        plane = rng.uniform(0, 1) + rng.normal(0, 0.3) * rows + rng.normal(0, 0.3) * columns
        image = np.where(side > rng.uniform(-0.3, 0.3), plane, image)
    return degrade(image, 4)


@pytest.mark.parametrize("std", [0.01, 0.1, 5.0])
@pytest.mark.parametrize("shape", [(64, 64), (94, 113), (200, 60)])
@pytest.mark.parametrize("seed", range(3))
def test_white_noise_is_measured(shape, std, seed):
    noise = np.random.default_rng(seed).normal(7, std, shape)
    assert estimate(noise) == pytest.approx(std, rel=0.15)


@pytest.mark.parametrize("std", [0.01, 0.03, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_noise_on_a_scene_is_measured(std, seed):
    rng = np.random.default_rng(seed)
    image = pieces((94, 113), seed) + rng.normal(0, std, (94, 113))
    assert estimate(image) == pytest.approx(std, rel=0.15)


@pytest.mark.parametrize("parts", [1, 2, 4, 8])
@pytest.mark.parametrize("shape", [(24, 32), (50, 40), (94, 113)])
def test_planes_and_edges_have_no_noise(shape, parts):
    for seed in range(4):
        assert estimate(pieces(shape, seed, parts)) == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_small_images_of_planes_have_no_noise(seed):
    assert estimate(pieces((16, 16), seed)) == 0.0


@pytest.mark.parametrize("slope", [0.01, 0.13, 0.5, 0.51, 1.7, 3.0])
@pytest.mark.parametrize("shape", [(8, 8), (20, 20), (60, 80)])
def test_rounded_ramps_have_no_noise(slope, shape):
    rows, columns = np.indices(shape)
    for across in (0.0, 0.4, 1.0, -1.0):
        assert estimate(np.rint(slope * (rows + across * columns) + 0.1)) == 0.0


def test_rounding_to_a_sixteenth_is_no_noise():
    rows, columns = np.indices((60, 80))
    assert estimate(np.rint(16 * (0.03 * rows + np.hypot(rows, columns) / 9)) / 16) == 0.0


@pytest.mark.parametrize("std", [1.0, 5.0])
def test_noise_that_was_rounded_is_still_noise(std):
    rng = np.random.default_rng(0)
    image = np.rint(100 * pieces((94, 113)) + rng.normal(0, std, (94, 113)))
    assert estimate(image) == pytest.approx(np.hypot(std, 12**-0.5), rel=0.15)


@pytest.mark.parametrize(("scale", "offset"), [(1e-3, 0), (255, -40), (65535, 1e5)])
def test_estimate_scales_with_the_image(scale, offset):
    image = pieces((50, 60)) + np.random.default_rng(0).normal(0, 0.05, (50, 60))
    assert estimate(scale * image + offset) == pytest.approx(scale * estimate(image), rel=1e-3)


def test_texture_beside_a_quiet_part_is_no_noise():
    image = pieces((64, 64))
    image[:, :40] += np.random.default_rng(0).normal(0, 0.2, (64, 40))
    assert estimate(image) == 0.0


def test_unknown_samples_do_not_count():
    rng = np.random.default_rng(0)
    image = pieces((64, 64)) + rng.normal(0, 0.05, (64, 64))
    known = rng.random((64, 64)) > 0.05
    found = estimate(image, known)
    assert found == pytest.approx(0.05, rel=0.2)
    assert estimate(np.where(known, image, 1e6), known) == found
    assert estimate(np.where(known, pieces((64, 64)), np.nan), known) == 0.0


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (2, 2), (3, 3), (40, 2)])
def test_images_that_say_nothing_have_no_noise(shape):
    assert estimate(np.full(shape, 3.0)) == 0.0


def test_image_without_a_whole_neighbourhood_has_no_noise():
    known = np.indices((30, 30)).sum(0) % 2 == 0
    assert estimate(np.random.default_rng(0).normal(0, 1, (30, 30)), known) == 0.0


def stripes(period, std):
    """Bands in all blocks of the quiet parts' size, and noise of a part of their height."""
    rows, columns = np.indices((256, 256))
    bands = ((rows + columns) % period < 0.4 * period).astype(float)
    return degrade(bands, 4) + np.random.default_rng(2).normal(0, std, (64, 64))


@pytest.mark.parametrize("period", [61, 80])
@pytest.mark.parametrize("masked", [False, True])
def test_edges_in_all_parts_are_no_noise(period, masked):
    """They made it 10 % of the bands' height and more, whatever it was."""
    known = np.ones((64, 64), bool)
    if masked:
        known = np.hypot(*(np.indices((64, 64)) - 25)) < 18
    assert estimate(stripes(period, 0), known) == 0.0
    assert 0.01 < estimate(stripes(period, 0.02), known) < 0.07


def test_large_holes_do_not_change_how_much_samples_are_trusted():
    """Single ones that are missing do: there are fewer samples for as many pixels."""
    pair, settings = load_operators("differences"), Settings(noise=0.1)
    image = pieces((64, 64))

    def density(known):
        target = np.where(known, image, np.nan)
        return measure(target, None, pair, settings, (4.0, 4.0), map).density

    whole = density(np.ones((64, 64), bool))
    hole = np.hypot(*(np.indices((64, 64)) - 31.5)) > 20
    assert density(hole) == pytest.approx(whole, rel=0.02)
    assert density(~hole) == pytest.approx(whole, rel=0.02)
    rows, columns = np.indices((64, 64))
    assert density((rows + columns) % 2 == 0) == pytest.approx(2 * whole, rel=0.02)


@pytest.mark.parametrize("rates", [(0.01, 0.05), (0.05, 1), (0.2, 3), (0, 3)])
@pytest.mark.parametrize("unit", [1, 0.37])
def test_noise_of_rare_counts_is_that_of_the_whole(rates, unit):
    """As of mass spectra: where nothing was counted there is no noise to see."""
    rate = np.where(np.hypot(*(np.mgrid[:64, :64] - 30.0)) < 20, rates[1], rates[0])
    counts = np.random.default_rng(0).poisson(rate)
    assert estimate(unit * counts) == pytest.approx(unit * np.sqrt(rate.mean()), rel=0.2)
    known = np.arange(64)[:, None] % 32 > 3
    hidden = estimate(unit * counts, np.broadcast_to(known, counts.shape))
    assert hidden == pytest.approx(unit * np.sqrt(rate.mean()), rel=0.25)


@pytest.mark.parametrize("most", [1.5, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_noise_of_counts_whose_rate_varies_is_that_of_the_whole(most, seed):
    rate = most * np.mgrid[:48, :48][1] / 47
    counts = np.random.default_rng(seed).poisson(rate)
    assert estimate(counts) == pytest.approx(np.sqrt(rate.mean()), rel=0.2)


@pytest.mark.parametrize("size", [1, 3])
def test_dots_in_an_empty_image_are_no_noise(size):
    image = np.zeros((64, 64))
    for row, column in np.random.default_rng(1).integers(2, 58, (20, 2)):
        image[row : row + size, column : column + size] = 7
    assert estimate(image) == 0


def test_detail_of_a_scan_before_a_black_background_is_no_noise():
    rng = np.random.default_rng(2)
    detail = 120 + 60 * rng.standard_normal((64, 64))
    scan = np.where(np.hypot(*(np.mgrid[:64, :64] - 30.0)) < 20, detail.clip(1, 255).round(), 0)
    assert estimate(scan) == 0
