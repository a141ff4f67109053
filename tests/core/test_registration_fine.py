"""Large images: registered when reduced, then refined in windows at full resolution."""

from __future__ import annotations

from functools import cache

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import minimum_filter

from napari_cosparse.core.checks import slope_error
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import _fine, _run, _working
from napari_cosparse.core.registration._cost import CoSparsityCost
from napari_cosparse.core.registration._cost_nmi import InformationCost
from napari_cosparse.core.registration._mosaic import Grid
from napari_cosparse.core.registration._settings import RegisterSettings
from napari_cosparse.core.registration._task import prepare
from napari_cosparse.core.registration._windows import COUNT, choose_windows
from napari_cosparse.core.registration._working import Source
from support.moved_pair import PAIR, error, motion, moved_pair, run

SHAPE = 420, 560
TURNED = motion(4.3, (7.3, -5.6), shape=SHAPE)
SHEARED = motion(3, (7.3, -5.6), [[1.02, 0.01], [0.015, 0.98]], SHAPE)
MIRROR = np.array([[1, 0, 0], [0, -1, SHAPE[1] - 1], [0, 0, 1.0]])


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Reduce images three times that are small enough for a test."""
    monkeypatch.setattr(_working, "LARGEST", 200)


@cache
def images(sheared=False):
    return moved_pair(SHEARED if sheared else TURNED, SHAPE)


def reduced(*pair, **keywords):
    """What the reduced images alone give."""

    def nothing(scene, measure, grids, found):
        yield from ()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_run, "refine_fine", nothing)
        return run(*pair, **keywords)


@cache
def plain():
    """Both answers for the plain pair."""
    return reduced(*images()), run(*images())


# --- what it is good for


@pytest.mark.parametrize(("group", "truth"), [("SE", TURNED), ("A", SHEARED)])
def test_full_resolution_is_better(group, truth):
    pair = images(group == "A")
    before, after = plain() if group == "SE" else (f(*pair, group=group) for f in (reduced, run))
    assert error(after.matrix, truth, SHAPE) < 0.6 * error(before.matrix, truth, SHAPE)
    assert error(after.matrix, truth, SHAPE) < 0.15
    assert after.predicted_error < 0.5 * before.predicted_error
    assert error(after.matrix, truth, SHAPE) < 3 * after.predicted_error
    assert "windows at full resolution" in after.because
    assert after.parameters["finest_step"] == 1
    assert _fine.LEAST_WINDOWS <= after.parameters["windows"] <= COUNT


def test_mutual_information_is_refined_too():
    fixed, moving = images()
    before, after = (f(fixed, moving, measure="nmi") for f in (reduced, run))
    assert error(after.matrix, TURNED, SHAPE) < 0.5 * error(before.matrix, TURNED, SHAPE) + 0.01
    assert "windows at full resolution" in after.because


def test_small_images_are_not_read_again():
    pair = moved_pair(motion(2, (3, 4), shape=(112, 160)))
    found = run(*pair)
    assert "window" not in found.because
    assert (found.parameters["finest_step"], found.parameters["windows"]) == (1, 0)


# --- what it must cope with


def holes(fixed, moving):
    fixed, moving = fixed.copy(), moving.copy()
    fixed[50:90, 100:160] = np.nan
    fixed[np.random.default_rng(0).random(fixed.shape) < 0.003] = np.nan
    moving[200:300, 300:340] = np.nan
    return {}, fixed, moving, TURNED


def masks(fixed, moving):
    usable = np.ones((2, *SHAPE), bool)
    usable[0, :, :150] = usable[1, 300:] = False
    spoilt = np.where(usable[0], fixed, fixed[::-1, ::-1]), np.where(usable[1], moving, 255)
    return {"mask_fixed": usable[0], "mask_moving": usable[1]}, *spoilt, TURNED


def colour(fixed, moving):
    stacked = np.stack([fixed, 0.9 * fixed + 3, 0.8 * fixed], -1).astype(np.uint8)
    return {}, stacked, moving.astype(np.float32), TURNED


def tall_pixels(fixed, moving):
    there = np.diag([0.5, 1, 1])
    there[0, 2] = -0.25
    low = moving.reshape(SHAPE[0] // 2, 2, SHAPE[1]).mean(1)
    return {"pixel_size_moving": (2, 1)}, fixed, low, there @ TURNED


def aslant(fixed, moving):
    """Both images are sheared, and shown as they are: rigid in the world."""
    axes = np.array([[1, 0.1], [0.05, 1.1]])
    skewed = np.linalg.inv(axes) @ TURNED[:2, :2] @ axes
    truth = motion(0, (7.3, -5.6), skewed, SHAPE)
    told = {"pixel_size_fixed": axes, "pixel_size_moving": axes}
    return told, *moved_pair(truth, SHAPE), truth


def aslant_mirrored(fixed, moving):
    """Columns reversed: the axes lean the other way."""
    told, fixed, moving, truth = aslant(fixed, moving)
    told["pixel_size_moving"] = told["pixel_size_moving"] * [[1, -1], [-1, 1]]
    told |= {"allow_reflection": True, "verdict": True, "max_rotation": 10}
    return told, fixed, moving[:, ::-1], MIRROR @ truth


def part(fixed, moving):
    return {"region": (30, 60, 400, 500)}, fixed, moving, TURNED


def mirrored(fixed, moving):
    keywords = {"allow_reflection": True, "verdict": True, "max_rotation": 10}
    return keywords, fixed, moving[:, ::-1], MIRROR @ TURNED


@pytest.mark.parametrize(
    "case", [holes, masks, colour, tall_pixels, aslant, aslant_mirrored, part, mirrored]
)
def test_real_input(case):
    keywords, fixed, moving, truth = case(*images())
    found = run(fixed, moving, **keywords)
    assert "windows at full resolution" in found.because
    assert error(found.matrix, truth, SHAPE) < 0.1


def test_aligned_images_stay():
    fixed, moving = moved_pair(None, SHAPE)
    found = run(fixed, moving)
    np.testing.assert_allclose(found.matrix, np.eye(3), atol=1e-9)


# --- what is read


class Counted:
    """An array that notes what is cut out of it, and cannot be read as a whole."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.cuts = array, array.shape, array.dtype, []

    def __getitem__(self, key):
        cut = self.array[key]
        self.cuts.append(cut.shape[0] * cut.shape[1])
        return cut


