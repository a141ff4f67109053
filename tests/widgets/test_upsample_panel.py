"""The panel in a real viewer: layers in, layer out (G18, D18, D19, K14, M04-M07)."""

import json
from inspect import signature
from typing import get_args, get_type_hints

import dask.array as da
import numpy as np
import pytest
from napari.utils.notifications import ErrorNotification

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import Settings, degrade, upsample
from napari_cosparse.io import load_operators, make_scene, read_image
from napari_cosparse.layers import METADATA_KEY
from napari_cosparse.tiles import open_levels
from napari_cosparse.widgets import _job, _preview_job
from napari_cosparse.widgets._panel import CANCEL_TIP
from napari_cosparse.widgets._samples import scene_layers

PANEL = ("napari-cosparse", "Upsample with a guide")
NOT_OFFERED = {"weights", "solver", "start", "seed", "report", "map_"}
OWN = {"output", "store", "overwrite", "positions", "operator_file", "target_level", "guide_level"}
CENTRE = {"scale": (4, 4), "translate": (1.5, 1.5)}


def add_pair(viewer, scene, **guide_settings):
    """Add the scene's coarse depth and guide as they lie on one another."""
    viewer.add_image(scene.guide, name="guide", rgb=True, **guide_settings)
    viewer.add_image(scene.coarse, name="depth", colormap="viridis", **CENTRE)


def expected(scene, **arguments):
    return upsample(scene.coarse, scene.guide, load_operators("intensity-depth"), **arguments).image


def test_panel_offers_the_knobs_of_the_core_and_explains_each(panel):
    offered = {row.name for row in panel.form.rows}
    assert offered - OWN == set(signature(upsample).parameters) - NOT_OFFERED
    assert all(row.tooltip for row in panel.form.rows)


def test_panel_offers_every_choice_of_the_core(panel):
    kinds = get_type_hints(Settings)
    for name in ("phase", "blur", "dtype"):
        assert set(getattr(panel.form, name).choices) == set(get_args(kinds[name]))


def test_without_layers_the_panel_says_what_it_needs(panel, viewer):
    assert not panel.button.isEnabled()
    assert "Choose two image layers" in panel.about.text()
    viewer.add_image(np.zeros((8, 8)))
    assert not panel.button.isEnabled()
    assert "Only one image is open, 'Image'" in panel.about.text()


def test_target_and_guide_are_suggested_and_a_choice_is_kept(panel, viewer, scene):
    add_pair(viewer, scene)
    assert (panel.form.target.value.name, panel.form.guide.value.name) == ("depth", "guide")
    other = viewer.add_image(scene.depth, name="other")
    panel.form.guide.value = panel.form.guide.choices[-1]
    viewer.add_image(np.zeros((4, 4)), name="smaller")
    assert (panel.form.target.value.name, panel.form.guide.value.name) == ("depth", other.name)


@pytest.fixture
def open_run(viewer, qtbot):
    """Open the panel now, press Run, wait for the end."""

    def press():
        panel = viewer.window.add_plugin_dock_widget(*PANEL)[1]
        assert panel.button.isEnabled()
        panel.button.click()
        qtbot.waitUntil(lambda: not panel.runner.running, timeout=60_000)
        return panel

    return press


def test_layers_that_are_open_before_the_panel_are_suggested(viewer, scene, open_run):
    """The usual order: the sample's three layers, then the panel, then Run."""
    for data, settings, _ in scene_layers(scene.guide, scene.depth, "depth"):
        viewer.add_image(data, **settings)
    panel = open_run()
    chosen = panel.form.target.value.name, panel.form.guide.value.name
    assert chosen == ("low-resolution depth", "guide")
    np.testing.assert_array_equal(viewer.layers[-1].data, expected(scene))
    assert "Warning" not in panel.message.text()


