"""Known motions are found again, whatever the images' type, unit, size, holes and pixels."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from napari_cosparse import register as register_in_threads
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.geometry import matrix_group
from napari_cosparse.core.registration import point_misfits
from napari_cosparse.core.registration._frame import Frame
from support.moved_pair import PAIR, SHAPE, error, folded, motion, moved_pair, picture, run, view

CLOSE = 0.2  # pixels, mean of the corners
TRUTH = motion(7.3, (5.4, -8.3))
LINEAR = {
    "SO": None,
    "SE": None,
    "similarity": 1.1 * np.eye(2),
    "SA": [[1.04, 0.03], [0, 1 / 1.04]],
    "A": [[1.05, 0.03], [-0.02, 1.02]],
}


@pytest.fixture(scope="module")
def pair():
    return moved_pair(TRUTH)


@cache
def plain():
    """Registration of the pair as it is."""
    return run(*moved_pair(TRUTH))


def scaled(matrix, factors):
    return np.diag([*factors, 1.0]) @ matrix


# --- groups and starts


@pytest.mark.parametrize("group", LINEAR)
def test_motion_is_refined_from_a_start(group):
    still = group == "SO"
    truth = motion(7.3, (0, 0) if still else (5.4, -8.3), LINEAR[group])
    near = motion(5, (0, 0) if still else (2, -5))
    found = run(*moved_pair(truth), group=group, initial=near)
    assert error(found.matrix, truth) < CLOSE
    assert matrix_group(group).contains(Frame(SHAPE, SHAPE).from_pixels(found.matrix), 1e-9)
    np.testing.assert_allclose(found.start, near, atol=1e-9)
    assert found.cost_after < found.cost_before
    assert list(found.history) == sorted(found.history, reverse=True)
    assert np.isnan(found.margin)


@pytest.mark.parametrize("group", ["SE", "similarity", "A"])
def test_motion_is_found_without_a_start(group):
    truth = motion(7.3, (5.4, -8.3), LINEAR[group])
    found = run(*moved_pair(truth), group=group)
    assert error(found.matrix, truth) < CLOSE
    assert found.trusted
    assert list(found.history) == sorted(found.history, reverse=True)
    assert found.history
    np.testing.assert_allclose(found.start, np.eye(3), atol=1e-12)
    assert found.group == found.parameters["group"] == group


def test_rotation_about_the_centres_is_found_without_a_start():
    truth = motion(7.3)
    found = run(*moved_pair(truth), group="SO")
    assert error(found.matrix, truth) < CLOSE
    assert matrix_group("SO").contains(Frame(SHAPE, SHAPE).from_pixels(found.matrix), 1e-9)


def test_points_are_a_start(pair):
    fixed = np.array([[10, 12], [90, 30], [50, 140.0]])
    moving = fixed @ TRUTH[:2, :2].T + TRUTH[:2, 2] + [[2, -1], [0, 3], [-2, 1]]
    found = run(*pair, points=(fixed, moving))
    assert error(found.matrix, TRUTH) < CLOSE
    assert 0.5 < error(found.start, TRUTH) < 4


@pytest.mark.parametrize("group", ["SE", "similarity", "A"])
def test_misfit_of_points_is_in_moving_pixels_and_of_the_real_motion(group):
    """Rigid in the world, not between pixels of 1 x 2 and 3 x 1; then one point is set wrongly."""
    fixed = np.array([[0.0, 0], [0, 40], [30, 0], [30, 40], [11, 7]])
    sizes = (1.0, 2.0), (3.0, 1.0)
    world = (fixed * sizes[0]) @ motion(40, (0, 0))[:2, :2].T + (5, -8)
    told = {"pixel_size_fixed": sizes[0], "pixel_size_moving": sizes[1]}
    assert point_misfits((fixed, world / sizes[1]), group, **told).max() < 1e-9
    assert point_misfits((fixed, world / sizes[1]), "SE").max() > 5
    world[3] += (0, 6 * np.sqrt(3))
    wrong = point_misfits((fixed, world / sizes[1]), group, **told)
    assert 1 < wrong[3] < 6
    assert (wrong**2).sum() < 36  # what leaving the motion as it was would give


def test_start_outside_the_group_keeps_what_the_group_cannot_change():
    truth = motion(4, (3, -2), 1.1 * np.eye(2))
    found = run(*moved_pair(truth), group="SE", initial=motion(2, (1, 0), 1.1 * np.eye(2)))
    assert error(found.matrix, truth) < CLOSE
    assert np.linalg.det(found.matrix) == pytest.approx(1.21)


def test_search_around_a_start_goes_beyond_it(pair):
    found = run(*pair, initial=motion(0, (50, 60)), search=True)
    assert error(found.matrix, TRUTH) < CLOSE


def test_large_rotation_is_searched_when_asked_for():
    truth = motion(75, (3, -4))
    found = run(*moved_pair(truth), max_rotation=90)
    assert error(found.matrix, truth) < CLOSE


@pytest.mark.parametrize("measure", ["both", "mutual", "nmi"])
def test_measure_can_be_chosen(pair, measure):
    found = run(*pair, measure=measure, initial=motion(6, (4, -7)))
    assert found.measure == measure
    assert error(found.matrix, TRUTH) < CLOSE


# --- sizes, regions, pixels


def test_region_of_the_fixed_image(pair):
    found = run(*pair, region=(10, 20, 100, 150))
    assert error(found.matrix, TRUTH) < CLOSE
    assert found.fixed_shape == SHAPE


@pytest.mark.parametrize("region", [(0, 0, 200, 50), (50, 0, 20, 50), (-1, 0, 50, 50)])
def test_region_outside_the_image_is_refused(pair, region):
    with pytest.raises(InputError, match="region"):
        run(*pair, region=region)


@pytest.mark.parametrize("size", [(0.5, 1.0), (0.5, 0.5), (2.0, 2.0)])
def test_pixels_of_another_size(size):
    factors = 1 / np.array(size)
    shape = tuple(int(n * f) for n, f in zip(SHAPE, factors, strict=True))
    fixed = view(picture())
    truth = scaled(TRUTH, factors)
    moving = folded(view(picture(), truth, shape))
    found = run(fixed, moving, pixel_size_moving=size)
    assert error(found.matrix, truth) < 2 * CLOSE * factors.max()
    assert found.moving_shape == shape
    assert found.pixel_size_moving == size
    np.testing.assert_allclose(found.start, scaled(np.eye(3), factors), atol=1e-12)


def test_unit_of_the_pixel_size_does_not_matter(pair):
    sizes = {"pixel_size_fixed": (3e-6, 3e-6), "pixel_size_moving": (3e-6, 3e-6)}
    np.testing.assert_allclose(run(*pair, **sizes).matrix, plain().matrix, atol=1e-9)


@pytest.mark.parametrize(
    "size",
    [
        *((0, 1), (-1, 1), (np.nan, 1), (1,), "ab"),
        *([[1, 0], [0, -1]], [[1, 2], [2, 4]], [[1, np.nan], [0, 1]], np.eye(3)),
    ],
)
def test_impossible_pixel_size_is_refused(pair, size):
    with pytest.raises(InputError, match=r"(?s)pixel size.*fixed image"):
        run(*pair, pixel_size_fixed=size)


def test_images_of_different_sizes(pair):
    # R25: masked correlation of scikit-image returned no shift
    fixed, moving = pair
    crop = np.array([[1, 0, -20], [0, 1, -30], [0, 0, 1.0]])
    found = run(fixed, moving[20:90, 30:130])
    assert error(found.matrix, crop @ TRUTH) < 2 * CLOSE
    assert found.moving_shape == (70, 100)


@pytest.mark.parametrize("sign", [1, -1])
def test_shift_beyond_half_the_width(sign):
    # R26: no alias modulo the size
    truth = motion(0, (0, sign * 0.6 * SHAPE[1]))
    found = run(*moved_pair(truth))
    assert error(found.matrix, truth) < CLOSE
    assert 0.3 < found.overlap < 0.45


def test_blank_border_and_a_far_start():
    # R01: 60 % zero border, 120 px away
    shape = 256, 256
    truth = motion(0, (70, -98), shape=shape)
    fixed, moving = moved_pair(truth, shape)
    blank = np.ones(shape, bool)
    blank[70:, :158] = False  # what the fixed image shows as well
    assert 0.4 < blank.mean() < 0.65
    moving[blank] = 0
    found = run(fixed, moving)
    assert error(found.matrix, truth, shape) < 2 * CLOSE


@pytest.mark.parametrize("fold", [False, True])
def test_pair_that_fits_stays(fold):
    # R16
    grey = view(picture())
    found = run(grey, folded(grey) if fold else grey)
    assert error(found.matrix, np.eye(3)) < 0.1
    assert found.cost_after <= found.cost_before


# --- values


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int16, np.float64])
def test_types_of_numbers(kind):
    fixed, moving = (np.clip(image, 0, 255).astype(kind) for image in moved_pair(TRUTH))
    found = run(fixed, moving)
    assert error(found.matrix, TRUTH) < CLOSE
    assert fixed.dtype == kind


def test_two_valued_image():
    fixed, moving = moved_pair(TRUTH)
    found = run(fixed, moving > np.median(moving))
    assert error(found.matrix, TRUTH) < 2 * CLOSE


@pytest.mark.parametrize("channels", [3, 4])
def test_colours(channels, pair):
    fixed, moving = pair
    colour = np.stack([fixed] * 3 + [np.random.default_rng(0).random(SHAPE)] * (channels - 3), -1)
    np.testing.assert_allclose(run(colour, moving).matrix, plain().matrix, atol=1e-3)


@pytest.mark.parametrize(("gain", "offset"), [(1 / 700, 0), (1e6, -3e5), (-2.0, 900)])
@pytest.mark.parametrize("which", [0, 1])
def test_unit_and_offset_do_not_matter(pair, which, gain, offset):
    # R22
    images = list(pair)
    images[which] = gain * images[which] + offset
    found = run(*images)
    tolerance = 1e-3 if gain > 0 else 0.05  # the range of a negative is another by rounding
    assert error(found.matrix, plain().matrix) < tolerance


@pytest.mark.parametrize("value", [np.nan, -np.inf, -999.0])
def test_unknown_pixels(pair, value):
    fixed, moving = (image.copy() for image in pair)
    moving[30:50, 40:70] = fixed[80:90, 100:130] = value
    moving[70, 70] = value
    finite = np.isfinite(value)
    found = run(fixed, moving, invalid=(value, value) if finite else (None, None))
    assert error(found.matrix, TRUTH) < CLOSE


# --- masks


def test_mask_that_hides_an_object_changes_the_answer():
    # M03: a mask that is silently ignored
    truth, other = motion(0, (4, -6)), motion(0, (-12, 20))
    fixed, moving = moved_pair(truth)
    moving[:, :112] = moved_pair(other)[1][:, :112]
    mask = np.zeros(SHAPE, bool)
    mask[:, 114:] = True
    seen, hidden = run(fixed, moving), run(fixed, moving, mask_moving=mask)
    assert error(seen.matrix, other) < 1
    assert error(hidden.matrix, truth) < 2 * CLOSE
    assert hidden.parameters["masked"] == [False, True]


def test_mask_of_the_fixed_image_changes_the_answer():
    truth, other = motion(0, (4, -6)), motion(0, (-12, 20))
    fixed, moving = moved_pair(truth)
    fixed = np.where(
        np.arange(SHAPE[1]) < 112, view(picture(), np.linalg.inv(other) @ truth), fixed
    )
    mask = np.broadcast_to(np.arange(SHAPE[1]) >= 114, SHAPE)
    assert error(run(fixed, moving, mask_fixed=mask).matrix, truth) < 2 * CLOSE
    assert error(run(fixed, moving).matrix, truth) > 5


@pytest.mark.parametrize("which", ["fixed", "moving"])
@pytest.mark.parametrize(
    ("rows", "says"), [(0, "leaves 0 pixels"), (3, "leaves 9 pixels.*at least 256")]
)
def test_mask_that_leaves_too_little_is_refused(pair, which, rows, says):
    # M02
    mask = np.zeros(SHAPE, bool)
    mask[:rows, :rows] = True
    with pytest.raises(InputError, match=f"mask of the {which} image {says}"):
        run(*pair, **{f"mask_{which}": mask})


def test_mask_without_a_whole_patch_is_refused(pair):
    lines = np.zeros(SHAPE, bool)
    lines[::5] = True
    with pytest.raises(InputError, match="0 whole 5 x 5 patches"):
        run(*pair, mask_fixed=lines)


def test_mask_of_another_shape_is_refused(pair):
    with pytest.raises(InputError, match=r"mask of the moving image has shape \(7, 9\)"):
        run(*pair, mask_moving=np.ones((7, 9), bool))


def test_mask_of_complex_numbers_is_refused(pair):
    with pytest.raises(InputError, match="mask of the fixed image has type complex128"):
        run(*pair, mask_fixed=np.ones(pair[0].shape, complex))


# --- images that are refused


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (np.zeros((40, 50), complex), "the moving image has type complex"),
        (np.zeros((40, 50, 2)), r"the moving image has shape \(40, 50, 2\).*one plane"),
        (np.zeros((5, 40, 50)), r"the moving image has shape"),
        (np.zeros((40, 9)), "the moving image has 40 x 9 pixels.*at least 16"),
    ],
)
def test_images_that_are_none(pair, image, says):
    with pytest.raises(InputError, match=says):
        run(pair[0], image)


def test_inputs_are_left_alone(pair):
    fixed, moving = (image.copy() for image in pair)
    start = motion(5, (2, -5))
    run(fixed, moving, initial=start)
    np.testing.assert_array_equal(fixed, pair[0])
    np.testing.assert_array_equal(moving, pair[1])
    np.testing.assert_array_equal(start, motion(5, (2, -5)))


# --- repeatable


def test_twice_the_same(pair):
    again = run(*pair)
    np.testing.assert_array_equal(again.matrix, plain().matrix)
    assert again.history == plain().history
    assert again.because == plain().because


def test_threads_do_not_change_the_answer(pair):
    quick = {"verdict": False, "max_rotation": 10}
    found = [register_in_threads(*pair, PAIR, threads=n, **quick).matrix for n in (1, 2)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    np.testing.assert_allclose(found[0], plain().matrix, atol=1e-6)


def test_failure_leaves_no_trace(pair):
    # R08: a crash in the run after one that failed
    expected = plain().matrix
    with pytest.raises(InputError):
        run(pair[0], pair[1][:5])
    assert not run(pair[0], np.zeros(SHAPE)).trusted
    np.testing.assert_array_equal(run(*pair).matrix, expected)


def test_progress_is_reported(pair):
    seen = []
    run(*pair, report=seen.append)
    stages = [step.stage for step in seen]
    assert stages[0] == "search for a start"
    assert "refine start 1 of 1" in stages
    assert stages[-1] == "judge the answer"
    assert all(0 < step.step <= step.total for step in seen)


def test_costs_of_the_steps_are_reported(pair):
    seen = []
    found = run(*pair, initial=motion(5, (2, -5)), report=seen.append)
    fine = [step.cost for step in seen if step.stage == "refine at full resolution"]
    # of the walks that end at the finest level, the one of lowest cost
    count = len(found.history)
    assert count > 0
    assert found.history in [tuple(fine[i : i + count]) for i in range(len(fine))]
    assert found.history[-1] == min(fine)


SKEW = np.array([[1, 0.2], [0, 1]])


@pytest.mark.parametrize(
    ("axes", "group"),
    [((np.eye(2), SKEW), "SE"), ((SKEW.T * (1, 1.3), SKEW * 0.9), "SE"), ((SKEW, 2 * SKEW), "SO")],
)
def test_rigid_motion_of_the_world_between_sheared_images(axes, group):
    """No rigid motion between pixels: affine would have to be chosen without knowing the axes."""
    shift = (0, 0) if group == "SO" else (4.3, -6.2)
    linear = np.linalg.solve(axes[1], motion(-11)[:2, :2] @ axes[0])
    truth = motion(0, shift, linear)
    fixed, moving = view(picture()), folded(view(picture(), truth))
    sizes = {"pixel_size_fixed": axes[0], "pixel_size_moving": axes[1]}
    found = run(fixed, moving, group=group, **sizes)
    assert found.trusted, found.because
    assert error(found.matrix, truth) < 0.1
    turn = axes[1] @ found.matrix[:2, :2] @ np.linalg.inv(axes[0])
    np.testing.assert_allclose(turn @ turn.T, np.eye(2), atol=1e-6)
    assert found.pixel_size_moving == pytest.approx(tuple(np.linalg.norm(axes[1], axis=0)))
    assert found.parameters["pixel_axes"][1] == axes[1].tolist()


def test_matrix_of_axes_without_shear_is_a_pair_of_sizes(pair):
    """Turned as a whole, which only says where to look."""
    axes = 2 * motion(5)[:2, :2]
    found = run(*pair, pixel_size_fixed=axes, pixel_size_moving=axes)
    np.testing.assert_allclose(found.matrix, run(*pair).matrix, atol=1e-3)
