"""What the registration panel offers, runs and shows; a fake registration is told its answer."""

import dataclasses

import dask.array as da
import numpy as np
import pytest

from napari_cosparse.core.registration import RegisterSettings
from napari_cosparse.layers import METADATA_KEY
from support.register_case import MATRIX, by_name, lies_on_fixed

NOT_OFFERED = {
    *("initial", "points", "search", "invalid", "region"),
    *("pixel_size_fixed", "pixel_size_moving"),
}


OWN = {
    *("fixed", "moving", "fixed_level", "moving_level", "start", "points_fixed", "points_moving"),
    *("invalid_fixed", "invalid_moving", "resample", "insist", "operator_file"),
}


def test_panel_offers_the_knobs_of_the_core_and_explains_each(register_panel):
    offered = {row.name for row in register_panel.form.rows}
    knobs = {field.name for field in dataclasses.fields(RegisterSettings)} | {"operators"}
    assert offered - OWN == knobs - NOT_OFFERED
    assert all(row.tooltip for row in register_panel.form.rows)
    assert all(button.toolTip() for button in register_panel.tools.buttons.values())


def test_untouched_settings_are_the_defaults_of_the_core(register_panel):
    defaults = RegisterSettings()
    for name, value in register_panel.form.keywords().items():
        assert value == getattr(defaults, name), name


def test_without_layers_it_says_what_it_needs(fake, register_panel, viewer):
    """M07."""
    assert "Choose two image layers" in register_panel.about.text()
    viewer.add_image(np.zeros((8, 8)))
    assert "Only one image is open, 'Image': open the other one" in register_panel.about.text()
    assert "Only one image" in register_panel.button.toolTip()
    assert not register_panel.button.isEnabled()
    assert not any(b.isEnabled() for b in register_panel.tools.buttons.values())


@pytest.mark.parametrize("role", ["fixed", "moving"])
def test_after_a_layer_is_deleted_another_one_is_chosen_and_not_the_same_twice(
    filled, fake, viewer, role
):
    """The first of the list, which Qt would take, is the fixed one here."""
    viewer.add_image(np.eye(70, 90), name="third")
    filled.choose(viewer.layers["photo"], viewer.layers["depth"])
    gone, stays = ("photo", "depth") if role == "fixed" else ("depth", "photo")
    viewer.layers.remove(gone)
    rows = filled.form.row(role), filled.form.row("moving" if role == "fixed" else "fixed")
    assert [row.value.name for row in rows] == ["third", stays]
    assert filled.button.isEnabled(), filled.about.text()
    viewer.layers.remove("third")
    assert f"Only one image is open, {stays!r}" in filled.about.text()
    assert not filled.button.isEnabled()
    viewer.add_image(np.eye(70, 90), name="fourth")
    assert {row.value.name for row in rows} == {stays, "fourth"}


def test_a_layer_that_is_still_there_keeps_its_role_after_all_others_were_replaced(
    filled, fake, viewer
):
    filled.keep_choice()
    viewer.layers.remove("depth")
    viewer.layers.remove("photo")
    for name in ("x", "y", "z"):
        viewer.add_image(np.eye(70, 90), name=name)
    filled.choose(viewer.layers["x"], viewer.layers["y"])
    filled.keep_choice()
    viewer.layers.remove("x")
    assert filled.form.fixed.value.name == "z"
    assert filled.form.moving.value.name == "y"


