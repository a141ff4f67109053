"""Whether a result goes to memory or to a store, and who decides."""

import json

import dask
import dask.array as da
import numpy as np
import pytest

from napari_cosparse.layers import METADATA_KEY
from napari_cosparse.tiles import estimate_bytes, open_levels
from napari_cosparse.widgets import _output, _store_check
from napari_cosparse.widgets._job import pair_up


@pytest.fixture
def home(monkeypatch, tmp_path):
    """Home of the user, where stores are proposed for layers that came from no file."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


@pytest.fixture
def little(monkeypatch):
    """Make small runs need more than the preferences allow."""
    monkeypatch.setattr(_output, "memory_needed", lambda _pair: 2**33)
    monkeypatch.setattr(_output, "free_memory", lambda: 2**34)


def add_scene(viewer, scene):
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.coarse, name="low", scale=(4, 4), translate=(1.5, 1.5))


def add_huge(viewer):
    """Add a pyramid of 40000 x 40000 pixels and a target for it (K06)."""
    levels = [da.zeros((n, n), chunks=1000) for n in (40_000, 5_000)]
    viewer.add_image(levels, name="huge", contrast_limits=(0, 1))
    viewer.add_image(da.zeros((1250, 1250)), name="low", scale=(32, 32), contrast_limits=(0, 1))


def test_large_results_go_to_a_store_by_themselves(panel, viewer, home):
    """K06: nothing is asked; a coarser level of the guide stays in memory."""
    add_huge(viewer)
    assert "It needs about" in panel.about.text()
    assert "more than the 4 GiB of the preferences: written to a Zarr store" in panel.about.text()
    assert panel.form.store.native.isVisibleTo(panel)
    assert panel.form.store.value == str(home / "low-upsampled.ome.zarr")
    assert panel.button.isEnabled()
    panel.form.guide_level.value = 1
    assert not panel.form.store.native.isVisibleTo(panel)
    assert "GiB" not in panel.about.text()
    assert panel.button.isEnabled()


@pytest.fixture
def computing():
    """Preferences of the plugin; their memory is what it was afterwards."""
    napari_settings = pytest.importorskip("napari.settings")
    if not hasattr(napari_settings, "get_plugin_settings"):
        pytest.skip("preferences of plugins came with napari 0.9")
    found = napari_settings.get_plugin_settings("napari-cosparse").computing
    before = found.memory_gib
    yield found
    found.memory_gib = before


def test_memory_of_the_preferences_is_heard_at_once(panel, viewer, home, computing):
    add_huge(viewer)
    panel.form.guide_level.value = 1
    assert not panel.form.store.native.isVisibleTo(panel)
    computing.memory_gib = 0.25
    assert "more than the 0.25 GiB of the preferences" in panel.about.text()
    assert panel.form.store.native.isVisibleTo(panel)
    computing.memory_gib = 8.0
    assert "GiB" not in panel.about.text()
    assert not panel.form.store.native.isVisibleTo(panel)
    viewer.window.remove_dock_widget(panel)
    told = panel.about.text()
    computing.memory_gib = 0.25
    assert panel.about.text() == told


def test_preferences_that_napari_makes_anew_are_heard_too(panel, viewer, home, computing):
    """It does whenever a plugin is installed or switched on."""
    from napari.settings import get_plugin_settings

    add_huge(viewer)
    panel.form.guide_level.value = 1
    get_plugin_settings().clear()
    anew = get_plugin_settings("napari-cosparse").computing
    assert anew is not computing
    panel.refresh()
    anew.memory_gib = 0.25
    assert "more than the 0.25 GiB" in panel.about.text()
    anew.memory_gib = 4.0


def test_stores_need_axes_in_one_order(panel, viewer, scene, tmp_path):
    """Two times two planes, times first in one and colours first in the other: not mixed up."""
    axes = {"axis_labels": ("c", "t", "y", "x")}
    viewer.add_image(np.zeros((2, 2, 64, 96)) + scene.depth, name="guide", **axes)
    axes = {"axis_labels": ("t", "c", "y", "x"), "scale": (1, 1, 4, 4)}
    viewer.add_image(np.zeros((2, 2, 1, 1)) + scene.coarse, name="low", **axes)
    panel.form.positions.value = False
    assert panel.button.isEnabled(), panel.about.text()
    panel.form.output.value = "store"
    panel.form.store.value = str(tmp_path / "out.zarr")
    assert not panel.button.isEnabled()
    assert "the axes of target and guide need one order" in panel.about.text()


def test_path_of_the_store_can_be_changed_and_is_checked(panel, viewer, home):
    add_huge(viewer)
    panel.form.store.value = str(home / "mine.zarr")
    panel.refresh()
    assert panel.form.store.value == str(home / "mine.zarr")
    assert panel.button.isEnabled()
    (home / "there.zarr").mkdir()
    panel.form.store.value = str(home / "there.zarr")
    assert "exists already" in panel.about.text()
    assert not panel.button.isEnabled()
    panel.form.store.value = str(home / "no/out.zarr")
    assert "is no folder" in panel.about.text()
    panel.form.store.value = ""
    assert panel.form.store.value == str(home / "low-upsampled.ome.zarr")


def test_folder_that_cannot_be_written_to_is_told_before_the_run(panel, viewer, home, monkeypatch):
    add_huge(viewer)
    monkeypatch.setattr(_store_check.os, "access", lambda path, *_: path != home)
    panel.form.store.value = str(home / "mine.zarr")
    assert f"{home / 'mine.zarr'} cannot be made: {home}" in panel.about.text()
    assert not panel.button.isEnabled()


def test_memory_can_be_insisted_on_while_there_is_enough(panel, viewer, home, monkeypatch):
    add_huge(viewer)
    monkeypatch.setattr(_output, "free_memory", lambda: 2**40)
    panel.form.output.value = "memory"
    assert "in memory as you wish" in panel.about.text()
    assert not panel.form.store.native.isVisibleTo(panel)
    assert panel.button.isEnabled()
    monkeypatch.setattr(_output, "free_memory", lambda: 2**33)
    panel.refresh()
    assert "8.0 GiB are free" in panel.about.text()
    assert not panel.button.isEnabled()


def test_run_beyond_the_preferences_ends_in_the_proposed_store(
    panel, viewer, scene, run, home, little
):
    """The pixels are those of a run in memory; the next run has another store."""
    add_scene(viewer, scene)
    panel.form.noise.value = "0"
    panel.form.output.value = "memory"
    run()
    panel.form.output.value = "auto"
    path = panel.form.store.value
    run()
    memory, stored = list(viewer.layers)[-2:]
    np.testing.assert_allclose(np.asarray(open_levels(path)[0]), memory.data, rtol=1e-4)
    assert stored.metadata[METADATA_KEY]["store"] == path
    assert panel.form.store.value == str(home / "low-upsampled-2.ome.zarr")
    assert panel.button.isEnabled()


def test_colour_target_is_written_as_luminance(panel, viewer, scene, run, home):
    """M04: as in memory; a stack of colour images and one guide."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    paint = np.stack([scene.coarse * weight for weight in (3, 9, 1)], -1)
    series = da.from_array(np.stack([paint, paint[::-1]]).astype(np.uint8), (1, 7, 9, 3))
    place = {"scale": (1, 4, 4), "translate": (0, 1.5, 1.5)}
    viewer.add_image(series, name="low", rgb=True, **place)
    (low,) = [choice for choice in panel.form.target.choices if choice.name == "low"]
    panel.form.target.value = low
    panel.form.guide.value = panel.form.guide.choices[0]
    panel.form.noise.value = "0"
    run()
    panel.form.output.value = "store"
    run()
    memory, stored = list(viewer.layers)[-2:]
    whole = np.asarray(stored.data[0] if stored.multiscale else stored.data)
    assert whole.shape == (2, *scene.depth.shape)
    np.testing.assert_allclose(whole, memory.data, atol=1e-3 * np.ptp(memory.data))
    assert not stored.rgb
    panel.form.store.value = str(home / "again.zarr")
    exec(panel.python(), {})  # noqa: S102
    np.testing.assert_array_equal(np.asarray(open_levels(home / "again.zarr")[0]), whole)


