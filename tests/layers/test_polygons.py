"""Polygons as pixels, against napari's own way, which is slow."""

import numpy as np
import pytest
from napari.layers import Shapes

from napari_cosparse.layers._polygons import fill_polygons

SHAPE = 40, 50


def by_napari(outlines):
    return Shapes(outlines, shape_type="polygon").to_labels(SHAPE) != 0


@pytest.mark.parametrize("seed", range(20))
def test_pixels_are_those_of_napari(seed):
    """Also where an outline crosses itself, and where it leaves the image."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-15, 65, (rng.integers(3, 12), 2))
    found = fill_polygons([corners], SHAPE)
    assert found.any()
    np.testing.assert_array_equal(found, by_napari([corners]))


@pytest.mark.parametrize("seed", range(20))
def test_pixels_on_the_outline_count(seed):
    corners = np.random.default_rng(seed).integers(-5, 50, (6, 2)).astype(float)
    found = fill_polygons([corners], SHAPE)
    inside = by_napari([corners])
    assert not (inside & ~found).any()
    on = [distance(corners, place) < 1e-9 for place in np.argwhere(found & ~inside)]
    assert all(on)


def test_polygons_that_overlap_are_filled_together():
    square = np.array([[2, 3], [2, 20], [15, 20], [15, 3]], float)
    found = fill_polygons([square, square + 5], SHAPE)
    expected = np.zeros(SHAPE, bool)
    expected[2:16, 3:21] = expected[7:21, 8:26] = True
    np.testing.assert_array_equal(found, expected)


def test_no_polygon_fills_nothing():
    assert not fill_polygons([], SHAPE).any()
    assert not fill_polygons([np.array([[-9, -9], [-9, -2], [-3, -5.0]])], SHAPE).any()


def distance(corners, place):
    """Of a place to the outline."""
    begin, along = corners, np.roll(corners, -1, 0) - corners
    length = np.maximum((along**2).sum(1), 1e-300)
    share = np.clip(((np.array(place) - begin) * along).sum(1) / length, 0, 1)
    return np.hypot(*(begin + share[:, None] * along - place).T).min()