def test_choice_is_kept_when_the_panel_moves_to_another_dock(panel, viewer, scene):
    add_pair(viewer, scene)
    depth, guide = panel.form.target.value, panel.form.guide.value
    panel.form.target.value, panel.form.guide.value = guide, depth
    docks = panel.parent()
    panel.setParent(docks.parent())
    panel.setParent(docks)
    assert (panel.form.target.value, panel.form.guide.value) == (guide, depth)


def test_shifted_target_is_told(viewer, open_run):
    """D17: nine pixels off."""
    whole = make_scene((200, 280), 4)
    viewer.add_image(whole.guide[:, 9:], name="guide", rgb=True)
    viewer.add_image(degrade(whole.depth[:, :-9], 4), name="depth", **CENTRE)
    text = open_run().message.text()
    assert "edges do not coincide" in text
    assert "register the images first" in text
    told = viewer.layers[-1].metadata[METADATA_KEY]["alignment"]
    assert told["shift"][1] == pytest.approx(9, abs=1)


def test_result_is_what_python_gives_with_the_guides_place_and_the_targets_looks(
    panel, viewer, scene, run
):
    turn = [[0, -1, 3], [1, 0, 5], [0, 0, 1]]
    place = {"units": "um", "axis_labels": ("row", "column"), "affine": turn}
    viewer.add_image(scene.guide, name="guide", rgb=True, scale=(0.5, 0.5), **place)
    place |= {"scale": (2, 2), "translate": (0.75, 0.75)}
    viewer.add_image(scene.coarse, name="depth", colormap="magma", **place)
    assert "factor 4 x 4, first sample at guide pixel (1.5, 1.5)" in panel.about.text()
    run()
    guide, target, result = viewer.layers
    assert result.name == "depth [upsampled]"
    np.testing.assert_array_equal(result.data, expected(scene, factor=(4, 4), origin=(1.5, 1.5)))
    np.testing.assert_array_equal(result.data_to_world((7, 9)), guide.data_to_world((7, 9)))
    assert (result.units, result.axis_labels) == (guide.units, guide.axis_labels)
    assert result.colormap.name == target.colormap.name
    assert result.contrast_limits == target.contrast_limits
    assert panel.message.text().startswith("Done")
    assert "converged" not in panel.message.text()
    assert panel.button.text() == "Run"


def test_result_says_where_it_comes_from(panel, viewer, scene, run):
    add_pair(viewer, scene)
    run()
    told = viewer.layers[-1].metadata[METADATA_KEY]
    assert json.loads(json.dumps(told)) == told
    assert told["inputs"]["target"]["name"] == "depth"
    assert told["inputs"]["target"]["path"] is None
    assert told["parameters"]["blur"] == "box"
    assert {"napari-cosparse", "napari", "numpy", "python"} <= set(told["versions"])


@pytest.mark.parametrize("kind", ["dask", "multiscale", "leading axis", "float guide"])
def test_kinds_of_layers_give_the_same_pixels(panel, viewer, scene, run, kind):
    """K04: unequal chunks of target and guide among them."""
    target, guide = {
        "dask": (da.from_array(scene.coarse, 5), da.from_array(scene.guide, (20, 30, 3))),
        "multiscale": (scene.coarse, [scene.guide, scene.guide[::2, ::2]]),
        "leading axis": (scene.coarse[None], scene.guide),
        "float guide": (scene.coarse, scene.guide / np.float32(255)),
    }[kind]
    leading = target.ndim - 2
    place = {"scale": (1,) * leading + (4, 4), "translate": (0,) * leading + (1.5, 1.5)}
    viewer.add_image(guide, rgb=True, multiscale=kind == "multiscale")
    viewer.add_image(target, contrast_limits=(1, 9), **place)
    run()
    limit = 1e-3 * np.ptp(scene.coarse) if kind == "float guide" else 0
    result = viewer.layers[-1].data
    assert result.shape == scene.depth.shape
    assert np.abs(result - expected(scene)).max() <= limit