def test_planes_of_a_stack_count(panel, viewer, scene, home, monkeypatch):
    """A result of 4000 planes is large though each of them is small."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    series = da.zeros((40_000, *scene.coarse.shape), chunks=(1, -1, -1))
    place = {"scale": (1, 4, 4), "translate": (0, 1.5, 1.5)}
    viewer.add_image(series[:100], name="short", contrast_limits=(0, 1), **place)
    viewer.add_image(series, name="long", contrast_limits=(0, 1), **place)
    panel.form.guide.value = panel.form.guide.choices[0]
    panel.form.target.value = panel.form.target.choices[1]
    assert not panel.form.store.native.isVisibleTo(panel)
    monkeypatch.setattr(_output, "memory_bytes", lambda: 2.0**29)
    panel.form.target.value = panel.form.target.choices[2]
    assert panel.form.store.native.isVisibleTo(panel)


def test_store_lies_beside_the_file_of_the_target(panel, viewer, scene, home, little, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    np.save(folder / "depth.npy", scene.coarse)
    viewer.add_image(scene.guide, name="guide", rgb=True)
    (low,) = viewer.open(folder / "depth.npy", plugin="napari")
    low.scale, low.translate = (4, 4), (1.5, 1.5)
    panel.refresh()
    assert panel.form.store.value == str(folder / "depth-upsampled.ome.zarr")


def test_settings_keep_where_the_result_goes(panel, viewer, home, tmp_path):
    add_huge(viewer)
    panel.form.store.value = str(home / "mine.zarr")
    panel.form.output.value = "store"
    panel.save_settings(tmp_path / "s.json")
    panel.form.store.value, panel.form.output.value = "", "auto"
    panel.load_settings(tmp_path / "s.json")
    assert panel.form.output.value == "store"
    assert panel.form.store.value == str(home / "mine.zarr")


def test_threads_count_in_the_memory_of_a_run(viewer, scene, monkeypatch):
    add_scene(viewer, scene)
    pair = pair_up(viewer.layers["low"], viewer.layers["guide"], positions=True)
    with dask.config.set(num_workers=3):
        few = _output.memory_needed(pair)
    with dask.config.set(num_workers=64):
        many = _output.memory_needed(pair)
        monkeypatch.setattr(_output, "threads", lambda: 1)  # the synchronous scheduler
        assert _output.memory_needed(pair) == few
    assert many - few == estimate_bytes((64, 96), threads=64) - estimate_bytes((64, 96)) > 0


@pytest.fixture
def stored(panel, viewer, scene, run, tmp_path):
    """Path of a store that a run has just written; without noise, so that nothing is estimated."""
    add_scene(viewer, scene)
    panel.form.noise.value = "0"
    panel.form.output.value = "store"
    panel.form.store.value = str(tmp_path / "mine.ome.zarr")
    assert not panel.form.overwrite.native.isVisibleTo(panel)
    run()
    return tmp_path / "mine.ome.zarr"


def test_store_that_was_written_says_how_to_go_on(panel, stored):
    text = panel.about.text()
    assert f"{stored} exists already" in text
    assert "choose another name in the row Store, such as mine-2.ome.zarr" in text
    assert "or tick 'Replace what is there'" in text
    assert not panel.button.isEnabled()
    assert panel.preview_button.isEnabled()  # it writes nothing
    assert panel.form.overwrite.native.isVisibleTo(panel)
    low = panel.form.target.value
    panel.form.target.value = panel.form.guide.value
    assert not panel.preview_button.isEnabled()
    panel.form.target.value = low
    panel.form.store.value = str(stored.with_name("mine-2.ome.zarr"))
    assert panel.button.isEnabled()
    assert not panel.form.overwrite.native.isVisibleTo(panel)


def test_store_is_replaced_if_that_is_ticked(panel, viewer, stored, run):
    old = viewer.layers[-1]
    before = np.asarray(open_levels(stored)[0])
    panel.form.overwrite.value = True
    assert panel.button.isEnabled()
    panel.form.blur.value = "none"
    run()
    assert old not in viewer.layers
    assert len(viewer.layers) == 3
    after = np.asarray(open_levels(stored)[0])
    assert np.abs(after - before).max() > 0
    np.testing.assert_array_equal(np.asarray(viewer.layers[-1].data), after)
    assert not panel.form.overwrite.value  # once
    assert not panel.button.isEnabled()


def test_what_is_no_store_is_not_offered_to_be_replaced(panel, viewer, scene, tmp_path):
    add_scene(viewer, scene)
    panel.form.output.value = "store"
    (tmp_path / "notes.zarr").write_text("mine")
    panel.form.store.value = str(tmp_path / "notes.zarr")
    panel.form.overwrite.value = True
    assert "exists already" in panel.about.text()
    assert "Replace" not in panel.about.text()
    assert not panel.button.isEnabled()
    panel.form.store.value = str(tmp_path / "out.tif")
    assert "must end in .ome.zarr" in panel.about.text()


def test_store_that_is_an_input_is_not_replaced(panel, viewer, stored, scene):
    viewer.layers[-1].name = "fine"
    viewer.add_image(scene.depth[::8, ::8], name="tiny", scale=(8, 8), translate=(3.5, 3.5))
    for row, name in ((panel.form.target, "tiny"), (panel.form.guide, "fine")):
        row.value = next(layer for layer in row.choices if layer.name == name)
    panel.form.overwrite.value = True
    assert "holds the layer 'fine'" in panel.about.text()
    assert not panel.button.isEnabled()


@pytest.fixture
def interrupted(panel, viewer, scene, qtbot, tmp_path):
    """Cancel a run into a store when its first block is solved."""
    add_scene(viewer, scene)
    panel.form.output.value = "store"
    panel.form.store.value = str(tmp_path / "out.zarr")
    seen = []
    panel.runner.stepped.connect(lambda step: seen.append(step.stage))
    panel.button.click()
    qtbot.waitUntil(lambda: any("solving" in stage for stage in seen), timeout=30_000)
    panel.button.click()
    assert panel.message.text() == f"Cancelling, waiting for the end of: {seen[-1]} ..."
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=30_000)
    return tmp_path / "out.zarr"


def test_run_that_was_cancelled_goes_on(panel, viewer, interrupted, run):
    assert panel.message.text().startswith("Cancelled. An interrupted run lies beside the store")
    assert "An interrupted run lies beside the store" in panel.about.text()
    assert len(viewer.layers) == 2
    run()
    assert panel.message.text().startswith("Done: 1 block")
    assert interrupted.exists()
    assert not interrupted.with_name("out.zarr.partial").exists()


def test_run_of_another_job_is_told_and_can_be_replaced(panel, interrupted, run, notifications):
    panel.form.blur.value = "none"
    run()
    assert "belongs to another job" in notifications[-1].message
    assert "ticking 'Replace what is there' deletes it" in notifications[-1].message
    panel.form.overwrite.value = True
    run()
    assert panel.message.text().startswith("Done: 1 block")


def test_store_says_where_it_lies(panel, viewer, scene, run, tmp_path):
    """Opened elsewhere it has the place that the viewer shows."""
    place = {"scale": (0.5, 0.25), "translate": (10, -3), "units": "mm"}
    viewer.add_image(scene.guide, name="guide", rgb=True, **place)
    viewer.add_image(scene.coarse, name="low", scale=(2, 1), translate=(10.75, -2.625), units="mm")
    panel.form.output.value = "store"
    panel.form.store.value = str(tmp_path / "out.ome.zarr")
    run()
    told = json.loads((tmp_path / "out.ome.zarr/zarr.json").read_text())["attributes"]["ome"]
    (multiscale,) = told["multiscales"]
    assert [axis["unit"] for axis in multiscale["axes"]] == ["millimeter", "millimeter"]
    kinds = {
        part["type"]: part[part["type"]]
        for part in multiscale["datasets"][0]["coordinateTransformations"]
    }
    assert kinds == {"scale": [0.5, 0.25], "translation": [10, -3]}


def test_large_store_without_levels_is_told(panel, viewer, home):
    add_huge(viewer)
    assert "no coarser levels" not in panel.about.text()
    panel.form.store.value = str(home / "plain.zarr")
    assert "end the name in .ome.zarr" in panel.about.text()
    assert panel.button.isEnabled()
