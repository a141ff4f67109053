"""Panels beside each other, and what is done to the viewer in the middle of real jobs (K14)."""

import numpy as np
import pytest

from napari_cosparse.core.operators import learn_operators
from napari_cosparse.core.reconstruction import degrade, upsample
from napari_cosparse.io import load_operators, make_scene
from napari_cosparse.layers import pairs_in

PLUGIN = "napari-cosparse"
FEW = {"side": 3, "samples": 800, "iterations": 40}
CENTRE = {"scale": (4, 4), "translate": (1.5, 1.5)}


def add_scene(viewer, scene):
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.depth, name="depth")
    viewer.add_image(scene.coarse, name="low", **CENTRE)


def choose(panel, learn_panel):
    """Choose the scene in both panels, with a short learning."""
    named = {layer.name: layer for layer in panel.form.target.choices}
    panel.form.target.value, panel.form.guide.value = named["low"], named["guide"]
    learn_panel.form.pairs.value = [(named["guide"], named["depth"])]
    for name, value in FEW.items():
        getattr(learn_panel.form, name).value = value


def expected(scene):
    return upsample(scene.coarse, scene.guide, load_operators("intensity-depth")).image


def test_two_panels_run_at_once(panel, learn_panel, viewer, scene, qtbot, notifications):
    """Each gives what it gives alone; the layers of one do not disturb the other."""
    add_scene(viewer, scene)
    choose(panel, learn_panel)
    panel.button.click()
    learn_panel.button.click()
    assert panel.runner.running
    assert learn_panel.runner.running
    both = (panel.runner, learn_panel.runner)
    qtbot.waitUntil(lambda: not any(runner.running for runner in both), timeout=60_000)
    (made,) = [layer for layer in viewer.layers if layer.name == "low [upsampled]"]
    np.testing.assert_array_equal(made.data, expected(scene))
    learned = learn_operators([(scene.guide, scene.depth)], **FEW).pair.groups[0]
    found = pairs_in(viewer.layers)["learned"].groups[0]
    np.testing.assert_array_equal(found.coefficients_u, learned.coefficients_u)
    assert [layer.name for layer in (panel.form.target.value, panel.form.guide.value)] == [
        "low",
        "guide",
    ]
    assert not [note for note in notifications if note.severity == "error"]


def test_cancel_of_one_panel_leaves_the_other(panel, learn_panel, viewer, scene, qtbot):
    add_scene(viewer, scene)
    choose(panel, learn_panel)
    learn_panel.form.iterations.value = 100_000
    learn_panel.button.click()
    panel.button.click()
    learn_panel.button.click()
    qtbot.waitUntil(lambda: not learn_panel.runner.running, timeout=30_000)
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=60_000)
    assert learn_panel.message.text() == "Cancelled."
    np.testing.assert_array_equal(viewer.layers[-1].data, expected(scene))


def test_two_panels_of_one_kind(viewer, panel):
    """napari opens one; the handle is the same panel."""
    again = viewer.window.add_plugin_dock_widget(PLUGIN, "Upsample with a guide")[1]
    assert again is panel


@pytest.mark.parametrize("change", ["data", "scale", "remove"])
def test_target_that_is_changed_during_the_run(panel, viewer, scene, qtbot, change, notifications):
    """The result is that of what was chosen when Run was pressed."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.coarse, name="low", **CENTRE)
    low = panel.form.target.value
    panel.button.click()
    qtbot.waitUntil(lambda: panel.last is not None, timeout=30_000)
    if change == "data":
        low.data = np.zeros((3, 5), np.float32)
    elif change == "scale":
        low.scale = (7, 3)
    else:
        viewer.layers.remove("low")
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=60_000)
    np.testing.assert_array_equal(viewer.layers[-1].data, expected(scene))
    assert not [note for note in notifications if note.severity == "error"]


def test_pair_that_is_changed_during_learning(learn_panel, viewer, scene, qtbot, notifications):
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.depth, name="depth")
    learn_panel.form.pairs.value = [tuple(viewer.layers)]
    for name, value in FEW.items():
        getattr(learn_panel.form, name).value = value
    learn_panel.button.click()
    qtbot.waitUntil(lambda: learn_panel.last is not None, timeout=30_000)
    viewer.layers["depth"].data = np.zeros((3, 5), np.float32)
    viewer.layers.remove("guide")
    qtbot.waitUntil(lambda: not learn_panel.runner.running, timeout=60_000)
    learned = learn_operators([(scene.guide, scene.depth)], **FEW).pair.groups[0]
    found = pairs_in(viewer.layers)["learned"].groups[0]
    np.testing.assert_array_equal(found.coefficients_v, learned.coefficients_v)
    assert not [note for note in notifications if note.severity == "error"]


def long_upsampling(viewer):
    scene = make_scene()
    panel = viewer.window.add_plugin_dock_widget(PLUGIN, "Upsample with a guide")[1]
    viewer.add_image(scene.guide, rgb=True)
    viewer.add_image(degrade(scene.depth, 4), **CENTRE)
    return panel


def long_learning(viewer):
    scene = make_scene()
    panel = viewer.window.add_plugin_dock_widget(PLUGIN, "Learn operators")[1]
    viewer.add_image(scene.guide, rgb=True)
    viewer.add_image(scene.depth)
    panel.form.pairs.value = [tuple(viewer.layers)]
    panel.form.iterations.value = 100_000
    return panel


@pytest.mark.parametrize("begin", [long_upsampling, long_learning])
def test_viewer_that_is_closed_in_the_middle(make_napari_viewer, qtbot, begin):
    viewer = make_napari_viewer()
    panel = begin(viewer)
    panel.button.click()
    qtbot.waitUntil(lambda: panel.last is not None and panel.last.total > 0, timeout=30_000)
    worker = panel.runner._worker
    viewer.close()
    qtbot.waitUntil(lambda: not worker.is_running, timeout=15_000)


def test_store_run_that_is_closed_in_the_middle_goes_on_later(viewer, qtbot, tmp_path):
    """What was computed stays, and the next run continues it."""
    panel = long_upsampling(viewer)
    panel.form.output.value, panel.form.noise.value = "store", "0"
    panel.form.store.value = str(tmp_path / "out.zarr")
    panel.button.click()
    qtbot.waitUntil(
        lambda: panel.last is not None and "solving" in panel.last.stage, timeout=60_000
    )
    viewer.window.remove_dock_widget(panel)
    assert (tmp_path / "out.zarr.partial").is_dir()
    assert not (tmp_path / "out.zarr").exists()
    again = viewer.window.add_plugin_dock_widget(PLUGIN, "Upsample with a guide")[1]
    again.form.output.value, again.form.noise.value = "store", "0"
    again.form.store.value = str(tmp_path / "out.zarr")
    assert "An interrupted run lies beside the store" in again.about.text()
    again.button.click()
    qtbot.waitUntil(lambda: not again.runner.running, timeout=120_000)
    assert again.message.text().startswith("Done")
    assert not (tmp_path / "out.zarr.partial").exists()