def test_only_windows_are_read_again():
    pair = [Counted(image) for image in images()]
    found = run(*pair)
    again = [sum(image.cuts[1:]) for image in pair]  # the first strip is the whole image
    count = found.parameters["windows"]
    assert count
    assert again[0] <= count * _fine.SIDE**2
    assert again[1] <= _fine.MOST_READ
    assert [len(image.cuts) - 1 for image in pair] == [count, count]


def test_chunks_change_nothing():
    lazy = [da.from_array(image, chunks=(150, 170)) for image in images()]
    np.testing.assert_array_equal(run(*lazy).matrix, plain()[1].matrix)


def test_order_of_the_map_changes_nothing():
    def backwards(function, numbers):
        return [function(number) for number in list(numbers)[::-1]][::-1]

    np.testing.assert_array_equal(run(*images(), map_=backwards).matrix, plain()[1].matrix)


# --- when it is left alone


def test_a_motion_that_runs_away_is_dropped(monkeypatch):
    before = plain()[0]  # kept for other tests: not to be computed under the patch
    monkeypatch.setattr(_fine, "LIMIT", 1e-3)
    found = run(*images())
    assert "a corner would move by" in found.because
    np.testing.assert_array_equal(found.matrix, before.matrix)
    assert found.predicted_error == before.predicted_error


def test_too_few_places_with_structure(monkeypatch):
    before = plain()[0]  # kept for other tests: not to be computed under the patch
    monkeypatch.setattr(_fine, "LEAST_WINDOWS", 1000)
    found = run(*images())
    assert "too few places show structure" in found.because
    np.testing.assert_array_equal(found.matrix, before.matrix)


def test_what_is_not_trusted_is_not_refined():
    fixed = images()[0]
    noise = np.random.default_rng(0).random(SHAPE)
    found = run(fixed, noise, verdict=True, max_rotation=3, measure="mutual")
    assert not found.trusted
    assert "window" not in found.because


def test_mask_that_leaves_too_little_of_a_reduced_image():
    mask = np.zeros(SHAPE, bool)
    mask[:30, :30] = True
    with pytest.raises(InputError, match="reduced 3 times"):
        run(*images(), mask_fixed=mask)
    with pytest.raises(InputError, match="both must be the same"):
        run(*images(), mask_moving=np.ones((4, 5)))


# --- the parts


def windowed(group="A"):
    fixed, moving = (image.copy() for image in images())
    fixed[200:210, 200:300] = np.nan
    moving[100:200, 250:260] = np.nan
    task = prepare(fixed, moving, PAIR, RegisterSettings(group=group), map)
    start = task.scene.frame.from_pixels(
        task.to_working[1] @ TURNED @ np.linalg.inv(task.to_working[0])
    )
    return _fine._windowed(task.scene, task.grids(reflected=False), 1 / 3, start), start