def test_guide_of_a_stack_with_one_plane_gives_such_a_result(panel, viewer, scene, run):
    gray = scene.guide.mean(-1)[None]
    viewer.add_image(gray, scale=(3, 1, 1), translate=(7, 0, 0), name="guide")
    viewer.add_image(scene.coarse, **CENTRE)
    panel.form.guide.value = panel.form.guide.choices[0]
    panel.form.target.value = panel.form.target.choices[1]
    run()
    result = viewer.layers[-1]
    assert result.data.shape == gray.shape
    np.testing.assert_array_equal(result.translate, (7, 0, 0))


@pytest.mark.parametrize("phase", ["centre", "corner"])
def test_half_pixels_are_read_from_translate(panel, viewer, scene, run, phase):
    """D18: the right translate is better than the one that is 1.5 pixels off."""
    errors = {}
    for name, shift in (("centre", 1.5), ("corner", 0)):
        viewer.layers.clear()
        viewer.add_image(scene.guide, rgb=True)
        viewer.add_image(
            degrade(scene.depth, 4, phase=phase), scale=(4, 4), translate=(shift, shift)
        )
        run()
        errors[name] = np.sqrt(np.mean((viewer.layers[-1].data - scene.depth) ** 2))
    assert min(errors, key=errors.get) == phase


def test_factor_that_is_not_integer_without_positions(panel, viewer, run):
    """D19: sizes alone say it."""
    rng = np.random.default_rng(0)
    guide = rng.random((97, 65)).cumsum(0).astype(np.float32)
    viewer.add_image(guide, name="guide")
    viewer.add_image(guide[::2, ::2][:48, :32], name="depth")
    assert "same field of view" in panel.about.text()
    assert panel.form.phase.enabled
    run()
    assert viewer.layers[-1].data.shape == (97, 65)


def test_positions_can_be_ignored(panel, viewer, scene):
    add_pair(viewer, scene, translate=(1e4, 1e4))
    assert not panel.button.isEnabled()
    assert "does not lie on the guide" in panel.about.text()
    panel.form.positions.value = False
    assert panel.button.isEnabled()


def test_pixels_beside_micrometres_are_taken_as_napari_draws_them(panel, viewer, scene):
    add_pair(viewer, scene, units="um")
    assert "'depth' has no unit: its numbers are taken as micrometers" in panel.about.text()
    assert "factor 4 x 4" in panel.about.text()
    viewer.layers["depth"].scale, viewer.layers["depth"].translate = (1, 1), (0, 0)
    assert "taken to show the same field of view" in panel.about.text()
    assert panel.button.isEnabled()


def test_text_follows_the_layers(panel, viewer, scene):
    add_pair(viewer, scene)
    viewer.layers["depth"].translate = (0, 0)
    assert "guide pixel (0, 0)" in panel.about.text()
    viewer.layers["depth"].rotate = 20
    assert "turned by 20 degrees" in panel.about.text()
    assert panel.button.isEnabled()


def test_axes_that_are_named_differently_enable_run_at_once(panel, viewer):
    viewer.add_image(np.zeros((3, 16, 24)), name="low", scale=(1, 4, 4))
    viewer.add_image(np.zeros((2, 64, 96)), name="guide")
    assert "name their axes differently" in panel.about.text()
    assert not panel.button.isEnabled()
    viewer.layers["low"].axis_labels = ("time", "y", "x")
    assert "6 planes" in panel.about.text()
    assert panel.button.isEnabled()


def test_target_that_covers_a_part_is_told(panel, viewer, scene):
    viewer.add_image(scene.guide, rgb=True)
    viewer.add_image(scene.coarse[:8], name="depth", **CENTRE)
    assert "covers 50% of the guide" in panel.about.text()


def test_colour_target_is_upsampled_as_luminance_and_says_so(panel, viewer, scene, run):
    viewer.add_image(scene.guide, rgb=True, name="guide")
    viewer.add_image(scene.guide[::2, ::2], rgb=True, scale=(2, 2), name="thermal")
    panel.form.target.value = panel.form.target.choices[1]
    panel.form.guide.value = panel.form.guide.choices[0]
    assert "luminance" in panel.about.text()
    run()
    assert viewer.layers[-1].data.shape == scene.depth.shape


