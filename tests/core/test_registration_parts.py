"""The parts that registration is made of: splines, weights, coordinates, points, borders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import map_coordinates, rotate

from napari_cosparse.core.geometry import matrix_group
from napari_cosparse.core.registration._blank import blank_border
from napari_cosparse.core.registration._frame import Frame, corner_motion
from napari_cosparse.core.registration._overlap import Overlap
from napari_cosparse.core.registration._points import from_points
from napari_cosparse.core.registration._pyramid import depth, pyramid
from napari_cosparse.core.registration._sides import make_side
from napari_cosparse.core.registration._spline import Spline, cubic_slopes, cubic_weights

seeds = st.integers(0, 2**32 - 1)
sides = st.integers(2, 3000)
quick = settings(deadline=None, max_examples=40)
STEP = 1e-6


def noise(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def places(shape, count=200, seed=1):
    rows, columns = np.random.default_rng(seed).random((2, count))
    return rows * (shape[0] - 1), columns * (shape[1] - 1)


def slopes_by_differences(function, rows, columns):
    down = (function(rows + STEP, columns)[0] - function(rows - STEP, columns)[0]) / (2 * STEP)
    right = (function(rows, columns + STEP)[0] - function(rows, columns - STEP)[0]) / (2 * STEP)
    return down, right


# --- splines


def test_spline_agrees_with_scipy():
    image = noise((20, 31))
    rows, columns = places(image.shape)
    expected = map_coordinates(image, [rows, columns], order=3, mode="mirror")
    found = Spline(image, dtype=np.float64).sample(rows, columns)[0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_spline_passes_through_the_samples():
    image = noise((9, 12))
    found = Spline(image, dtype=np.float64).sample(*np.indices(image.shape).astype(float))[0]
    np.testing.assert_allclose(found, image, atol=1e-12)


def test_single_precision_is_near_double():
    image = noise((20, 31))
    exact, single = (
        Spline(image, dtype=kind).sample(*places(image.shape)) for kind in (np.float64, np.float32)
    )
    np.testing.assert_allclose(single, exact, atol=2e-5)
    assert single[0].dtype == np.float32


def test_spline_leaves_no_tails_in_a_dark_background():
    """Numbers below 1e-38, whose products took ten times as long on medical images."""
    image = np.zeros((200, 200))
    image[90:100, 90:100] = noise((10, 10))
    rows, columns = np.indices(image.shape) + 0.3
    value = np.abs(Spline(image).sample(rows, columns)[0])
    assert (value[:40] == 0).all()
    assert value[value > 0].min() > 1e-19  # its square can be told from 0


@pytest.mark.parametrize("interpolate", [True, False])
def test_slopes_of_the_spline(interpolate):
    spline = Spline(noise((20, 31)), interpolate=interpolate, dtype=np.float64)
    rows, columns = places((20, 31))
    expected = slopes_by_differences(spline.sample, rows, columns)
    np.testing.assert_allclose(spline.sample(rows, columns)[1:], expected, atol=1e-7)


def test_coefficients_as_they_are_stay_in_range():
    image = noise((20, 31)) > 0
    spline = Spline(image, interpolate=False, dtype=np.float64)
    value = spline.sample(*places((20, 31)))[0]
    assert value.min() >= 0
    assert value.max() <= 1 + 1e-15


def test_spline_goes_on_constantly_far_outside():
    spline = Spline(noise((20, 31)), dtype=np.float64)
    near, far = (spline.sample(np.array([r]), np.array([7.3])) for r in (-5.0, -5000.0))
    assert near[0] == far[0]
    assert not any(slope.any() for slope in (near[1], far[1]))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
@quick
def test_cubic_weights_sum_to_one_and_their_slopes_to_zero(t):
    t = np.array(t)
    np.testing.assert_allclose(cubic_weights(t).sum(0), 1, atol=1e-14)
    np.testing.assert_allclose(cubic_slopes(t).sum(0), 0, atol=1e-14)
    assert (cubic_weights(t) >= 0).all()


# --- weight of the overlap


@pytest.mark.parametrize("masked", [False, True])
def test_slopes_of_the_overlap_weight(masked):
    usable = np.ones((60, 90), bool)
    if masked:
        usable[20:33, 40:60] = False
        usable[:, :8] = False
    overlap = Overlap(usable, 2, np.float64)
    rows, columns = places(usable.shape, 2000)
    expected = slopes_by_differences(overlap.weigh, rows, columns)
    np.testing.assert_allclose(overlap.weigh(rows, columns)[1:], expected, atol=1e-6)


def test_overlap_weight_is_one_inside_and_zero_where_nothing_may_be_used():
    usable = np.ones((60, 90), bool)
    usable[20:33, 40:60] = False
    overlap = Overlap(usable, 2, np.float64)
    weight = overlap.weigh(*np.array([[45.0, 30], [26, 50], [18, 38], [-1, 30], [30, 90]]).T)[0]
    np.testing.assert_allclose(weight, [1, 0, 0, 0, 0], atol=1e-12)


# --- coordinates


@given(sides, sides, sides, sides, st.sampled_from(["SE", "similarity", "A"]), seeds)
@quick
def test_frame_leads_there_and_back(a, b, c, d, name, seed):
    frame = Frame((a, b), (c, d))
    group = matrix_group(name)
    tau = group.exp(0.5 * np.random.default_rng(seed).standard_normal(group.dimension))
    back = frame.from_pixels(frame.to_pixels(tau))
    np.testing.assert_allclose(back, tau, atol=1e-9)


@given(sides, sides, sides, sides)
@quick
def test_identity_lays_centre_on_centre(a, b, c, d):
    frame = Frame((a, b), (c, d))
    found = frame.to_pixels(np.eye(3)) @ [*frame.centre_fixed, 1]
    np.testing.assert_allclose(found[:2], frame.centre_moving, atol=1e-9)
    np.testing.assert_allclose(abs(frame.corners[:2]).max(), 1)
    np.testing.assert_allclose(frame.swapped().centre_fixed, frame.centre_moving)


def test_mean_square_is_that_of_the_coordinates():
    frame = Frame((301, 401), (5, 5))
    pixels = np.indices(frame.shape_fixed).reshape(2, -1).T
    squares = ((pixels - frame.centre_fixed) / frame.radius) ** 2
    assert frame.mean_square == pytest.approx(squares.mean(), rel=0.01)


def test_corner_motion_of_a_shift_is_its_length():
    shift = np.eye(3)
    shift[:2, 2] = 3, -4
    assert corner_motion(np.eye(3), shift, (10, 20)) == pytest.approx(5)


# --- points


@given(st.sampled_from(["SE", "similarity", "SA", "A"]), seeds, st.integers(3, 12))
@quick
def test_points_recover_a_motion_of_the_group(name, seed, count):
    rng = np.random.default_rng(seed)
    group = matrix_group(name)
    truth = group.exp(0.4 * rng.standard_normal(group.dimension))
    truth[:2, 2] *= 100
    fixed = np.array([[0, 0], [90, 10], [20, 80]] + [[50, 50]] * (count - 3), float)
    fixed += rng.uniform(-5, 5, fixed.shape)
    moving = fixed @ truth[:2, :2].T + truth[:2, 2]
    np.testing.assert_allclose(from_points(fixed, moving, name), truth, atol=1e-9)


@given(st.sampled_from(["SE", "similarity", "SA", "A"]), seeds)
@quick
def test_points_with_errors_give_a_member_of_the_group(name, seed):
    rng = np.random.default_rng(seed)
    fixed = np.array([[0, 0], [90, 10], [20, 80], [60, 60]], float)
    found = from_points(fixed, fixed + rng.normal(0, 3, fixed.shape), name)
    assert matrix_group(name).contains(found, 1e-9)


def test_one_pair_of_points_is_a_shift():
    found = from_points(np.array([[3.0, 4]]), np.array([[10.0, 2]]), "SO")
    np.testing.assert_allclose(found, [[1, 0, 7], [0, 1, -2], [0, 0, 1]])


# --- blank borders


@pytest.mark.parametrize("angle", [5, 20, 45, 71])
@pytest.mark.parametrize(("shape", "fill"), [((300, 400), 0.0), ((90, 120), 7.5)])
def test_fill_of_a_rotation_is_a_blank_border(angle, shape, fill):
    content = 20 + noise(shape)
    framed = rotate(content, angle, order=0, cval=fill, reshape=True)
    found = blank_border(framed)
    np.testing.assert_array_equal(found, framed == fill)


def test_padding_is_a_blank_border():
    framed = np.pad(20 + noise((60, 60)), 30)
    np.testing.assert_array_equal(blank_border(framed), framed == 0)


@pytest.mark.parametrize("size", [60, 150, 400])
def test_dark_background_of_a_disc_is_none(size):
    rows, columns = np.indices((size, size))
    inside = np.hypot(rows - size / 2, columns - size / 2) < 0.4 * size
    assert not blank_border(np.where(inside, 20 + noise((size, size)), 0)).any()


@pytest.mark.parametrize("image", [np.zeros((50, 50)), np.full((50, 50), np.nan), noise((50, 50))])
def test_no_frame_no_border(image):
    assert not blank_border(image).any()


# --- levels


def test_levels_halve_and_keep_their_contrast():
    levels = pyramid(make_side(noise((96, 128)).cumsum(1), "image"), depth((96, 128), (96, 128)))
    assert [level.image.shape for level in levels] == [(96, 128), (48, 64), (24, 32)]
    assert [level.scale for level in levels] == [1, 2, 4]
    assert not any(level.constant for level in levels)


def test_unknown_pixels_spread_to_coarser_levels():
    image = noise((96, 128)).cumsum(1)
    image[40:44, 60:64] = np.nan
    for level in pyramid(make_side(image, "image"), 3):
        row, column = 42 // level.scale, 62 // level.scale
        assert not level.usable[row, column]
        assert level.usable.mean() > 0.9
        assert np.isfinite(level.image).all()
