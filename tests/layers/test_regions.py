"""Masks from labels and shapes, pairs of points, on the pixels of an image with any transform."""

import numpy as np
import pytest
from napari.layers import Image, Labels, Points, Shapes

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import grid_of, mask_on, point_pairs, points_on, region_flaw

PLACE = {"scale": (0.5, 2), "translate": (3, -4), "rotate": 30, "units": "um"}
BOX = np.array([[2, 3], [2, 8], [7, 8], [7, 3]], float)


def box_mask(shape=(12, 14)):
    mask = np.zeros(shape, bool)
    mask[2:8, 3:9] = True
    return mask


def image_grid(**place):
    return grid_of(Image(np.zeros((12, 14)), **(place or PLACE)))


def test_labels_of_the_images_own_grid_are_the_mask():
    labels = Labels(np.where(box_mask(), 7, 0), **PLACE)
    np.testing.assert_array_equal(mask_on(image_grid(), labels), box_mask())


def test_labels_of_another_grid_are_looked_up_in_the_world():
    coarse = np.zeros((6, 7), int)
    coarse[1:3, 2:5] = 1
    labels = Labels(coarse, scale=(2000, 2000), translate=(500, 500), units="nm")
    expected = np.zeros((12, 14), bool)
    expected[2:6, 4:10] = True
    found = mask_on(image_grid(scale=(1, 1), units="um"), labels)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("unit", "size"), [("um", 1.0), ("mm", 1e-3), ("nm", 1000.0)])
@pytest.mark.parametrize(("plane", "drawn"), [(0, True), (1, False), (2, True), (3, False)])
def test_shapes_of_a_stack_count_on_their_plane(plane, drawn, unit, size):
    image = Image(np.zeros((4, 12, 14)), scale=(5, 1, 1), translate=(2, 0, 0), units=("um",) * 3)
    first, last = (np.column_stack([np.full(4, k), BOX]) for k in (0.0, 2.0))
    place = {"scale": (5 * size, size, size), "translate": (2 * size, 0, 0), "units": (unit,) * 3}
    shapes = Shapes([first, last], shape_type="polygon", name="drawn", **place)
    grid = grid_of(image)
    if drawn:
        np.testing.assert_array_equal(mask_on(grid, shapes, (plane,)), box_mask())
        assert not region_flaw(grid, shapes, (plane,))
    else:
        with pytest.raises(InputError, match="nothing drawn on 'drawn' lies on"):
            mask_on(grid, shapes, (plane,))
        assert region_flaw(grid, shapes, (plane,)).startswith("Nothing drawn on 'drawn'")


def test_shapes_count_on_all_planes_where_one_of_the_two_is_no_stack():
    image, flat = Image(np.zeros((4, 12, 14))), Image(np.zeros((12, 14)))
    stacked = Shapes([np.column_stack([np.full(4, 3.0), BOX])], shape_type="polygon")
    for grid, shapes, plane in (
        (grid_of(image), Shapes([BOX], shape_type="polygon"), (1,)),
        (grid_of(flat), stacked, ()),
    ):
        np.testing.assert_array_equal(mask_on(grid, shapes, plane), box_mask())


def test_plane_of_a_stack_of_labels():
    stack = np.zeros((3, 12, 14), int)
    stack[1] = box_mask()
    np.testing.assert_array_equal(
        mask_on(image_grid(scale=(1, 1)), Labels(stack), (1,)), box_mask()
    )


@pytest.mark.parametrize("kind", ["polygon", "rectangle"])
def test_closed_shapes_are_filled(kind):
    shapes = Shapes([BOX], shape_type=kind, **PLACE)
    np.testing.assert_array_equal(mask_on(image_grid(), shapes), box_mask())


def test_ellipse_of_another_pixel_size():
    box = np.array([[0, 0], [0, 5], [5, 5], [5, 0]]) * 2000.0
    ellipse = Shapes([box], shape_type="ellipse", scale=(1e-3, 1e-3), units="um")
    found = mask_on(grid_of(Image(np.zeros((24, 24)), scale=(0.5, 0.5), units="um")), ellipse)
    rows, columns = np.indices((24, 24))
    distance = np.hypot(rows - 10, columns - 10)
    assert found[distance < 9.4].all()
    assert not found[distance > 10.6].any()


@pytest.mark.parametrize(
    "layer",
    [
        Labels(np.zeros((12, 14), int), name="drawn"),
        Shapes([BOX[:2]], shape_type="line", name="drawn"),
        Shapes([BOX + 500], shape_type="polygon", name="drawn"),
    ],
)
def test_empty_mask_is_refused(layer):
    with pytest.raises(InputError, match="nothing drawn on 'drawn'"):
        mask_on(image_grid(scale=(1, 1)), layer)


def test_points_in_pixels_of_the_image():
    points = Points([[1.5, 2], [9, 0]], scale=(2, 2), translate=(1, 0))
    found = points_on(image_grid(scale=(0.5, 0.5)), points)
    np.testing.assert_allclose(found, [[8, 8], [38, 0]])


def test_pairs_of_points():
    fixed, moving = image_grid(scale=(1, 1)), image_grid(scale=(2, 2))
    ours, theirs = Points([[1, 2], [3, 4]]), Points([[1, 2], [3, 4]], name="b")
    np.testing.assert_allclose(point_pairs(fixed, moving, (ours, theirs))[1], [[0.5, 1], [1.5, 2]])
    with pytest.raises(InputError, match="same number"):
        point_pairs(fixed, moving, (ours, Points([[1, 2]])))
    with pytest.raises(InputError, match="layer of its own"):
        point_pairs(fixed, moving, (ours, ours))