def test_windows_lie_apart_and_inside():
    made, start = windowed()
    centres = choose_windows(whole := prepare_whole(), start, _fine.SIDE / 3)
    assert len(centres) == COUNT
    shape = whole.frame.shape_fixed
    assert (centres >= 0).all()
    assert (centres <= np.array(shape) - 1).all()
    assert len(np.unique(centres, axis=0)) == COUNT
    assert np.ptp(centres, axis=0).min() > 0.4 * min(shape)
    assert len(made.fixed[0].windows.corners) == COUNT


def prepare_whole():
    return prepare(*images(), PAIR, RegisterSettings(), map).scene


@pytest.mark.parametrize("measure", ["mutual", "nmi"])
def test_slopes_of_windows_are_those_of_the_cost(measure):
    made, start = windowed()
    levels = made.fixed[0], made.moving[0]
    if measure == "nmi":
        cost = InformationCost(levels, made.frame, made.basis, dtype=np.float64)
    else:
        cost = CoSparsityCost(levels, made.frame, made.basis, PAIR, pixels=6000, dtype=np.float64)

    def function(point):
        found = cost(made.group.exp(point) @ start)
        return found.cost, found.slope

    assert 0.8 < cost(start).overlap <= 1
    slope = function(np.zeros(6))[1]
    rng = np.random.default_rng(1)
    for _ in range(3):
        direction = rng.standard_normal(6)
        # mixed with the steepest direction, lest a small slope is compared with the third order
        direction += np.copysign(3 / np.linalg.norm(slope), direction @ slope) * slope
        assert slope_error(function, np.zeros(6), direction, step=1e-7) < 1e-5


def test_places_beyond_a_window_weigh_nothing():
    made, start = windowed()
    cost = made.cost(0, "mutual", 3000)
    far = made.frame.to_pixels(start).copy()
    far[0, 2] += 80  # working pixels: by about two windows
    assert cost(made.frame.from_pixels(far)).overlap == 0


@settings(deadline=None, max_examples=60)
@given(
    corner=st.tuples(st.floats(-30, 90), st.floats(-30, 120)),
    scale=st.sampled_from([0.25, 1 / 3, 0.5, 1.0]),
    ratios=st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from([1, 2, 1.25, 2.5])),
    slant=st.sampled_from([0.0, 0.0, 0.2, -0.35]),
    reverse=st.booleans(),
)
def test_windows_show_what_lies_there(corner, scale, ratios, slant, reverse):
    sizes = scale / np.array(ratios)
    rows, columns = np.indices((90, 120))
    to_working = np.diag([*sizes, 1.0])
    to_working[:2, 1:] += [[slant * sizes[1], 0.3], [0, -0.2]]
    ramps = [
        Grid(Source(ramp.astype(float), "the image"), to_working, scale, 50 if reverse else None)
        for ramp in (rows, columns)
    ]
    shown = [grid._cell(np.array(corner), 24) for grid in ramps]
    place = shown[0][2]
    assert np.abs(place - corner).max() <= 0.5 * max(sizes) / scale * (not slant) + 1e-9
    known = minimum_filter(shown[0][1] & shown[1][1], 9)  # what fills holes rings around them
    down, right = (scale * (place[axis] + np.arange(24)) for axis in (0, 1))
    right = 50 - right if reverse else right
    away = np.stack(np.meshgrid(down - 0.3, right + 0.2, indexing="ij"), -1)
    expected = np.moveaxis(away @ np.linalg.inv(to_working[:2, :2]).T, -1, 0)
    # resampling blurs, which bends a ramp near the window's border
    inner = known & (np.indices((24, 24)).min(0) > 5) & (np.indices((24, 24)).max(0) < 18)
    for (image, _, _), truth in zip(shown, expected, strict=True):
        np.testing.assert_allclose(image[inner], truth[inner], atol=0.02)


# --- images that are not reduced


@cache
def whole():
    """The answer for the plain pair that is not reduced."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_working, "LARGEST", 2048)
        return run(*images())


def test_more_pixels_where_the_usual_ones_leave_the_motion_unsure(monkeypatch):
    monkeypatch.setattr(_working, "LARGEST", 2048)
    before = whole()
    monkeypatch.setattr(_run, "UNSURE", 0.0)
    after = run(*images())
    assert after.predicted_error < 0.8 * before.predicted_error
    assert error(after.matrix, TURNED, SHAPE) < 0.1


def test_a_far_answer_of_more_pixels_is_dropped(monkeypatch):
    monkeypatch.setattr(_working, "LARGEST", 2048)
    before = whole()
    monkeypatch.setattr(_run, "UNSURE", 0.0)
    monkeypatch.setattr(_run, "FAR", 0.0)
    after = run(*images())
    np.testing.assert_array_equal(after.matrix, before.matrix)
    assert after.predicted_error == before.predicted_error
