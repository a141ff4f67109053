"""How the layers lie tells the registration panel where to start and what is rigid."""

import numpy as np
import pytest

from napari_cosparse.widgets._register_text import flaws
from support.register_case import MATRIX, lies_on_fixed


def test_shear_between_the_layers_is_told(filled, viewer):
    assert "sheared" not in filled.about.text()
    viewer.layers["depth"].shear = [0.2]
    assert "sheared against one another, and stay so" in filled.about.text()
    filled.form.group.value = "A"
    assert "sheared" not in filled.about.text()
    filled.form.group.value = "SE"
    viewer.layers["photo"].rotate, viewer.layers["photo"].shear = 20, [0.2]
    assert "sheared" not in filled.about.text()


@pytest.mark.parametrize("trusted", [True, False])
def test_shear_is_told_of_any_result(filled, fake, viewer, press, trusted):
    """It may be why nothing fits, or not exactly: rigid motions are those of what is displayed."""
    viewer.layers["depth"].shear = [0.2]
    fake.trusted = trusted
    press(filled)
    assert "sheared against one another" in filled.message.text()


@pytest.mark.parametrize("flip", [1, -1])
@pytest.mark.parametrize("layer", ["photo", "depth"])
def test_core_is_told_what_is_rigid_in_the_world(filled, fake, viewer, press, layer, flip):
    """Between any two layers: the start, turned in the world, is a rotation of what it is told."""
    viewer.layers[layer].shear = [0.3]
    viewer.layers[layer].scale = viewer.layers[layer].scale * (flip, 1)
    viewer.layers[layer].affine = [[1.5, 0.2, 3], [0, 0.8, 0], [0, 0, 1]]
    press(filled)
    told = fake.calls[0][3]
    fixed, moving = (
        size if np.ndim(size) == 2 else np.diag(size)
        for size in (told["pixel_size_fixed"], told["pixel_size_moving"])
    )
    assert np.ndim(told[f"pixel_size_{'fixed' if layer == 'photo' else 'moving'}"]) == 2
    turn = moving @ told["initial"][:2, :2] @ np.linalg.inv(fixed)
    np.testing.assert_allclose(turn @ turn.T, np.eye(2), atol=1e-9)
    assert np.linalg.det(turn) > 0


@pytest.mark.parametrize("which", ["moving", "fixed"])
def test_display_that_mirrors_is_told_before_and_after(filled, fake, viewer, press, which):
    layer = viewer.layers["depth" if which == "moving" else "photo"]
    layer.scale = layer.scale * (-1, 1)
    told = f"An axis of the {which} layer runs backwards (negative scale), and stays so"
    assert told in filled.about.text()
    assert "Allow a mirror image" in filled.about.text()
    press(filled)
    assert "runs backwards" not in filled.message.text()
    assert "counted backwards, as the layers are displayed" in filled.message.text()
    assert "mirror" not in filled.message.text()  # only the axes of the pixels are
    fake.trusted = False
    press(filled)
    assert told in filled.message.text()
    [words] = flaws(filled.pair(), "SE", reflected=True)  # the verdict says what helps
    assert words == (
        f"An axis of the {which} layer runs backwards (negative scale), which may be why: undo "
        "that first."
    )


def test_start_follows_a_layer_that_is_dragged(filled, fake, viewer, press):
    filled.form.start.value = "place"
    viewer.layers["depth"].translate = (5e3, 2e3)
    press(filled)
    keywords = fake.calls[0][3]
    assert keywords["search"] is False
    there = keywords["initial"] @ [20, 10, 1]
    here = np.array(viewer.layers["depth"].data_to_world(there[:2])) / 1000
    np.testing.assert_allclose(here, viewer.layers["photo"].data_to_world((20, 10)))


def test_places_that_cannot_be_a_start_are_told(filled, viewer):
    filled.form.start.value = "place"
    viewer.layers["depth"].translate = (1e9, 0)
    assert "do not overlap" in filled.about.text()
    assert not filled.button.isEnabled()
    filled.form.start.value = "search"
    assert filled.button.isEnabled()


def test_mirrored_layer_stays_mirrored(filled, fake, viewer, press):
    """G13: the core sees an image that is not mirrored; the result is right in the viewer."""
    depth = viewer.layers["depth"]
    depth.scale = (250, -250)
    assert "runs backwards" in filled.about.text()
    press(filled)
    np.testing.assert_array_equal(fake.calls[0][1], depth.data[:, ::-1])
    flip = np.array([[1, 0, 0], [0, -1, 95], [0, 0, 1.0]])
    lies_on_fixed(viewer.layers[-1], viewer.layers["photo"], flip @ MATRIX)


def test_pair_is_handed_over_by_the_upsampling_panel(fake, panel, viewer, scene):
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.coarse, name="low", scale=(4, 4), translate=(1.5, 1.5))
    panel.register_button.click()
    panel.register_button.click()  # it is not opened twice
    viewer.add_image(np.zeros((4, 4)), name="later")
    docked = viewer.window.dock_widgets["Register two modalities (napari-cosparse)"]
    assert len(viewer.window.dock_widgets) == 2
    chosen = docked.form.fixed.value.name, docked.form.moving.value.name
    assert chosen == ("guide", "low")
