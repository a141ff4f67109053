"""Before and after a registration: placement of layers (G01, G02, G04, G06, G17, G18, G20)."""

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from napari.components import ViewerModel
from napari.layers import Image, Labels, Layer, Points, Shapes

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import (
    METADATA_KEY,
    grid_of,
    mirror,
    motion_of,
    moved,
    overlap_of,
    start_from,
)

FIXED, MOVING = (40, 52), (30, 37)
PIXELS = np.array([[0, 0], [7, 3], [29, 36], [12.5, 30.25]])


def homogeneous(matrix, points):
    return points @ np.asarray(matrix)[:2, :2].T + np.asarray(matrix)[:2, 2]


def in_world(layer, points):
    return np.array([layer.data_to_world(point) for point in points])


def put_right(fixed, moving, matrix, layer=None):
    """The new layer after a registration."""
    motion = motion_of(grid_of(fixed), grid_of(moving), matrix)
    return Layer.create(*moved(layer or moving, motion))


def lies_on_fixed(new, fixed, matrix):
    """Each fixed pixel and its moving pixel are at one place in the world."""
    points = np.array([[0, 0], [39, 51], [3.5, 20]])
    there = in_world(new, homogeneous(matrix, points))
    np.testing.assert_allclose(there, in_world(fixed, points), rtol=1e-9, atol=1e-6)


numbers = st.floats(-50, 50)
sizes = st.floats(0.05, 20).flatmap(lambda size: st.sampled_from([size, -size]))
layers = st.fixed_dictionaries(
    {
        "scale": st.tuples(sizes, sizes),
        "translate": st.tuples(numbers, numbers),
        "rotate": st.floats(-180, 180),
        "shear": st.tuples(st.floats(-1, 1)),
        "affine": st.tuples(st.floats(-3, 3), numbers, numbers).map(
            lambda t: [
                [np.cos(t[0]), -np.sin(t[0]), t[1]],
                [2 * np.sin(t[0]), 2 * np.cos(t[0]), t[2]],
                [0, 0, 1],
            ]
        ),
        "units": st.sampled_from(["um", "nm", "mm"]),
    }
)
transforms = st.tuples(st.floats(-3, 3), st.floats(0.5, 2), numbers, numbers).map(
    lambda t: np.array(
        [
            [t[1] * np.cos(t[0]), -np.sin(t[0]), t[2]],
            [np.sin(t[0]), t[1] * np.cos(t[0]), t[3]],
            [0, 0, 1],
        ]
    )
)


@given(fixed=layers, moving=layers, matrix=transforms)
def test_new_layer_lies_on_the_fixed_one_whatever_both_transforms_are(fixed, moving, matrix):
    fixed, moving = Image(np.zeros(FIXED), **fixed), Image(np.zeros(MOVING), **moving)
    new = put_right(fixed, moving, matrix)
    assert new.units == fixed.units
    lies_on_fixed(new, fixed, matrix)


@given(fixed=layers, moving=layers)
def test_start_is_what_the_viewer_shows_and_keeps_the_layer_where_it_is(fixed, moving):
    fixed, moving = Image(np.zeros(FIXED), **fixed), Image(np.zeros(MOVING), **moving)
    start = start_from(grid_of(fixed), grid_of(moving))
    assert np.linalg.det(start.matrix) > 0
    matrix = mirror(MOVING) @ start.matrix if start.mirrored else start.matrix
    lies_on_fixed(put_right(fixed, moving, matrix), fixed, matrix)
    ratio = (1.0 * moving.units[0]).to(fixed.units[0]).magnitude
    here = in_world(moving, PIXELS) * ratio
    there = in_world(put_right(fixed, moving, matrix), PIXELS)
    np.testing.assert_allclose(there, here, rtol=1e-6, atol=1e-6 * np.abs(here).max())


