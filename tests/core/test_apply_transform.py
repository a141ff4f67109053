"""Images, labels, points and shapes under a registration."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.ndimage import map_coordinates
from skimage.transform import AffineTransform, warp

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.progress import drain
from napari_cosparse.core.registration import (
    apply_to_labels,
    apply_to_points,
    apply_to_shapes,
    apply_transform,
    apply_transform_steps,
    moving_extent,
)

ORDERS = ["nearest", "linear", "cubic"]
TYPES = ["bool", "uint8", "int16", "uint16", "int32", "float16", "float32", "float64"]
quick = settings(deadline=None, max_examples=40)
orders = st.sampled_from(ORDERS)


def turned(angle, shift=(0.0, 0.0), scale=1.0):
    c, s = scale * np.cos(np.radians(angle)), scale * np.sin(np.radians(angle))
    return np.array([[c, -s, shift[0]], [s, c, shift[1]], [0, 0, 1]])


def shifted(down, right):
    return np.array([[1.0, 0, down], [0, 1, right], [0, 0, 1]])


def picture(shape=(40, 50), seed=0):
    return np.random.default_rng(seed).random(shape)


def smooth(shape=(60, 70)):
    row, column = np.mgrid[: shape[0], : shape[1]] / 9
    return np.sin(row) * np.cos(1.3 * column) + 0.2 * row


@given(st.data())
@quick
def test_identity_changes_nothing(data):
    kind = data.draw(st.sampled_from(TYPES))
    shape = data.draw(
        st.one_of(
            hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
            st.tuples(st.integers(1, 6), st.integers(1, 6), st.sampled_from([3, 4])),
        )
    )
    limited = {"min_value": -100, "max_value": 100} if kind.startswith("float") else {}
    image = data.draw(hnp.arrays(kind, shape, elements=limited or None))
    order = data.draw(orders)
    found = apply_transform(image, np.eye(3), order=order)
    assert found.dtype == image.dtype
    if order == "cubic" and kind.startswith("float"):
        np.testing.assert_allclose(found, image, atol=1e-3 if kind == "float16" else 1e-5)
    else:
        np.testing.assert_array_equal(found, image)


@given(st.integers(-45, 45), st.integers(-55, 55), orders)
@quick
def test_whole_pixel_shift_moves_pixels(down, right, order):
    image = (255 * picture()).astype(np.uint8)
    found = apply_transform(image, shifted(down, right), order=order, fill=7)
    expected = np.full_like(image, 7)
    rows, columns = np.mgrid[: image.shape[0], : image.shape[1]]
    inside = (rows + down >= 0) & (rows + down < 40) & (columns + right >= 0)
    inside &= columns + right < 50
    expected[inside] = image[rows[inside] + down, columns[inside] + right]
    np.testing.assert_array_equal(found, expected)


def test_a_shift_of_60_percent_is_no_alias():  # R26
    image = picture((20, 50)).astype(np.float32)
    found = apply_transform(image, shifted(0, 30))
    np.testing.assert_array_equal(found[:, :20], image[:, 30:])
    assert np.isnan(found[:, 20:]).all()


@pytest.mark.parametrize("order", ["linear", "cubic"])
def test_agrees_with_scipy_inside(order):
    image, matrix = picture(), turned(13, (4.2, -3.1), 0.9)
    found = apply_transform(image, matrix, order=order, shape=(33, 61))
    rows, columns = np.mgrid[:33, :61]
    at = np.einsum("ij,jrc->irc", matrix[:2, :2], [rows, columns]) + matrix[:2, 2, None, None]
    degree = {"linear": 1, "cubic": 3}[order]
    expected = map_coordinates(image, at, order=degree, mode="mirror")
    inside = (at[0] >= 0) & (at[1] >= 0) & (at[0] <= 39) & (at[1] <= 49)
    assert inside.mean() > 0.3
    np.testing.assert_allclose(found[inside], expected[inside], atol=1e-10)


def test_agrees_with_scikit_image():  # G09, G10: (row, column) here, (x, y) there
    image = smooth()
    matrix = np.array([[0.95, -0.2, 3.0], [0.1, 1.05, -2.0], [0, 0, 1]])
    swap = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    theirs = warp(image, AffineTransform(swap @ matrix @ swap), order=1, cval=np.nan)
    ours = apply_transform(image, matrix)
    both = np.isfinite(theirs) & np.isfinite(ours)
    assert both.mean() > 0.7
    np.testing.assert_allclose(ours[both], theirs[both], atol=1e-12)


def test_rotation_about_the_centre_is_numpys_quarter_turn():  # G09: sign of the angle
    image = picture((40, 40)).astype(np.float32)
    centre = shifted(19.5, 19.5)
    matrix = centre @ turned(90) @ np.linalg.inv(centre)
    found = apply_transform(image, matrix)
    np.testing.assert_allclose(found, np.rot90(image, -1), atol=1e-5)


@pytest.mark.parametrize("factor", [2, 3])
def test_no_half_pixel_bias_between_grids(factor):  # G12: pixel centres at whole numbers
    fine = smooth((60, 66))
    coarse = fine.reshape(60 // factor, factor, 66 // factor, factor).mean((1, 3))
    offset = (1 / factor - 1) / 2
    matrix = np.diag([1 / factor, 1 / factor, 1])
    matrix[:2, 2] = offset
    found = apply_transform(coarse, matrix, shape=fine.shape, order="cubic")
    assert np.isfinite(found).all()
    inner = (slice(6, -6),) * 2
    gradient = np.abs(np.gradient(fine)[0]).mean()
    assert abs((found - fine)[inner].mean()) < 0.05 * gradient


@given(st.floats(-20, 20), st.floats(-3, 3), st.floats(-3, 3), st.floats(0.9, 1.1))
@quick
def test_two_motions_are_one(angle, down, right, scale):
    image = smooth()
    centre = shifted(29.5, 34.5)
    first, second = (
        centre @ motion @ np.linalg.inv(centre)
        for motion in (turned(angle, (down, right), scale), turned(-angle / 2, (right, 1.5)))
    )
    twice = apply_transform(apply_transform(image, first, order="cubic"), second, order="cubic")
    once = apply_transform(image, first @ second, order="cubic")
    inner = (slice(20, 40), slice(25, 45))
    np.testing.assert_allclose(twice[inner], once[inner], atol=2e-3)


# --- what stays local, what is clipped


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_local(order, bad):  # R20, R24
    image, matrix = smooth(), turned(7, (1.3, -2.4))
    clean = apply_transform(image, matrix, order=order)
    image[30, 35] = bad
    found = apply_transform(image, matrix, order=order)
    rows, columns = np.mgrid[: image.shape[0], : image.shape[1]]
    at = np.einsum("ij,jrc->irc", matrix[:2, :2], [rows, columns]) + matrix[:2, 2, None, None]
    near = (np.floor(at + 0.5) == np.array([30, 35])[:, None, None]).all(0)
    assert near.any()
    assert not np.isfinite(found[near]).any()
    rest = ~near & np.isfinite(clean)
    assert np.isfinite(found[rest]).all()
    far = rest & (np.abs(at - np.array([30, 35])[:, None, None]).max(0) > 10)
    np.testing.assert_allclose(found[far], clean[far], atol=1e-5)
    assert np.abs(found[rest] - clean[rest]).max() < 0.15


def test_a_hole_keeps_its_size_and_its_rim_is_not_pulled_to_zero():
    depth = np.full((40, 40), 1000.0)
    depth[10:20, 10:20] = np.nan
    for order in ORDERS:
        found = apply_transform(depth, shifted(0.3, -0.4), order=order)
        inside = np.isfinite(found[2:-2, 2:-2])
        np.testing.assert_allclose(found[2:-2, 2:-2][inside], 1000, rtol=1e-6)
        assert (~inside).sum() == 100


@pytest.mark.parametrize("kind", ["uint8", "uint16", "int16"])
def test_cubic_stays_within_the_colours_of_a_checkerboard(kind):  # M11
    low, high = (np.iinfo(kind).min, np.iinfo(kind).max) if kind != "int16" else (-5, 900)
    board = np.where(np.indices((32, 32)).sum(0) // 4 % 2, low, high).astype(kind)
    image = np.stack([board, board.T, board[::-1]], axis=-1)
    found = apply_transform(image, turned(20, (3.3, -1.2)), order="cubic", fill=low)
    assert found.min() >= low
    assert found.max() <= high
    one_row = apply_transform(image, shifted(0.4, 0), order="cubic")[10, 2:-2, 0]
    assert set(np.unique(one_row)) <= set(range(low, high + 1))


def test_largest_integers_survive():
    image = np.array([[2**63 - 1, 0], [-(2**63), 5]], np.int64)
    for order in ("nearest", "linear"):
        np.testing.assert_array_equal(apply_transform(image, np.eye(3), order=order), image)


def test_mask_is_cut_at_one_half():
    mask = np.zeros((10, 10), bool)
    mask[:, 5:] = True
    for order in ("linear", "cubic"):
        found = apply_transform(mask, shifted(0, 0.4), order=order)
        assert found.dtype == bool
        assert not found[:, :5].any()
        assert found[:, 5:].all()


@given(st.floats(-180, 180), st.floats(-20, 20), st.floats(0.2, 4), st.integers(0, 99))
@quick
def test_labels_are_never_new(angle, down, scale, seed):  # M09
    labels = np.random.default_rng(seed).choice([5, 11, 70_000], (20, 30)).astype(np.int32)
    found = apply_to_labels(labels, turned(angle, (down, 3), scale), shape=(25, 25))
    assert set(np.unique(found)) <= {0, 5, 11, 70_000}
    assert found.dtype == labels.dtype


# --- grids


def test_border_pixel_goes_on_for_half_a_pixel():
    image = np.array([[1.0, 2, 3]])
    found = apply_transform(image, shifted(0, -0.5), shape=(1, 4))
    np.testing.assert_allclose(found, [[1, 1.5, 2.5, 3]])
    found = apply_transform(image, shifted(0, -0.75), shape=(1, 4))
    np.testing.assert_allclose(found, [[np.nan, 1.25, 2.25, 3]])


@given(st.floats(-180, 180), st.floats(-60, 60), st.floats(-60, 60), st.floats(0.3, 3))
@quick
def test_extent_holds_the_whole_moving_image_and_no_more(angle, down, right, scale):
    image = np.ones((12, 17))
    matrix = turned(angle, (down, right), scale)
    extent = moving_extent(image.shape, matrix)
    found = apply_transform(image, matrix, shape=extent.shape, origin=extent.origin)
    wider = apply_transform(
        image,
        matrix,
        shape=(extent.shape[0] + 4, extent.shape[1] + 4),
        origin=(extent.origin[0] - 2, extent.origin[1] - 2),
    )
    np.testing.assert_allclose(wider[2:-2, 2:-2], found, atol=1e-12)
    assert np.isfinite(wider).sum() == np.isfinite(found).sum()
    corners = [[r, c] for r in (-0.5, 11.5) for c in (-0.5, 16.5)]
    first = apply_to_points(corners, matrix) - extent.origin
    assert (first.min(0) < 0.51).all()
    assert (first.max(0) > np.array(extent.shape) - 1.51).all()


def test_extent_of_the_identity_is_the_image():
    extent = moving_extent((12, 17), np.eye(3))
    assert (extent.origin, extent.shape) == ((0, 0), (12, 17))


def test_origin_cuts_out_a_part():
    image, matrix = picture(), turned(10, (2, 3))
    whole = apply_transform(image, matrix)
    part = apply_transform(image, matrix, shape=(10, 12), origin=(5, 7))
    np.testing.assert_allclose(part, whole[5:15, 7:19], atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_blocks_leave_no_trace(order, monkeypatch):
    image = picture((90, 80))
    image[40, 30] = np.nan
    matrix = turned(31, (20.2, -11), 0.8)
    whole = apply_transform(image, matrix, order=order)
    monkeypatch.setattr("napari_cosparse.core.registration._warp.BLOCK", 16)
    np.testing.assert_array_equal(apply_transform(image, matrix, order=order), whole)


def test_input_is_not_changed():
    image, matrix = picture(), turned(10)
    before = image.copy(), matrix.copy()
    apply_transform(image, matrix, order="cubic", origin=(3, 4))
    np.testing.assert_array_equal(image, before[0])
    np.testing.assert_array_equal(matrix, before[1])


def test_masked_entries_become_nan():
    image = np.ma.masked_equal(np.arange(12).reshape(3, 4), 5)
    found = apply_transform(image, np.eye(3))
    assert np.isnan(found[1, 1])
    assert np.isfinite(found).sum() == 11


# --- points and shapes


@given(st.floats(-180, 180), st.floats(-60, 60), st.floats(0.3, 3), st.integers(2, 5))
@quick
def test_points_there_and_back(angle, down, scale, dimension):
    matrix = turned(angle, (down, 4), scale)
    points = np.random.default_rng(0).uniform(0, 100, (7, dimension))
    there = apply_to_points(points, matrix)
    back = apply_to_points(there, matrix, direction="fixed to moving")
    np.testing.assert_allclose(back, points, atol=1e-9)
    np.testing.assert_array_equal(there[:, :-2], points[:, :-2])


def test_points_follow_their_pixels():
    image = np.zeros((40, 50))
    image[12, 31] = 1
    matrix = turned(25, (-3, 9))
    [point] = apply_to_points([[12, 31]], matrix)
    found = apply_transform(image, matrix, fill=0)
    peak = np.unravel_index(found.argmax(), found.shape)
    assert np.abs(point - peak).max() < 1
    [shape] = apply_to_shapes([[[12, 31], [0, 0], [3, 4]]], matrix)
    np.testing.assert_allclose(shape[0], point)


# --- what is refused


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"order": "bicubic"}, "order 'bicubic'"),
        ({"shape": (0, 5)}, "at least 1"),
        ({"shape": (5,)}, "two whole numbers"),
        ({"origin": (0.5, 1)}, "two whole numbers"),
        ({"origin": 3}, "origin 3 must be two whole numbers"),
        ({"shape": 5}, "shape 5 must be two whole numbers"),
        ({"image": [[1, 2], [3]]}, "the image cannot be made an array of numbers"),
        ({"matrix": np.zeros((3, 3))}, "last row"),
        ({"matrix": np.diag([1.0, 0, 1])}, "singular"),
        ({"matrix": np.eye(4)}, r"\(4, 4\)"),
        ({"image": np.zeros((4, 4, 2))}, r"\(4, 4, 2\)"),
        ({"image": np.zeros((2, 3, 4, 4))}, "warp_lazily"),
        ({"image": np.zeros((4, 4), complex)}, "complex128"),
        ({"image": np.zeros((0, 4))}, "nothing to resample"),
        ({"fill": 300}, "fill 300"),
        ({"fill": np.nan}, "fill nan"),
        ({"fill": 0.5}, "fill 0.5"),
        ({"fill": "a"}, "fill 'a' must be one number"),
        ({"fill": [1, 2]}, "must be one number"),
        ({"report": 3}, "report 3 must be callable"),
    ],
)
def test_wrong_input_is_refused(change, says):
    options = {"image": np.zeros((4, 4), np.uint8), "matrix": np.eye(3)} | change
    with pytest.raises(InputError, match=says):
        apply_transform(**options)


def test_a_registration_brings_its_grid_and_its_trust():
    found = SimpleNamespace(matrix=shifted(1, 0), trusted=True, because="good", fixed_shape=(3, 4))
    assert apply_transform(picture(), found).shape == (3, 4)
    found.trusted, found.because = False, "only 11 % overlap"
    for function in (apply_transform, apply_to_labels, apply_to_points):
        with pytest.raises(InputError, match="only 11 % overlap"):
            function(picture(), found)
    assert apply_transform(picture(), found.matrix).shape == (40, 50)


@pytest.mark.parametrize(
    ("points", "direction", "says"),
    [
        (np.zeros(4), "moving to fixed", r"\(4,\)"),
        (np.zeros((4, 1)), "moving to fixed", r"\(4, 1\)"),
        (np.zeros((4, 2)), "forwards", "direction 'forwards'"),
        (np.zeros((4, 2), complex), "moving to fixed", "points have type complex128"),
        ("ab", "moving to fixed", "points have type <U2; real numbers are needed"),
        ([[1, 2], [3]], "moving to fixed", "points cannot be made an array of numbers"),
    ],
)
def test_wrong_points_are_refused(points, direction, says):
    with pytest.raises(InputError, match=says):
        apply_to_points(points, np.eye(3), direction=direction)


def test_what_is_no_list_of_shapes_is_refused():
    with pytest.raises(InputError, match="shapes None must be a list"):
        apply_to_shapes(None, np.eye(3))


def test_steps_report_a_megapixel_at_a_time_and_give_the_same_image():
    image, matrix, seen = picture((300, 280)), turned(13), []
    options = {"order": "cubic", "shape": (1500, 1500)}
    found = drain(apply_transform_steps(image, matrix, **options), seen.append)
    np.testing.assert_array_equal(found, apply_transform(image, matrix, **options))
    assert [progress.step for progress in seen] == [16, 32, 36]
    assert {progress.total for progress in seen} == {36}


def test_steps_refuse_wrong_arguments_at_the_call():
    with pytest.raises(InputError, match="order 'quintic'"):
        apply_transform_steps(picture(), np.eye(3), order="quintic")


def test_blocks_go_through_the_map():
    given = []

    def noted(function, blocks):
        given.append(len(list(blocks)))
        return map(function, blocks)

    image = picture((10, 10))
    found = apply_transform(image, np.eye(3), shape=(300, 600), map_=noted)
    np.testing.assert_array_equal(found, apply_transform(image, np.eye(3), shape=(300, 600)))
    assert given == [6]
