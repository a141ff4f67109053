"""Where the target lies on the guide: transforms, units, refusals (G02, G17, D18, D19)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from napari.layers import Image

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import grid_of, place

FINE, COARSE = np.zeros((32, 48)), np.zeros((8, 12))


def placing(target, guide):
    return place(grid_of(target), grid_of(guide))


def affine(angle=0.0, shift=(0.0, 0.0), shear=0.0):
    """World matrix: turned by an angle in degrees, sheared, shifted."""
    turn = np.deg2rad(angle)
    matrix = np.eye(3)
    matrix[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    matrix[:2, :2] @= [[1, shear], [0, 1]]
    matrix[:2, 2] = shift
    return matrix


def test_default_transforms_say_nothing():
    assert placing(Image(COARSE), Image(FINE)) is None


def test_default_transforms_and_equal_shapes_are_factor_one():
    found = placing(Image(FINE), Image(FINE))
    assert (found.factor, found.origin) == ((1, 1), (0, 0))


@pytest.mark.parametrize(("shift", "origin"), [(0, 0), (1.5, 1.5), (-0.5, -0.5)])
def test_scale_and_translate(shift, origin):
    found = placing(Image(COARSE, scale=(4, 4), translate=(shift, shift)), Image(FINE))
    assert (found.factor, found.origin) == ((4, 4), (origin, origin))


def test_rgb_guide_has_two_axes():
    guide = Image(np.zeros((32, 48, 3), np.uint8), rgb=True, scale=(0.5, 0.5))
    found = placing(Image(COARSE, scale=(2, 2)), guide)
    assert found.factor == (4, 4)
    assert grid_of(guide).shape == (32, 48)


def test_anisotropic_factor_that_is_not_integer():
    found = placing(Image(COARSE, scale=(2.025, 2.0167)), Image(FINE))
    assert found.factor == pytest.approx((2.025, 2.0167))


@given(
    angle=st.floats(-180, 180),
    shear=st.floats(-1, 1),
    shift=st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)),
    scale=st.floats(0.01, 100),
    factor=st.tuples(st.floats(1, 16), st.floats(1, 16)),
    origin=st.tuples(st.floats(-4, 8), st.floats(-4, 8)),
)
def test_common_transform_of_both_layers_does_not_matter(
    angle, shear, shift, scale, factor, origin
):
    common = affine(angle, shift, shear)
    guide = Image(FINE, scale=(scale, 2 * scale), affine=common)
    target = Image(
        COARSE,
        scale=(scale * factor[0], 2 * scale * factor[1]),
        translate=(scale * origin[0], 2 * scale * origin[1]),
        affine=common,
    )
    found = placing(target, guide)
    assert found.factor == pytest.approx(factor, abs=1e-3)
    assert found.origin == pytest.approx(origin, abs=2e-3)


def test_rotate_of_the_layers_and_their_affine_are_composed():
    """G02, G17: the target is turned by its affine, the guide by its rotate."""
    guide = Image(FINE, scale=(1, 1), rotate=45, units="um")
    target = Image(COARSE, scale=(2, 2), translate=(0.5, 0.5), affine=affine(45), units="um")
    found = placing(target, guide)
    assert found.factor == (2, 2)
    assert found.origin == (0.5, 0.5)


def test_units_are_converted():
    guide = Image(FINE, scale=(500, 500), units="nm")
    target = Image(COARSE, scale=(2, 2), translate=(0.75, 0.75), units="um")
    found = placing(target, guide)
    assert (found.factor, found.origin) == ((4, 4), (1.5, 1.5))


def test_pixels_among_micrometres_are_taken_as_napari_draws_them_and_it_is_said():
    """The same rule as for a registration."""
    low = Image(COARSE, scale=(2, 2), translate=(0.75, 0.75), units="um", name="low")
    found = placing(low, Image(FINE, scale=(0.5, 0.5), name="high"))
    assert (found.factor, found.origin) == ((4, 4), (1.5, 1.5))
    assert found.note == (
        "'high' has no unit: its numbers are taken as micrometers, as napari draws them."
    )


@pytest.mark.parametrize(("target", "guide"), [({"units": "um"}, {}), ({}, {"units": "um"})])
def test_a_layer_without_unit_and_place_says_nothing_beside_one_with(target, guide):
    assert placing(Image(COARSE, **target), Image(FINE, **guide)) is None


def test_units_of_another_kind_are_said():
    found = placing(Image(COARSE, scale=(4, 4), units="s"), Image(FINE, units="um"))
    assert found.factor == (4, 4)
    assert "micrometer and second cannot be converted" in found.note


def test_rotation_below_a_tenth_of_a_pixel_is_forgiven():
    target = Image(COARSE, scale=(4, 4), affine=affine(angle=0.05))
    assert placing(target, Image(FINE)).factor == pytest.approx((4, 4), abs=1e-3)


def test_plane_of_a_stack_that_is_tilted_is_refused():
    matrix = np.eye(4)
    matrix[0, 2] = 0.3
    with pytest.raises(InputError, match="tilted"):
        grid_of(Image(np.zeros((1, 8, 12)), affine=matrix))


def test_leading_axes_are_left_out():
    target = Image(COARSE[None], scale=(7, 4, 4), translate=(30, 1.5, 1.5))
    found = placing(target, Image(FINE))
    assert (found.factor, found.origin) == ((4, 4), (1.5, 1.5))


def test_pixels_of_a_coarse_level_lie_in_the_middle_of_their_blocks():
    pyramid = Image([FINE, FINE[::4, ::4]], contrast_limits=(0, 1), scale=(3, 3))
    found = place(grid_of(pyramid, level=1), grid_of(pyramid))
    assert (found.factor, found.origin) == ((4, 4), (1.5, 1.5))


def test_planes_of_a_stack_have_one_grid():
    """G18, M06."""
    grid = grid_of(Image(np.zeros((5, 8, 12)), scale=(9, 2, 3), translate=(1, 4, 5)))
    assert grid.shape == (8, 12)
    np.testing.assert_array_equal(grid.matrix, [[2, 0, 4], [0, 3, 5], [0, 0, 1]])
