"""Planes are named by their index from 0, as sliders count."""

import numpy as np
import pytest

from napari_cosparse.core.planes import plane_name, plane_of_all


@pytest.mark.parametrize(
    ("index", "name"), [((), ""), ((0,), "0"), ((np.int64(2),), "2"), ([0, np.intp(3)], "(0, 3)")]
)
def test_name_is_the_index(index, name):
    assert plane_name(index) == name


def test_how_many_are_done_is_counted_from_one():
    assert plane_of_all((0,), 0, 8) == "plane 0 (1 of 8)"
    assert plane_of_all((1, 2), 5, 6) == "plane (1, 2) (6 of 6)"
