"""Targets whose rows and columns do not run along the guide's (G01, G02, G07, G09, G10, G17)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from napari.layers import Image

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import grid_of, place, steps_of

FINE, COARSE = np.zeros((32, 48)), np.zeros((8, 12))


def placing(target, guide):
    return place(grid_of(target), grid_of(guide))


@given(
    rotates=st.tuples(st.floats(-180, 180), st.floats(-180, 180)),
    shears=st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5)),
    scales=st.tuples(*[st.floats(0.1, 10)] * 4),
    flip=st.sampled_from([-1, 1]),
    shift=st.tuples(st.floats(-50, 50), st.floats(-50, 50)),
    turn=st.floats(-3, 3),
)
def test_transform_says_what_the_viewer_shows(rotates, shears, scales, flip, shift, turn):
    """Whatever both layers' transforms and units are; directions as in `register`."""
    affine = np.array(
        [[np.cos(turn), -np.sin(turn), 3], [np.sin(turn), np.cos(turn), -7], [0, 0, 1]]
    )
    guide = Image(FINE, scale=scales[:2], rotate=rotates[0], shear=[shears[0]], units="um")
    target = Image(
        COARSE,
        scale=(1e3 * scales[2], 1e3 * flip * scales[3]),
        rotate=rotates[1],
        shear=[shears[1]],
        translate=[1e3 * s for s in shift],
        affine=affine,
        units="nm",
    )
    found = placing(target, guide)
    back = np.linalg.inv(found.transform) if found.transform is not None else np.eye(3)
    if found.transform is None:
        back[:2] = np.column_stack([np.diag(found.factor), found.origin])
    for pixel in ((0, 0), (7, 3), (2.5, 11)):
        there = (back @ [*pixel, 1])[:2]
        world = np.array(target.data_to_world(pixel)) / 1e3
        off = 0.2 * max(scales[:2]) if found.transform is None else 1e-6 * (1 + np.abs(world).max())
        np.testing.assert_allclose(guide.data_to_world(there), world, atol=off)
    if found.transform is not None:
        assert found.factor == pytest.approx(steps_of(found.transform))


@pytest.mark.parametrize(
    ("target", "because"),
    [
        ({"rotate": 12.34}, "turned by 12.3 degrees"),
        ({"rotate": -0.5}, "turned by -0.5 degrees"),
        ({"rotate": 90}, "turned by 90 degrees"),
        ({"shear": [0.2]}, "sheared"),
        ({"scale": (4, -4)}, "mirrored left to right"),
        ({"scale": (-4, 4)}, "upside down (rows mirrored)"),
        ({"scale": (-4, 4), "rotate": 30}, "mirrored and turned by -150 degrees"),
        ({"scale": (-4, -4)}, "turned by 180 degrees"),
    ],
)
def test_reason_is_in_plain_words(target, because):
    found = placing(Image(COARSE, **{"scale": (4, 4), **target}), Image(FINE))
    assert because in found.because
    assert ("mirrored" in because) == ("mirrored" in found.because)
    assert found.factor == pytest.approx((4, 4), rel=0.03)


def test_angle_is_that_of_the_world_though_the_guides_pixels_are_not_square():
    guide = Image(FINE, scale=(1, 3), rotate=10)
    found = placing(Image(COARSE, scale=(8, 8), rotate=40), guide)
    assert found.because == "turned by 30 degrees"


def test_spacings_that_differ_by_rounding_are_straight():
    """G07: 0.1 and 0.1 + 1e-12."""
    guide = Image(FINE, scale=(0.1, 0.1 + 1e-12), rotate=30)
    target = Image(COARSE, scale=(0.4 + 1e-12, 0.4), rotate=30 + 1e-9)
    found = placing(target, guide)
    assert found.transform is None
    assert found.factor == (4, 4)


def test_layer_that_is_squashed_is_refused():
    squashed = Image(COARSE, affine=np.diag([1, 0, 1]) + 0.0, name="flat")
    with pytest.raises(InputError, match="'flat' is squashed"):
        placing(squashed, Image(FINE))