@pytest.mark.parametrize("dtype", ["int16", "uint16", "bool", "float64"])
def test_numeric_targets_and_results_of_their_type(panel, viewer, scene, run, dtype):
    """M05."""
    viewer.add_image(scene.guide, rgb=True)
    level = np.median(scene.coarse)
    numbers = scene.coarse > level if dtype == "bool" else (scene.coarse * 100).astype(dtype)
    viewer.add_image(numbers, **CENTRE)
    panel.form.dtype.value = "input"
    run()
    assert viewer.layers[-1].data.dtype == dtype


def test_stack_is_upsampled_plane_by_plane(panel, viewer, scene, run):
    """M06, K15: a time series with one guide; the result keeps the time axis."""
    viewer.add_image(scene.guide, rgb=True, name="guide")
    stack = np.stack([scene.coarse, scene.coarse[::-1]])
    time = {"axis_labels": ("t", "y", "x"), "scale": (10, 4, 4), "translate": (0, 1.5, 1.5)}
    viewer.add_image(stack, name="series", **time)
    assert "2 planes" in panel.about.text()
    stages = []
    panel.runner.stepped.connect(lambda progress: stages.append(progress.stage))
    run()
    assert stages[1].startswith("plane 0 (1 of 2), ")  # as the slider counts
    assert any(stage.startswith("plane 1 (2 of 2), ") for stage in stages)
    result = viewer.layers[-1]
    np.testing.assert_array_equal(result.data[0], expected(scene, factor=4, origin=(1.5, 1.5)))
    assert result.data.shape == (2, 64, 96)
    np.testing.assert_array_equal(result.scale, (10, 1, 1))
    assert result.axis_labels[0] == "t"


@pytest.mark.parametrize(
    ("row", "text", "word"),
    [
        ("noise", "abc", "noise 'abc' must be one number"),
        ("noise", "-1", "noise -1"),
        ("factor", "4, x", "factor '4, x'"),
        ("origin", "500", "does not lie on the guide"),
        ("factor", "0.5", "finer than the guide"),
    ],
)
def test_wrong_setting_disables_run_with_its_reason(panel, viewer, scene, row, text, word):
    add_pair(viewer, scene)
    getattr(panel.form, row).value = text
    assert word in panel.about.text()
    assert word in panel.button.toolTip()
    assert not panel.button.isEnabled()
    assert not panel.preview_button.isEnabled()
    getattr(panel.form, row).value = ""
    assert panel.button.isEnabled()


def test_target_finer_than_the_guide_and_layers_apart_are_told(panel, viewer, scene):
    add_pair(viewer, scene)
    depth, guide = panel.form.target.value, panel.form.guide.value
    panel.form.target.value, panel.form.guide.value = guide, depth
    assert "finer than the guide" in panel.about.text()
    panel.form.target.value, panel.form.guide.value = depth, guide
    viewer.layers["depth"].translate = (1000, 0)
    assert "does not lie on the guide" in panel.about.text()
    assert not panel.button.isEnabled()


