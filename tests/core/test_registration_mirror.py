"""Mirror images of which a part fits by chance."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse import make_scene, register


@pytest.fixture(scope="module")
def fixed():
    return make_scene((300, 360), 7).guide[40:260, 50:310]


def test_upside_down_image_is_named_though_a_part_of_it_fits(fixed):
    found = register(fixed, 255 - fixed[::-1].mean(-1))
    assert found.reflected
    assert not found.trusted
    assert "mirror" in found.because


def test_upside_down_image_is_turned_where_it_may_be(fixed):
    found = register(fixed, 255 - fixed[::-1].mean(-1), allow_reflection=True)
    assert found.trusted
    expected = [[-1, 0, fixed.shape[0] - 1], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_allclose(found.matrix, expected, atol=0.1)
