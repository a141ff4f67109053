"""What of a layer the viewer shows, without Qt."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from napari.components import Dims, ViewerModel
from napari.layers import Image

from napari_cosparse.layers import shown_plane, visible_part


@pytest.mark.parametrize(("slider", "plane"), [(0, 0), (13, 1), (999, 4), (-5, 0)])
def test_shown_plane_follows_the_slider_in_world_coordinates(slider, plane):
    stack = Image(np.zeros((5, 6, 7)), scale=(10, 1, 1), translate=(3, 0, 0))
    dims = Dims(ndim=4, range=((-10, 1000, 1),) * 4, point=(0, slider, 0, 0))
    assert shown_plane(stack, dims) == (plane,)
    assert shown_plane(Image(np.zeros((6, 7))), dims) == ()


@pytest.mark.parametrize("other", ["um", "nm", "mm", "pixel"])
@pytest.mark.parametrize("step", [0, 1, 2])
def test_shown_plane_is_that_which_napari_draws_whatever_the_units(other, step):
    viewer = ViewerModel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that napari compares pixels and millimetres as they are
        viewer.add_image(np.zeros((6, 7)), units=(other, other))
        stack = viewer.add_image(np.zeros((3, 6, 7)), scale=(2, 1, 1), units=("mm",) * 3)
    viewer.dims.set_current_step(0, step)  # one for each plane: no other layer has this axis
    assert shown_plane(stack, viewer.dims) == (step,)


def look(viewer, middle, zoom, size=(300, 400)):
    """Point the camera at a place of the viewer's world."""
    viewer.canvas.size = size
    viewer.scene.camera.center = (0, *middle)
    viewer.scene.camera.zoom = zoom


@given(
    place=st.tuples(st.floats(0, 90), st.floats(0, 90)),
    zoom=st.floats(0.5, 40),
    degrees=st.floats(-180, 180),
    other=st.sampled_from(["um", "nm", "mm"]),
)
def test_visible_part_is_around_the_pixel_that_the_camera_looks_at(place, zoom, degrees, other):
    """Whatever the transform and units; a turned layer's part holds all four corners."""
    viewer = ViewerModel()
    scale, per_um = (0.3, -0.4), 1000 if other == "nm" else 1
    layer = viewer.add_image(
        np.zeros((100, 100)), scale=scale, rotate=degrees, translate=(7, -3), units="um"
    )
    viewer.add_image(np.zeros((9, 9)), units=other)
    look(viewer, per_um * np.array(layer.data_to_world(place)), zoom / per_um)
    corners = visible_part(layer, viewer)
    np.testing.assert_allclose(corners.mean(0), place, atol=1e-6)
    half = np.array([150, 200]) / zoom  # um
    cos, sin = abs(np.cos(np.deg2rad(degrees))), abs(np.sin(np.deg2rad(degrees)))
    turned = np.array([[cos, sin], [sin, cos]]) @ half / np.abs(scale)
    np.testing.assert_allclose(np.ptp(corners, axis=0) / 2, turned, rtol=1e-6)


def test_visible_part_of_a_pyramid_is_in_the_pixels_of_the_level():
    viewer = ViewerModel()
    levels = [np.zeros((512 >> n, 512 >> n, 3)) for n in range(3)]
    layer = viewer.add_image(levels, rgb=True, multiscale=True, contrast_limits=(0, 1))
    look(viewer, (200, 80), 5)
    np.testing.assert_allclose(visible_part(layer, viewer), [[170, 40], [230, 120]])
    np.testing.assert_allclose(visible_part(layer, viewer, 2), [[42.5, 10], [57.5, 30]])


def test_visible_part_of_a_plane_of_a_stack_and_of_another_cut():
    """Where other axes are shown than those of the plane, there is no telling."""
    viewer = ViewerModel()
    stack = viewer.add_image(np.zeros((5, 60, 70)), scale=(3, 1, 1))
    plane = viewer.add_image(np.zeros((60, 70)))
    look(viewer, (20, 30), 10)
    seen = [[5, 10], [35, 50]]
    np.testing.assert_allclose(visible_part(stack, viewer), seen)
    np.testing.assert_allclose(visible_part(plane, viewer), seen)
    viewer.dims.order = (0, 2, 1)
    look(viewer, (30, 20), 10)
    np.testing.assert_allclose(visible_part(stack, viewer), [[0, 15], [40, 45]])
    whole = [[0, 0], [59, 69]]
    viewer.dims.order = (1, 0, 2)
    np.testing.assert_allclose(visible_part(stack, viewer), whole)
    viewer.dims.ndisplay = 3
    np.testing.assert_allclose(visible_part(stack, viewer), whole)


def test_of_what_is_out_of_view_the_whole_counts():
    """As where a layer in nanometres turns a view of micrometres into one of a corner."""
    viewer = ViewerModel()
    layer = viewer.add_image(np.zeros((60, 70)), units="um")
    whole = [[0, 0], [59, 69]]
    for place in ((-40, 20), (20, 120)):
        look(viewer, place, 10)
        np.testing.assert_allclose(visible_part(layer, viewer), whole)
    look(viewer, (-14, 20), 10)
    np.testing.assert_allclose(visible_part(layer, viewer), [[-29, 0], [1, 40]])


def test_visible_part_of_a_grid_is_that_of_one_box():
    viewer = ViewerModel()
    layers = [viewer.add_image(np.zeros((50, 50))) for _ in range(2)]
    viewer.canvas.grid.enabled = True
    look(viewer, (25, 25), 10)
    corners = visible_part(layers[0], viewer)
    np.testing.assert_allclose(corners.mean(0), (25, 25))
    assert np.ptp(corners, axis=0)[1] < 25
