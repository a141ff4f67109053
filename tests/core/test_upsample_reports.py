"""What users of such tools reported, as cases to pass; each test bears the number of its report.

The reports are public issues of other projects; the inputs are small ones made up here.
"""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse.core.ranges import robust_range
from napari_cosparse.core.reconstruction import check_alignment, degrade, upsample
from napari_cosparse.io import load_operators
from napari_cosparse.tiles import threaded_map

PAIR = load_operators("intensity-depth")
SHAPE = 64, 64


def make_scene(shape=SHAPE):
    """Depth and guide: a box and a disc before a slanted wall, 1 to 3 m."""
    rows, columns = np.indices(shape)
    height, width = shape
    depth = 1 + 0.3 * columns / width
    depth[height // 3 : height // 2, width // 8 : width // 2] = 2
    depth[np.hypot(rows - 0.6 * height, columns - 0.65 * width) < 0.2 * height] = 3
    noise = np.random.default_rng(0).normal(0, 1, shape)
    return depth, (60 * depth + noise).clip(0, 255).astype(np.uint8)


DEPTH, GUIDE = make_scene()


def test_d01_unknown_samples_are_never_averaged_with_known_ones():
    depth = DEPTH.copy()
    depth[2:22, 36:56] = np.nan
    small = degrade(depth, 2)
    known = np.isfinite(small)
    assert np.array_equal(small[known], degrade(DEPTH, 2)[known])
    assert known.sum() == 32 * 32 - 10 * 10
    found = upsample(np.where(known, small, 0), GUIDE, PAIR, invalid=0).image
    part = (slice(0, 24), slice(34, 58))  # the hole and a rim of 2 pixels around it
    assert np.abs(found - DEPTH)[part].max() < 0.05


def test_d04_one_unknown_sample_leaves_the_rest_finite():
    target = DEPTH.astype(np.float32)
    target[30, 40] = np.nan
    found = upsample(target, GUIDE, PAIR, noise=0).image
    assert np.isfinite(found).all()
    assert np.array_equal(found[np.isfinite(target)], target[np.isfinite(target)])


def test_d08_constant_guide_equals_no_guide():
    target = degrade(DEPTH, 4)
    found = upsample(target, np.full(SHAPE, 128, np.uint8), PAIR).image
    assert np.isfinite(found).all()
    assert np.array_equal(found, upsample(target, GUIDE, PAIR, guided=False).image)


def test_d09_texture_of_the_guide_is_not_copied():
    rows, columns = np.indices(SHAPE)
    texture = 127 + 100 * np.sin(columns / 2) * np.sin(rows / 3)
    texture += np.random.default_rng(0).normal(0, 20, SHAPE)
    flat = upsample(np.full((16, 16), 5.0), texture, PAIR).image
    assert np.array_equal(flat, np.full(SHAPE, 5, np.float32))
    step = np.where(columns < 32, 1.0, 2.0)
    found = upsample(degrade(step, 4), texture, PAIR).image
    assert np.abs(found - step)[:, np.r_[:28, 36:64]].max() < 0.01


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.float32])
def test_d13_sixteenths_of_a_pixel_survive(dtype):
    disparity = np.round(16 * 20 * degrade(DEPTH, 4)) / 16  # 20 to 60 px in steps of 1/16
    unit = 1 if dtype is np.float32 else 16
    stored = (unit * disparity).astype(dtype)
    assert np.array_equal(stored / unit, disparity)
    found = upsample(stored, GUIDE, PAIR, noise=0, dtype="input").image
    assert found.dtype == dtype
    back = degrade(found / unit, 4)
    assert np.abs(back - disparity).max() <= 1 / 32  # half a step at most, from rounding
    wall = found[:, :8] / unit
    assert len(np.unique(np.round(16 * wall))) > 4  # more levels than whole disparities would give


def test_d15_unit_and_type_are_the_inputs():
    millimetres = (1000 * degrade(DEPTH, 4)).round().astype(np.uint16)
    found = upsample(millimetres, GUIDE, PAIR)
    assert 950 < found.image.min() < found.image.max() < 3100
    span = robust_range(millimetres)[1]
    for scale in (10.0, 1 / 256, 1e-3):
        other = upsample(millimetres * scale, GUIDE, PAIR).image / scale
        assert np.abs(other - found.image).max() < 1e-3 * span
    typed = upsample(millimetres, GUIDE, PAIR, dtype="input").image
    assert typed.dtype == np.uint16
    assert np.array_equal(typed, np.rint(found.image))


def test_d17_edges_that_do_not_coincide_are_noticed():
    depth, guide = make_scene((128, 160))
    moved = np.full_like(depth, np.nan)
    moved[:, 9:] = depth[:, :-9]  # a black band, as a registered depth map has it
    target = degrade(moved, 2)
    found = upsample(target, guide, PAIR, noise=0).image
    verdict = check_alignment(found, guide)
    assert not verdict.coincide
    assert verdict.shift == (0, 9)
    assert "edges do not coincide" in verdict.because
    assert "(0, -9)" in verdict.because
    assert "register" in verdict.because
    assert check_alignment(upsample(degrade(depth, 2), guide, PAIR).image, guide).coincide