@pytest.mark.parametrize("name", ["out.zarr", "out.ome.zarr"])
def test_result_is_written_to_a_store_and_shown_from_there(
    panel, viewer, scene, run, tmp_path, name
):
    """A time series: the layer reads the store, and has the pixels of a run in memory."""
    viewer.add_image(scene.guide, name="guide", rgb=True, scale=(2, 2), units="um")
    place = {"scale": (5, 8, 8), "translate": (0, 3, 3), "axis_labels": ("t", "y", "x")}
    stack = np.stack([scene.coarse, scene.coarse[::-1]])
    viewer.add_image(stack, name="low", units=("s", "um", "um"), **place)
    panel.form.noise.value = "0"
    run()
    panel.form.output.value = "store"
    panel.form.store.value = str(tmp_path / name)
    run()
    memory, stored = viewer.layers[-2:]
    assert "Done: 2 blocks" in panel.message.text()
    levels = list(stored.data) if stored.multiscale else [stored.data]
    assert not isinstance(levels[0], np.ndarray)
    np.testing.assert_allclose(np.asarray(levels[0]), memory.data, rtol=1e-4)
    np.testing.assert_allclose(stored.data_to_world((1, 7, 8)), memory.data_to_world((1, 7, 8)))
    assert stored.units == memory.units
    assert stored.metadata[METADATA_KEY]["store"].endswith(name)
    assert not panel.button.isEnabled()  # the store exists now
    panel.form.store.value = str(tmp_path / f"again-{name}")
    exec(panel.python(), {})  # noqa: S102
    again = open_levels(tmp_path / f"again-{name}")
    np.testing.assert_array_equal(np.asarray(again[0]), np.asarray(levels[0]))


def test_factor_and_origin_of_the_layers_are_shown_and_can_be_changed(panel, viewer, scene, run):
    add_pair(viewer, scene)
    assert panel.form.factor.native.placeholderText() == "4, 4"
    assert panel.form.origin.native.placeholderText() == "1.5, 1.5"
    panel.form.origin.value = "0, 0"
    run()
    same = expected(scene, factor=4, origin=(0, 0))
    np.testing.assert_array_equal(viewer.layers[-1].data, same)


def test_preview_shows_a_part_and_gives_way_to_the_result(panel, viewer, scene, qtbot, run):
    add_pair(viewer, scene)
    panel.preview_button.click()
    assert panel.button.text() == "Cancel"
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=30_000)
    preview, guide = viewer.layers[-1], viewer.layers["guide"]
    assert preview.name == "depth [upsampled] preview"
    assert preview.data.shape == guide.data.shape[:2]
    assert "estimated: " in panel.form.noise.native.placeholderText()
    panel.preview_button.click()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=30_000)
    assert len(viewer.layers) == 3
    run()
    assert [layer.name for layer in viewer.layers] == ["guide", "depth", "depth [upsampled]"]


def test_preview_does_not_become_the_target(panel, viewer, scene, qtbot, run, monkeypatch):
    """It is smaller than the target; what follows is the whole image, not the preview again."""
    monkeypatch.setattr(_preview_job, "LONGEST", 8)
    add_pair(viewer, scene)
    panel.preview_button.click()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=30_000)
    assert viewer.layers[-1].data.size < scene.coarse.size
    assert panel.form.target.value.name == "depth"
    run()
    np.testing.assert_array_equal(viewer.layers[-1].data, expected(scene))
    viewer.layers.clear()
    add_pair(viewer, scene)  # the next pair is suggested again
    assert panel.form.target.value.name == "depth"
    assert panel.button.isEnabled()


def test_script_gives_the_same_layer(panel, viewer, scene, run):
    viewer.add_image([scene.guide, scene.guide[::2, ::2]], rgb=True, name="it's", scale=(2, 2))
    viewer.add_image(np.stack([scene.coarse] * 2), name="low", scale=(1, 8, 8), translate=(0, 3, 3))
    panel.form.noise.value = "0.01"
    panel.form.blur.value = "gaussian"
    run()
    exec(panel.python(), {})  # noqa: S102
    made, again = viewer.layers[-2:]
    np.testing.assert_array_equal(made.data, again.data)
    assert again.metadata[METADATA_KEY]["parameters"] == made.metadata[METADATA_KEY]["parameters"]
    np.testing.assert_array_equal(made.data_to_world((1, 5, 6)), again.data_to_world((1, 5, 6)))