def test_new_layer_shares_the_data_and_lies_on_the_fixed_one(filled, fake, viewer, press):
    """G02, G17, G18: whatever both layers' transforms and units are."""
    photo, depth = viewer.layers
    before = depth.data_to_world((3, 4))
    press(filled)
    new = viewer.layers[-1]
    assert new.name == "depth [registered]"
    assert np.shares_memory(new.data, depth.data)
    lies_on_fixed(new, photo)
    assert depth.data_to_world((3, 4)) == before
    assert new.units == photo.units
    assert new.colormap.name == "magma"
    record = new.metadata[METADATA_KEY]
    assert record["trusted"] is True
    assert record["inputs"]["fixed"]["name"] == "photo"
    np.testing.assert_allclose(record["matrix"], MATRIX)
    text = filled.message.text()
    assert text.startswith(
        "Trusted: all starts agree (83% of the fixed image covered, next best place 30% worse, "
        "100% of the starts end here, error about 0.15 px, cost -0.1 to -0.4). "
        "In pixels: rotation"
    )
    assert filled.plot.heading == "Cost at the finest level   -0.1 ... -0.4"
    assert filled.plot.lines[""] == [-0.1, -0.2, -0.35, -0.4]
    keywords = fake.calls[0][3]
    assert keywords["pixel_size_fixed"] == pytest.approx((0.5, 0.5))
    assert keywords["pixel_size_moving"] == pytest.approx((0.25, 0.25))
    there = keywords["initial"] @ [8, 9, 1]
    np.testing.assert_allclose(
        np.array(depth.data_to_world(there[:2])) / 1000, photo.data_to_world((8, 9))
    )


@pytest.mark.parametrize("channels", [3, 4])
def test_colour_is_told_and_opacity_is_left_out(register_panel, viewer, scene, press, channels):
    """M04: with the real core; what lies in the fourth channel does not matter."""
    depth = scene.depth.astype(np.uint8)
    found = []
    for opacity in (255, 17):
        colours = np.dstack([scene.guide, np.full(scene.guide.shape[:2], opacity, np.uint8)])
        viewer.add_image(colours[..., :channels], name="photo", rgb=True)
        viewer.add_image(depth[3:, 2:], name="depth")
        register_panel.choose(by_name(viewer, "photo"), by_name(viewer, "depth"))
        assert "Of the fixed layer the luminance counts." in register_panel.about.text()
        register_panel.form.verdict.value = False
        press(register_panel)
        found.append(register_panel.tools.found.matrix)
        viewer.layers.clear()
    np.testing.assert_array_equal(*found)


def test_next_run_after_a_failed_one_is_as_in_a_fresh_session(filled, fake, viewer, press):
    """R08."""
    fake.trusted = False
    press(filled)
    fake.trusted = True
    press(filled)
    lies_on_fixed(viewer.layers[-1], viewer.layers[0])
    np.testing.assert_array_equal(fake.calls[0][3]["initial"], fake.calls[1][3]["initial"])


def test_levels_stacks_and_colours(fake, register_panel, viewer, press):
    """M06, G12: a coarse level is read, the plane that is shown counts, all planes and levels move.

    Pixels of the coarse level lie in the middle of their blocks.
    """
    fine = da.zeros((3, 4096, 4096), chunks=512)
    coarse = da.zeros((3, 1024, 1024), chunks=512)
    viewer.add_image([fine, coarse], name="stack", contrast_limits=(0, 1), scale=(1, 0.1, 0.1))
    viewer.add_image(np.eye(40, 50), name="small", scale=(9, 9))
    register_panel.choose(by_name(viewer, "stack"), by_name(viewer, "small"))
    viewer.dims.set_current_step(0, 2)
    assert "plane 2 is registered" in register_panel.about.text()
    assert register_panel.form.levels == (0, 0)
    register_panel.form.fixed_level.value = 1
    press(register_panel)
    assert fake.calls[0][0].shape == (1024, 1024)
    new, stack = viewer.layers[-1], viewer.layers["stack"]
    for pixel in ((0, 0), (512, 100)):  # of the coarse level
        there = MATRIX @ [*pixel, 1]
        where = stack.data_to_world((0, *(4 * np.array(pixel) + 1.5)))[1:]
        np.testing.assert_allclose(new.data_to_world(there[:2]), where, atol=1e-9)


def test_resampled_layer_has_the_fixed_layers_pixels(filled, fake, viewer, press):
    fake.matrix = np.array([[1, 0, 5], [0, 1, 7], [0, 0, 1.0]])
    filled.form.resample.value = True
    press(filled)
    photo, depth = viewer.layers["photo"], viewer.layers["depth"]
    resampled = by_name(viewer, "depth [resampled]")
    np.testing.assert_allclose(resampled.data_to_world((9, 8)), photo.data_to_world((9, 8)))
    np.testing.assert_array_equal(np.asarray(resampled.data)[:40, :80], depth.data[5:45, 7:87])
    assert resampled.colormap.name == "magma"
    assert resampled.units == photo.units


