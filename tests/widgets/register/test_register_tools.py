"""What can be done with a transform in the registration panel."""

import numpy as np
import pytest

from napari_cosparse.core.errors import InputError
from support.register_case import by_name


def test_one_click_moves_other_layers(filled, viewer, press):
    """G20, K15."""
    press(filled)
    depth = by_name(viewer, "depth")
    common = {"scale": depth.scale, "translate": depth.translate, "rotate": 20, "units": "nm"}
    viewer.add_labels(np.eye(50, 96, dtype=int) * 5, name="cells", **common)
    viewer.add_points([[3, 4], [10, 2]], name="spots", **common)
    viewer.add_shapes([[0, 0], [0, 9], [9, 9]], shape_type="polygon", name="roi", **common)
    names = ["cells", "spots", "roi"]
    viewer.layers.selection = {by_name(viewer, name) for name in names}
    filled.form.resample.value = True
    filled.tools.buttons["Apply to selected"].click()
    assert filled.message.text().startswith("Moved: ")
    assert all(name in filled.message.text() for name in names)
    registered = by_name(viewer, "depth [registered]")
    for name in names:
        new = by_name(viewer, f"{name} [registered]")
        np.testing.assert_allclose(
            new.data_to_world((7, 9)), registered.data_to_world((7, 9)), atol=1e-9
        )
    resampled = by_name(viewer, "cells [resampled]")
    assert set(np.unique(np.asarray(resampled.data))) <= {0, 5}
    assert resampled.data.shape == (64, 96)


def test_nothing_selected_and_many_selected(filled, viewer, press):
    press(filled)
    viewer.layers.selection = set()
    filled.tools.buttons["Apply to selected"].click()
    assert filled.message.text().startswith("Select the layers to move in the layer list")
    points = {viewer.add_points([[n, n]], name=f"p{n}") for n in range(5)}
    viewer.layers.selection = points
    filled.tools.buttons["Apply to selected"].click()
    assert filled.message.text() == "Moved: 5 layers."
    filled.tools.found.record["trusted"] = False
    viewer.layers.selection = points
    filled.tools.buttons["Apply to selected"].click()
    assert filled.message.text() == "Moved: 5 layers. The transform is not trusted."


@pytest.mark.parametrize(("role", "name"), [("fixed", "photo"), ("moving", "depth")])
def test_inverse_of_layers_that_are_gone_is_told(filled, viewer, press, notifications, role, name):
    press(filled)
    viewer.layers.remove(name)
    before = list(viewer.layers)
    filled.tools.buttons["Invert"].click()
    assert filled.message.text().startswith(f"the {role} layer '{name}' of this transform is gone")
    assert len(notifications) == 1
    assert list(viewer.layers) == before


def test_comparison_by_eye(filled, viewer, press, qtbot):
    press(filled)
    filled.tools.buttons["Checkerboard"].click()
    board = viewer.layers[-1]
    photo = viewer.layers["photo"]
    assert board.data.shape == (64, 96)
    np.testing.assert_allclose(board.data_to_world((9, 8)), photo.data_to_world((9, 8)))
    assert board.data.min() >= 0
    assert board.data.max() <= 1
    registered = by_name(viewer, "depth [registered]")
    filled.tools.buttons["Flicker"].click()
    qtbot.waitUntil(lambda: not registered.visible, timeout=3000)
    filled.tools.buttons["Flicker"].click()
    assert registered.visible


def test_closed_panel_leaves_the_flickering_layer_visible(filled, viewer, press, qtbot):
    press(filled)
    filled.tools.buttons["Flicker"].click()
    moved = by_name(viewer, "depth [registered]")
    qtbot.waitUntil(lambda: not moved.visible, timeout=3000)
    viewer.window.remove_dock_widget(filled)
    assert moved.visible


def test_tools_without_a_transform_say_so(filled):
    with pytest.raises(InputError, match="no transform yet"):
        filled.tools.save("x.json")


def test_copies_come_in_the_order_of_the_layer_list(filled, viewer, press):
    press(filled)
    names = [f"p{n}" for n in range(12)]
    for name in names:
        viewer.add_points([[1, 1]], name=name)
    viewer.layers.selection = {by_name(viewer, name) for name in reversed(names)}
    filled.tools.buttons["Apply to selected"].click()
    assert [layer.name for layer in viewer.layers][-12:] == [
        f"{name} [registered]" for name in names
    ]