@pytest.mark.parametrize("phase", ["centre", "corner"])
def test_d18_phase_decides_where_samples_lie(phase):
    target = degrade(DEPTH, 4, phase=phase, blur="gaussian")
    errors = {
        name: np.abs(upsample(target, GUIDE, PAIR, phase=name, blur="gaussian").image - DEPTH)
        for name in ("centre", "corner")
    }
    other = {"centre": "corner", "corner": "centre"}[phase]
    assert errors[phase].mean() < 0.3 * errors[other].mean()
    place = {"centre": (1.5, 1.5), "corner": (0, 0)}[phase]
    told = upsample(target, GUIDE, PAIR, origin=place, factor=4, blur="gaussian").image
    assert np.abs(told - DEPTH).mean() == pytest.approx(errors[phase].mean(), rel=1e-3)


def test_d19_factor_may_be_no_whole_number_and_differ_by_axis():
    depth, guide = make_scene((194, 129))
    target = degrade(depth, (194 / 96, 129 / 64))
    assert target.shape == (96, 64)
    found = upsample(target, guide, PAIR, noise=0)
    assert found.factor == (194 / 96, 129 / 64)
    assert found.image.shape == (194, 129)
    assert found.misfit < 1e-4 * 2
    assert np.sqrt(np.mean((found.image - depth) ** 2)) < 0.05


@pytest.mark.parametrize("factor", [2, 4, 8])
def test_d20_sizes_that_do_not_divide_come_back_exactly(factor):
    shape = 75, 91
    rows, columns = np.indices(shape)
    depth = 1.0 + (rows >= 60) + (columns >= 80)  # edges beside the far borders
    target = degrade(depth, factor)
    assert target.shape == (-(-75 // factor), -(-91 // factor))
    found = upsample(target, 50 * depth, PAIR, noise=0)
    assert found.image.shape == shape
    assert found.factor == (factor, factor)
    middle = found.image[:40, :60]
    assert np.abs(middle - 1).max() < 0.02
    across = np.argmax(np.diff(found.image[20])) + 1
    down = np.argmax(np.diff(found.image[:, 20])) + 1
    assert (down, across) == (60, 80)


@pytest.mark.parametrize("phase", ["centre", "corner"])
def test_d22_ramp_does_not_move(phase):
    columns = np.indices((64, 96))[1].astype(float)
    target = degrade(columns, 2, phase=phase)
    found = upsample(target, GUIDE[:, :1] + 0 * columns, PAIR, phase=phase).image
    inner = (found - columns)[8:-8, 8:-8]
    assert abs(inner.mean()) < 0.01
    assert np.sqrt(np.mean(inner**2)) < 0.05


@pytest.mark.parametrize("blur", ["box", "gaussian", "none"])
def test_d23_exact_samples_are_met(blur):
    target = degrade(DEPTH, 4, blur=blur)
    found = upsample(target, GUIDE, PAIR, noise=0, blur=blur)
    again = degrade(found.image, 4, blur=blur)
    assert np.abs(again - target).max() < 1e-4 * robust_range(target)[1]
    assert found.misfit < 1e-4 * robust_range(target)[1]


def test_d23_a_sparse_measurement_keeps_its_value():
    rng = np.random.default_rng(0)
    measured = np.where(rng.random(SHAPE) < 0.1, DEPTH, 0).astype(np.float32)
    found = upsample(measured, GUIDE, PAIR, invalid=0, noise=0).image
    assert np.array_equal(found[measured > 0], measured[measured > 0])


def test_m04_colour_guide_of_bytes():
    colour = np.dstack([GUIDE, 255 - GUIDE, np.full_like(GUIDE, 90)])
    target = degrade(DEPTH, 4)
    found = upsample(target, colour, PAIR)
    gray = upsample(target, GUIDE, PAIR)
    errors = [np.sqrt(np.mean((image - DEPTH) ** 2)) for image in (found.image, gray.image)]
    assert errors[0] < 2 * errors[1] + 0.01


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, bool, np.float64])
def test_m05_every_numeric_type_is_taken(dtype):
    target = (degrade(DEPTH, 4) > 1.5) if dtype is bool else degrade(DEPTH, 4) * 100
    found = upsample(target.astype(dtype), GUIDE.astype(dtype), PAIR).image
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert np.ptp(found) > 0.9


@pytest.mark.parametrize("phase", ["centre", "corner"])
def test_g12_no_bias_of_half_a_pixel(phase):
    rows, columns = np.indices(SHAPE).astype(float)
    blob = np.exp(-(((rows - 31.3) / 9) ** 2) - ((columns - 30.8) / 8) ** 2)
    found = upsample(degrade(blob, 2, phase=phase), 200 * blob, PAIR, phase=phase).image
    for axis in (rows, columns):
        centre, truth = ((axis * image).sum() / image.sum() for image in (found, blob))
        assert abs(centre - truth) < 0.05


def test_t01_second_call_gives_the_same_bits():
    target = degrade(DEPTH, 4, noise=0.05)
    for keywords in ({}, {"start": "random", "seed": 7}):
        first, second = (upsample(target, GUIDE, PAIR, **keywords) for _ in range(2))
        assert np.array_equal(first.image, second.image)
        assert first.costs == second.costs


def test_t02_number_of_threads_changes_no_bit():
    depth, guide = make_scene((140, 48))
    target = degrade(depth, 4)
    one, two = (upsample(target, guide, PAIR, map_=threaded_map(n)).image for n in (1, 2))
    assert np.array_equal(one, two)