def test_small_scales_and_a_quarter_turn():
    """G01: scales below 1; what is exported is what the viewer shows."""
    fixed, moving = (
        Image(np.zeros(FIXED), scale=(0.16,) * 2),
        Image(np.zeros(MOVING), scale=(0.02,) * 2),
    )
    turn = np.array([[0, -8.0, 250], [8, 0, 3], [0, 0, 1]])
    new = put_right(fixed, moving, turn)
    viewer = ViewerModel()
    viewer.add_layer(fixed)
    viewer.add_layer(new)
    lies_on_fixed(new, fixed, turn)
    np.testing.assert_allclose(new.scale, (0.02, 0.02))


def test_different_pixel_sizes_and_shapes_are_known_before_registration():
    """G02, G04: the start is in the world, and rigid for pixel sizes of .16/.6 against .2."""
    fixed = Image(np.zeros((126, 34)), scale=(0.16, 0.6), units="um")
    moving = Image(np.zeros((96, 120)), scale=(200, 200), rotate=45, units="nm")
    start = start_from(grid_of(fixed), grid_of(moving))
    assert start.pixel_size_fixed == pytest.approx((0.16, 0.6))
    assert start.pixel_size_moving == pytest.approx((0.2, 0.2))
    assert not start.mirrored


def test_origin_counts():
    """G06."""
    moving = Image(np.zeros(MOVING), translate=(500, -200))
    start = start_from(grid_of(Image(np.zeros(FIXED))), grid_of(moving))
    np.testing.assert_allclose(start.matrix, [[1, 0, -500], [0, 1, 200], [0, 0, 1]])
    assert start.overlap == 0


def test_affine_and_scale_are_both_used():
    """G17."""
    affine = [[0, -1, 9], [1, 0, 2], [0, 0, 1]]
    moving = Image(np.zeros(MOVING), scale=(2, 3), translate=(1, 1), affine=affine)
    start = start_from(grid_of(Image(np.zeros(FIXED))), grid_of(moving))
    expected = np.linalg.inv(np.array(affine) @ [[2, 0, 1], [0, 3, 1], [0, 0, 1]])
    np.testing.assert_allclose(start.matrix, expected, atol=1e-12)


def test_pixels_among_micrometres_are_taken_as_napari_draws_them_and_it_is_said():
    fixed = Image(np.zeros(FIXED), scale=(0.5, 0.5), units="um", name="stain")
    moving = Image(np.zeros(MOVING), scale=(0.25, 0.25), name="plain")
    start = start_from(grid_of(fixed), grid_of(moving))
    np.testing.assert_allclose(start.matrix[:2, :2], 2 * np.eye(2))
    assert "'plain' has no unit" in start.note
    assert start.informative


def test_pixel_size_of_a_layer_that_nobody_has_placed_is_not_known_beside_micrometres():
    fixed = Image(np.zeros(FIXED), scale=(0.5, 0.5), units="um", name="stain")
    start = start_from(grid_of(fixed), grid_of(Image(np.zeros(MOVING), name="plain")))
    assert start.note == "The pixel size of 'plain' is not known."
    assert not start.informative


@pytest.mark.parametrize("place", [{"scale": (4, 4)}, {"translate": (9, 0)}])
def test_place_of_one_layer_counts_where_both_are_in_pixels(place):
    start = start_from(grid_of(Image(np.zeros(FIXED))), grid_of(Image(np.zeros(MOVING), **place)))
    assert start.informative


def test_units_of_another_kind_are_said():
    fixed = Image(np.zeros(FIXED), units="um")
    start = start_from(grid_of(fixed), grid_of(Image(np.zeros(MOVING), units="s")))
    assert "cannot be converted" in start.note