def test_settings_to_and_from_a_file(panel, viewer, scene, tmp_path, notifications):
    add_pair(viewer, scene)
    changed = {"noise": "0.5", "blur": "none", "phase": "corner", "guided": False, "factor": "4"}
    for name, value in changed.items():
        getattr(panel.form, name).value = value
    told = panel.form.state()
    panel.save_settings(tmp_path / "settings.json")
    plain = {"noise": "", "blur": "box", "phase": "centre", "guided": True, "factor": ""}
    for name, value in plain.items():
        getattr(panel.form, name).value = value
    panel.load_settings(tmp_path / "settings.json")
    assert panel.form.state() == told
    assert not notifications
    viewer.layers.remove("depth")
    panel.load_settings(tmp_path / "settings.json")
    assert notifications[-1].message.endswith(": Target = 'depth'")


def test_foreign_settings_are_refused(panel, tmp_path):
    for number, text in enumerate(("{", "[]", '{"panel": "learn", "settings": {}}')):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        with pytest.raises(InputError, match=r"settings"):
            panel.load_settings(path)


def test_real_sensor_with_holes_opened_from_files(panel, viewer, run, data_dir):
    """Depth of a real camera in mm, 0 where it saw nothing, kept at every fourth pixel."""
    (guide,) = viewer.open(data_dir / "rgbd_holes/desk_color.png", plugin="napari")
    depth = read_image(data_dir / "rgbd_holes/desk_depth.pgm")[::4, ::4]
    viewer.add_image(depth, name="depth", scale=(4, 4))
    panel.form.invalid.value = "0"
    run()
    result = viewer.layers[-1]
    assert result.data.shape == guide.data.shape[:2]
    assert np.isfinite(result.data).all()
    seen = depth[depth > 0]
    slack = 0.02 * np.ptp(np.quantile(seen, (0.01, 0.99)))
    assert seen.min() - slack <= result.data.min()
    assert result.data.max() <= seen.max() + slack
    assert result.metadata[METADATA_KEY]["inputs"]["guide"]["path"].endswith("desk_color.png")


def test_run_without_the_guide_is_told(panel, viewer, scene, run):
    add_pair(viewer, scene)
    panel.form.guided.value = False
    run()
    assert "guide had no say" in panel.message.text()
    np.testing.assert_array_equal(viewer.layers[-1].data, expected(scene, guided=False))


def test_operator_file_that_is_broken_is_told(panel, viewer, scene, qtbot, tmp_path, notifications):
    add_pair(viewer, scene)
    broken = tmp_path / "pair.npz"
    broken.write_bytes(b"no zip")
    panel.form.operators.value = panel.form.operators.choices[-1]
    panel.form.operator_file.value = broken
    panel.button.click()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=10_000)
    assert "pair.npz" in notifications[0].message
    assert not isinstance(notifications[0], ErrorNotification)


def test_fault_of_ours_shows_its_traceback_and_leaves_the_panel_usable(
    panel, viewer, scene, run, notifications, monkeypatch
):
    def fail(source):
        raise RuntimeError("worker deleted?")  # the kind that a worker does not report

    add_pair(viewer, scene)
    monkeypatch.setattr(_job, "load_operators", fail)
    run()
    assert isinstance(notifications[0], ErrorNotification)
    monkeypatch.undo()
    run()
    assert viewer.layers[-1].name == "depth [upsampled]"


def test_rows_of_the_store_are_hidden_until_they_are_needed(panel, viewer, scene):
    """In an empty viewer too; a wish for a store shows where it goes."""
    store, replace = panel.form.store.native, panel.form.overwrite.native
    assert not store.isVisibleTo(panel)
    assert not replace.isVisibleTo(panel)
    panel.form.output.value = "store"
    assert store.isVisibleTo(panel)
    assert not replace.isVisibleTo(panel)


def test_text_stays_when_the_target_is_deleted_during_the_run(panel, viewer, scene, qtbot):
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.coarse, name="low", scale=(4, 4), translate=(1.5, 1.5))
    told = panel.about.text()
    panel.button.click()
    viewer.layers.remove("low")
    assert panel.runner.running
    assert panel.about.text() == told
    assert panel.button.toolTip() == f"<p>{CANCEL_TIP}</p>"
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=60_000)
    assert "same layer" in panel.about.text()  # the result does not take the target's place
