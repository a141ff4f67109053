"""Guided upsampling: quality, invariance, bounds and repeatability, on small scenes."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse.core.ranges import robust_range
from napari_cosparse.core.reconstruction import (
    bicubic,
    degrade,
    sampling_operator,
    upsample,
)
from napari_cosparse.io import load_operators
from napari_cosparse.tiles import threaded_map
from support.disc_scene import (
    DEPTH,
    GUIDE,
    LEVELS,
    SHAPE,
    TARGET,
    holed,
    make_depth,
    make_guide,
    rmse,
    run,
    run_bicubic,
)

# --- quality ---


@pytest.mark.parametrize("factor", [2, 4, 8])
@pytest.mark.parametrize("phase", ["centre", "corner"])
@pytest.mark.parametrize("blur", ["box", "gaussian"])
def test_edges_come_back_better_than_by_interpolation(factor, phase, blur):
    target = degrade(DEPTH, factor, phase=phase, blur=blur)
    found = run(target, phase=phase, blur=blur)
    sampling = sampling_operator(SHAPE, target.shape, (factor, factor), phase=phase, blur=blur)
    assert rmse(found.image) < 0.6 * rmse(bicubic(target, sampling))
    assert found.factor == (factor, factor)


def test_guide_helps():
    target = degrade(DEPTH, 8)
    assert rmse(run(target, noise=0).image) < 0.8 * rmse(run(target, noise=0, guided=False).image)


def test_paper_solver_lowers_its_cost_and_beats_interpolation():
    found = run(solver="cg", noise=0)
    assert rmse(found.image) < 0.5 * rmse(run_bicubic(TARGET))
    for restart in np.split(np.array(found.costs), 4):
        assert np.all(np.diff(restart) <= 0)
        assert restart[-1] < restart[0]
    assert found.evaluations > found.iterations > 100
    assert found.parameters["solver"] == "cg"


STARTS = ["random", np.full(SHAPE, 2.0)]


@pytest.mark.parametrize("start", STARTS)
def test_start_hardly_matters(start):
    assert rmse(run(noise=0, start=start).image, run(noise=0).image) < 1e-3


@pytest.mark.parametrize("start", STARTS)
def test_paper_solver_starts_anywhere(start):
    found = run(solver="cg", noise=0, start=start)
    assert rmse(found.image) < 0.5 * rmse(run_bicubic(TARGET))


# --- invariance ---


@pytest.mark.parametrize(
    ("scale", "offset", "dtype"),
    [
        (1.0, 0, np.float32),
        (1.6, -80, np.uint8),
        (300.0, 17, np.uint16),
        (0.001, 5, np.float32),
        (1e4, -1e6, np.float32),
        (1.0, -120, np.int8),
        (1e-12, 0, np.float64),
    ],
)
@pytest.mark.parametrize("noise", [None, 2.0])
def test_unit_of_the_target_does_not_matter(scale, offset, dtype, noise):
    base = np.rint(LEVELS / 5) * 5
    plain = run(base, noise=noise)
    target = (scale * base + offset).astype(dtype)
    assert np.allclose(target, scale * base + offset, rtol=1e-6)
    found = run(target, noise=None if noise is None else scale * noise)
    back = (found.image.astype(float) - offset) / scale
    assert found.image.dtype == np.float32
    assert np.abs(back - plain.image).max() < 1e-3 * robust_range(base)[1]
    assert found.noise == pytest.approx(scale * plain.noise, rel=1e-3)
    assert found.overshoot == pytest.approx(plain.overshoot, abs=1e-3)


@pytest.mark.parametrize("change", [lambda g: 3 * g - 1000, lambda g: g / 7e5, lambda g: g + 1e6])
def test_unit_of_the_guide_does_not_matter(change):
    assert np.abs(run(guide=change(GUIDE)).image - run().image).max() < 1e-3 * 2


# --- repeatability ---


@pytest.mark.parametrize("keywords", [{}, {"noise": 0.05}, {"solver": "cg"}, {"start": "random"}])
def test_same_call_gives_the_same_bits(keywords):
    first, second = run(**keywords), run(**keywords)
    assert np.array_equal(first.image, second.image)
    assert first.costs == second.costs
    assert first.parameters == second.parameters


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_no_bit(threads, noise):
    depth = make_depth((150, 40))  # three bands
    target, guide = degrade(depth, 4), make_guide(depth)
    plain = run(target, guide, noise=noise)
    threaded = run(target, guide, noise=noise, map_=threaded_map(threads))
    assert np.array_equal(plain.image, threaded.image)
    assert plain.costs == threaded.costs


def test_seed_is_that_of_the_random_start():
    images = [run(start="random", seed=seed).image for seed in (3, 3, 4)]
    assert np.array_equal(images[0], images[1])
    assert not np.array_equal(images[0], images[2])


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda a: a[::-1][::-1], np.ndarray.tolist])
def test_memory_layout_changes_no_bit(layout):
    found = run(layout(TARGET.astype(float)), layout(GUIDE))
    assert np.array_equal(found.image, run(TARGET.astype(float)).image)


def test_inputs_stay_as_they_are():
    target, guide, weights = holed(np.nan), GUIDE.copy(), np.ones(TARGET.shape)
    start = np.ones(SHAPE)
    copies = [array.copy() for array in (target, guide, weights, start)]
    run(target, guide, weights=weights, start=start)
    for array, copy in zip((target, guide, weights, start), copies, strict=True):
        assert np.array_equal(array, copy, equal_nan=True)


# --- bounds, planes, ramps ---


@pytest.mark.parametrize("factor", [2, 4, 8, 2.025])
@pytest.mark.parametrize("noise", [0.0, 0.03])
@pytest.mark.parametrize("texture", [1.0, 20.0])
def test_result_stays_within_the_range_of_the_samples(factor, noise, texture):
    depth = make_depth()
    depth[:, 66] = 3  # a thin structure
    target = degrade(depth, factor, noise=noise)
    found = run(target, make_guide(depth, texture), factor=factor, noise=2 * noise)
    span = robust_range(target)[1]
    excess = max(target.min() - found.image.min(), found.image.max() - target.max(), 0) / span
    assert excess <= 0.02 + 1e-5
    assert found.overshoot == pytest.approx(excess, abs=1e-5)


SHIPPED = load_operators("intensity-depth")
SLOPES = [(0.0005, 0.0), (0.0, 0.0005), (0.0002, -0.0004)]


@pytest.mark.parametrize("phase", ["centre", "corner"])
@pytest.mark.parametrize("factor", [2, 2.025, 4])
def test_gentle_planes_come_back_to_a_hundredth(factor, phase):
    rows, columns = np.indices((96, 96))
    step = columns >= 48  # makes the range 1
    for down, right in SLOPES:
        scene = down * rows + right * columns + step
        target = degrade(scene, factor, phase=phase)
        found = upsample(
            target, np.where(step, 200.0, 50.0), SHIPPED, factor=factor, phase=phase, noise=0
        )
        assert np.abs(found.image - scene).max() < 0.01


@pytest.mark.parametrize("phase", ["centre", "corner"])
@pytest.mark.parametrize("factor", [2, 4, 2.025])
@pytest.mark.parametrize("guide", ["constant", "textured"])
def test_full_range_ramps_do_not_shift(guide, factor, phase):
    rows, columns = np.indices((96, 96))
    noise = np.random.default_rng(0).normal(0, 10, (96, 96))
    image = noise + 99 * (columns > 47) if guide == "textured" else 0 * noise
    inner = (slice(2 * int(factor), -2 * int(factor)),) * 2
    for down, right in [(0.0, 1 / 96), (0.006, 0.005)]:
        scene = down * rows + right * columns
        target = degrade(scene, factor, phase=phase)
        found = upsample(target, image, SHIPPED, factor=factor, phase=phase)
        assert found.noise == 0
        shift = np.mean((found.image - scene)[inner]) / np.hypot(down, right)
        assert abs(shift) < 0.01