def test_new_layer_shares_the_data_of_any_kind():
    """G18: nothing is copied or computed, levels and looks are kept."""
    computed = []

    def note(block):
        computed.append(block.shape)
        return block

    def lazy(shape):
        return da.zeros(shape, chunks=16).map_blocks(note, meta=np.empty((0, 0)))

    levels = [lazy((64, 64)), lazy((32, 32))]
    moving = Image(levels, contrast_limits=(2, 5), colormap="magma", name="m", scale=(2, 2))
    computed.clear()
    fixed = Image(np.zeros(FIXED))
    data, state, kind = moved(moving, motion_of(grid_of(fixed), grid_of(moving), np.eye(3)))
    assert not computed
    assert kind == "image"
    assert [level is given for level, given in zip(data, levels, strict=True)] == [True, True]
    assert state["name"] == "m [registered]"
    assert tuple(state["contrast_limits"]) == (2, 5)
    plain = Image(np.zeros(MOVING))
    assert np.shares_memory(put_right(fixed, plain, np.eye(3)).data, plain.data)


def test_stacks_and_channels_move_in_their_planes():
    """K15: one transform, all planes."""
    fixed = Image(np.zeros(FIXED), scale=(2, 2), units="um")
    stack = Image(
        np.zeros((4, 3, *MOVING)),
        scale=(5, 1, 0.5, 0.5),
        translate=(7, 0, 1, 2),
        units=("s", "pixel", "um", "um"),
    )
    matrix = np.array([[0.8, -0.6, 4], [0.6, 0.8, 1], [0, 0, 1]])
    new = put_right(fixed, stack, matrix)
    pixel = homogeneous(matrix, np.array([[3, 9]]))[0]
    np.testing.assert_allclose(new.data_to_world((2, 1, *pixel)), (17, 1, 6, 18))
    assert [str(unit) for unit in new.units] == ["second", "pixel", "micrometer", "micrometer"]


@pytest.mark.parametrize("units", ["um", "nm"])
def test_labels_points_and_shapes_follow(units):
    """G20: every layer moves by the same way in the world."""
    fixed = Image(np.zeros(FIXED), scale=(2, 3), units="um")
    moving = Image(np.zeros(MOVING), scale=(0.5, 0.5), rotate=20, units="um")
    matrix = np.array([[0.9, 0.1, 4], [-0.2, 1.1, 1], [0, 0, 1]])
    motion = motion_of(grid_of(fixed), grid_of(moving), matrix)
    image = Layer.create(*moved(moving, motion))
    size = {"um": 1.0, "nm": 1000.0}[units]
    common = {"scale": (size, size), "units": units}
    others = [
        Points(in_world(moving, PIXELS), **common),
        Shapes([in_world(moving, PIXELS)], shape_type="polygon", **common),
    ]
    for other in others:
        new = Layer.create(*moved(other, motion, name="new", record={"action": "register"}))
        data = new.data[0] if isinstance(new, Shapes) else new.data
        np.testing.assert_allclose(in_world(new, data), in_world(image, PIXELS), rtol=1e-6)
        assert (new.name, new.metadata[METADATA_KEY]["action"]) == ("new", "register")
        assert METADATA_KEY not in other.metadata
    labels = Labels(np.array([[0, 5], [11, 0]]), scale=(3, 3), units="um")
    new = Layer.create(*moved(labels, motion))
    assert set(np.unique(new.data)) == {0, 5, 11}


def test_moved_layer_can_be_moved_again():
    fixed, moving = Image(np.zeros(FIXED), scale=(3, 1)), Image(np.zeros(MOVING), rotate=10)
    first = put_right(fixed, moving, [[1, 0, 5], [0, 1, 9], [0, 0, 1]])
    matrix = np.array([[0, -1, 20], [1, 0, 0], [0, 0, 1.0]])
    lies_on_fixed(put_right(fixed, first, matrix), fixed, matrix)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.full((3, 3), np.nan), np.eye(4)])
def test_transform_without_an_inverse_is_refused(matrix):
    grid = grid_of(Image(np.zeros(FIXED)))
    with pytest.raises(InputError, match="transform"):
        motion_of(grid, grid, matrix)


def test_overlap():
    assert overlap_of(np.eye(3), (40, 40), (40, 40)) == 1
    assert overlap_of(np.eye(3), (40, 40), (20, 40)) == pytest.approx(0.5, abs=0.03)
