"""A matrix in words."""

import numpy as np
import pytest

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.geometry import motion_of

SHAPE = (100, 60)


def about_the_centre(linear, shift=(0, 0)):
    centre = (np.array(SHAPE, float) - 1) / 2
    matrix = np.eye(3)
    matrix[:2, :2] = linear
    matrix[:2, 2] = centre + shift - linear @ centre
    return matrix


def turn(angle):
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return np.array([[c, -s], [s, c]])


@pytest.mark.parametrize("angle", [-170, -12.5, 0, 90, 180])
@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_parts_of_a_similarity(angle, scale):
    found = motion_of(about_the_centre(scale * turn(angle), (4, -7)), SHAPE, SHAPE)
    assert found.rotation == pytest.approx(angle)
    assert found.scale == pytest.approx(scale)
    assert found.stretch == pytest.approx(1)
    assert found.shift == pytest.approx((4, -7))
    assert not found.mirrored


def test_stretch_is_the_ratio_of_scales():
    found = motion_of(about_the_centre(turn(10) @ np.diag([3, 2])), SHAPE, SHAPE)
    assert found.stretch == pytest.approx(1.5)
    assert found.scale == pytest.approx(np.sqrt(6))
    assert found.rotation == pytest.approx(10)


def test_mirrored_image_is_told():
    found = motion_of(about_the_centre(turn(20) @ np.diag([1, -1])), SHAPE, SHAPE)
    assert found.mirrored
    assert found.rotation == pytest.approx(20)
    assert str(found).endswith("mirrored")


def test_shift_leads_from_centre_to_centre():
    found = motion_of(np.eye(3), (100, 60), (120, 60))
    assert found.shift == (-10, 0)


def test_words():
    words = str(motion_of(about_the_centre(turn(5), (1, 2)), SHAPE, SHAPE))
    assert words == "rotation +5.000 deg, shift (+1.00, +2.00) px, scale 1.0000"
    assert "stretch 2.0000" in str(motion_of(np.diag([2.0, 1, 1]), SHAPE, SHAPE))


def test_singular_matrix_is_refused():
    with pytest.raises(InputError, match="singular"):
        motion_of(np.diag([0.0, 1, 1]), SHAPE, SHAPE)