def test_large_result_is_a_pyramid_that_is_computed_when_it_is_looked_at(
    fake, register_panel, viewer, press
):
    """K10: nothing of 60000 x 60000 pixels is computed by adding the layer."""
    shape = (60_000, 60_000)
    levels = [da.zeros(tuple(n // step for n in shape), chunks=1000) for step in (1, 8, 60)]
    viewer.add_image(levels, name="slide", contrast_limits=(0, 1))
    viewer.add_image(np.arange(99 * 98.0).reshape(99, 98), name="map", scale=(600, 600))
    register_panel.choose(by_name(viewer, "slide"), by_name(viewer, "map"))
    register_panel.form.resample.value = True
    assert register_panel.form.levels == (1, 0)  # finer ones would be summed for minutes
    register_panel.form.fixed_level.value = 2
    fake.matrix = np.diag([1 / 10, 1 / 10, 1])  # of the level of 1000 pixels
    press(register_panel)
    made = by_name(viewer, "map [resampled]")
    assert made.multiscale
    assert made.data[0].shape == shape
    assert max(made.data[-1].shape) <= 2048
    there = np.asarray(made.data[-1][500, 600])
    pixel = (np.array([500.5, 600.5]) * shape[0] / made.data[-1].shape[0] - 0.5) / 600
    assert there == pytest.approx(98 * pixel[0] + pixel[1], rel=0.01)
    np.testing.assert_allclose(
        made.data_to_world((60, 600)), viewer.layers["slide"].data_to_world((60, 600))
    )


def test_layer_that_was_deleted_can_be_made_again(filled, viewer, press):
    press(filled)
    buttons = filled.tools.buttons
    assert buttons["Move anyway"].isHidden()
    viewer.layers.remove("depth [registered]")
    assert not buttons["Flicker"].isEnabled()
    assert buttons["Move anyway"].text() == "Move again"  # it is trusted
    buttons["Move anyway"].click()
    lies_on_fixed(by_name(viewer, "depth [registered]"), viewer.layers["photo"])
    assert buttons["Move anyway"].isHidden()
    assert filled.message.text().startswith("Trusted: ")
    viewer.layers.remove("depth [registered]")
    filled.message.setText("the moving layer is gone")  # as an earlier click said
    buttons["Move anyway"].click()
    assert filled.message.text() == "Moved: depth [registered]."
    viewer.layers.remove("depth [registered]")
    buttons["Reset"].click()
    assert filled.message.text() == "Reset: 0 layers removed, the transform is forgotten."


def test_result_is_visible_where_the_moving_layer_is_hidden(filled, viewer, press, tmp_path):
    viewer.layers["depth"].visible = False
    press(filled)
    assert viewer.layers[-1].visible
    filled.tools.save(str(tmp_path / "t.json"))
    filled.tools.load(str(tmp_path / "t.json"))
    made = viewer.layers[-1]
    made.visible = False
    filled.tools.load(str(tmp_path / "t.json"))
    assert viewer.layers[-1] == made
    assert made.visible
    assert not viewer.layers["depth"].visible


def test_registered_layer_does_not_stand_in_for_one_that_is_deleted(fake, filled, viewer, press):
    """It lies on the fixed one already; by hand it may be chosen all the same."""
    press(filled)
    form, photo = filled.form, filled.form.fixed.value
    viewer.layers.remove(viewer.layers["depth"])
    assert [layer.name for layer in viewer.layers] == ["photo", "depth [registered]"]
    assert form.fixed.value is photo
    assert form.moving.value is photo
    assert not filled.button.isEnabled()
    other = viewer.add_image(np.eye(70), name="other")
    assert form.moving.value == other
    form.moving.value = viewer.layers["depth [registered]"]
    assert form.moving.value.name == "depth [registered]"
