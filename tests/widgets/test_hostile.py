"""What happens to layers while a panel works on them, and layers that lie oddly (G01-G20, M, K)."""

import threading

import dask.array as da
import numpy as np
import pytest

from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import upsample
from napari_cosparse.io import load_operators
from napari_cosparse.layers import METADATA_KEY

MATRIX = np.array([[0.8, -0.6, 16], [0.6, 0.8, -3], [0, 0, 1]])
ODD = {
    "tiny, turned by a right angle (G01)": (
        {"scale": (0.16, 0.16), "units": "um"},
        {"scale": (0.02, 0.02), "rotate": 90, "units": "um"},
    ),
    "unequal voxels and far origins (G04, G06)": (
        {"scale": (0.16, 0.6), "translate": (500, -200), "units": "mm"},
        {"scale": (200, 210), "translate": (-7e4, 3e3), "units": "um"},
    ),
    "spacings that differ by rounding (G07)": (
        {"scale": (0.1, 0.1), "units": "mm"},
        {"scale": (100, 100 + 1e-9), "translate": (50, 70), "units": "um"},
    ),
    "scale and affine (G02, G17)": (
        {"scale": (2, 2), "affine": [[0, -3, 5], [2, 0, -9], [0, 0, 1]]},
        {"scale": (0.5, 1), "rotate": 45, "affine": [[1, 0.4, 8], [0, 1, 2], [0, 0, 1]]},
    ),
    "negative, sheared, pixels beside millimetres": (
        {"scale": (-0.3, 0.3), "translate": (4, 1), "units": "mm"},
        {"scale": (0.7, 0.7), "shear": [0.6], "rotate": -130},
    ),
    "mirrored (G13)": ({"scale": (3, -3)}, {"scale": (1, 1), "shear": [-0.3], "units": "um"}),
}


@pytest.fixture
def fake(fake):
    fake.matrix = MATRIX
    return fake


def ramp(shape):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    return (3.0 * rows + 5.0 * columns).astype(np.float32)


def named(viewer, name):
    (found,) = [layer for layer in viewer.layers if layer.name == name]
    return getattr(found, "__wrapped__", found)


def add_two(viewer, places=({}, {}), size=(80, 100)):
    viewer.add_image(ramp((64, 90)), name="fixed", **places[0])
    viewer.add_image(ramp(size), name="moving", **places[1])
    return named(viewer, "fixed"), named(viewer, "moving")


@pytest.mark.parametrize("case", ODD)
def test_exported_pixels_are_those_that_the_viewer_shows(fake, register_panel, viewer, press, case):
    """The value at a place of the world is the same in the moved and in the resampled layer."""
    fixed, moving = add_two(viewer, ODD[case], (240, 300))
    register_panel.choose(fixed, moving)
    register_panel.form.resample.value = True
    press(register_panel)
    shown, exported = named(viewer, "moving [registered]"), named(viewer, "moving [resampled]")
    assert shown.units == exported.units == fixed.units
    compared = 0
    for pixel in np.argwhere(np.isfinite(np.asarray(exported.data)))[::97]:
        place = exported.data_to_world(pixel)
        row, column = shown.world_to_data(place)
        inside = 0 <= row <= 239 and 0 <= column <= 299
        assert inside
        assert np.asarray(exported.data)[tuple(pixel)] == pytest.approx(
            3 * row + 5 * column, abs=0.02
        )
        np.testing.assert_allclose(fixed.world_to_data(place), pixel, atol=1e-6)
        compared += 1
    assert compared > 5


def test_colour_stays_within_its_type_and_labels_keep_their_values(
    fake, register_panel, viewer, press
):
    """M09, M11."""
    fixed, _ = add_two(viewer)
    board = (np.indices((80, 100)).sum(0) // 4 % 2 * 255).astype(np.uint8)
    viewer.add_image(np.stack([board] * 3, -1), name="colour", rgb=True)
    viewer.add_labels(board.astype(int) // 51, name="cells")
    register_panel.choose(fixed, named(viewer, "colour"))
    register_panel.form.resample.value = True
    press(register_panel)
    viewer.layers.selection = {named(viewer, "cells")}
    register_panel.tools.buttons["Apply to selected"].click()
    colour = np.asarray(named(viewer, "colour [resampled]").data)
    assert colour.dtype == np.uint8
    assert colour.shape == (64, 90, 3)
    assert set(np.unique(np.asarray(named(viewer, "cells [resampled]").data))) == {0, 5}


def test_registered_place_follows_layers_that_were_dragged_since(
    fake, register_panel, viewer, press
):
    """The transform is one between pixels: it holds wherever the layers lie by now."""
    fake.trusted = False
    fixed, moving = add_two(viewer, ({"scale": (2, 2)}, {"rotate": 20}))
    register_panel.choose(fixed, moving)
    viewer.add_points([[3, 4]], name="spots", rotate=20)
    press(register_panel)
    moving.translate = (300, -50)
    fixed.translate = (-7, 30)
    register_panel.tools.buttons["Move anyway"].click()
    viewer.layers.selection = {named(viewer, "spots")}
    register_panel.tools.buttons["Apply to selected"].click()
    for pixel in ((0, 0), (50, 7)):
        there = (MATRIX @ [*pixel, 1])[:2]
        for name in ("moving [registered]", "spots [registered]"):
            np.testing.assert_allclose(
                named(viewer, name).data_to_world(there), fixed.data_to_world(pixel), atol=1e-9
            )


def begin(panel, fake, qtbot):
    """Press Run and wait until the worker works."""
    fake.wait = threading.Event()
    panel.button.click()
    qtbot.waitUntil(lambda: len(panel.plot.lines.get("", ())) > 2, timeout=10_000)


def end(panel, fake, qtbot):
    fake.wait.set()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=10_000)


@pytest.mark.parametrize("which", ["fixed", "moving"])
def test_layer_that_is_deleted_during_the_run(
    fake, register_panel, viewer, qtbot, notifications, which
):
    """The result comes all the same; then the panel asks for another pair."""
    fixed, moving = add_two(viewer)
    register_panel.choose(fixed, moving)
    begin(register_panel, fake, qtbot)
    viewer.layers.remove(which)
    end(register_panel, fake, qtbot)
    assert named(viewer, "moving [registered]").data.shape == moving.data.shape
    record = named(viewer, "moving [registered]").metadata[METADATA_KEY]
    assert record["inputs"][which]["name"] == which
    assert not [n for n in notifications if n.severity == "error"]
    register_panel.tools.buttons["Reset"].click()
    viewer.layers.clear()
    assert "Choose two image layers" in register_panel.about.text()
    add_two(viewer)
    assert register_panel.button.isEnabled()


def test_layer_that_is_renamed_moved_and_changed_during_the_run(
    fake, register_panel, viewer, qtbot, notifications
):
    fixed, moving = add_two(viewer)
    register_panel.choose(fixed, moving)
    begin(register_panel, fake, qtbot)
    moving.name, moving.data = "renamed", ramp((7, 9))
    fixed.translate = (11, 12)
    end(register_panel, fake, qtbot)
    new = named(viewer, "renamed [registered]")
    assert new.metadata[METADATA_KEY]["inputs"]["moving"]["shape"] == [80, 100]
    there = (MATRIX @ [5, 6, 1])[:2]
    np.testing.assert_allclose(new.data_to_world(there), fixed.data_to_world((5, 6)))
    assert fake.calls[0][1].shape == (80, 100)
    assert not [n for n in notifications if n.severity == "error"]


@pytest.mark.parametrize("preview", [False, True])
def test_target_and_guide_that_are_deleted_during_the_run(
    panel, viewer, scene, qtbot, notifications, preview
):
    viewer.add_image(scene.guide, name="guide", rgb=True, scale=(0.5, 0.5), units="mm")
    place = {"scale": (2e3, 2e3), "translate": (750, 750), "units": "um"}
    viewer.add_image(scene.coarse, name="low", **place)
    where = np.array(named(viewer, "guide").data_to_world((9, 8)))
    (panel.preview_button if preview else panel.button).click()
    viewer.layers.clear()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=60_000)
    (made,) = viewer.layers
    np.testing.assert_allclose(made.data_to_world((9, 8)), where)
    assert not [n for n in notifications if n.severity == "error"]


def test_run_cancel_run_again_gives_what_a_fresh_run_gives(panel, viewer, scene, qtbot, run):
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.coarse, name="low", scale=(4, 4), translate=(1.5, 1.5))
    panel.button.click()
    qtbot.waitUntil(lambda: panel.last is not None, timeout=30_000)
    panel.button.click()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=30_000)
    assert [layer.name for layer in viewer.layers] == ["guide", "low"]
    run()
    fresh = upsample(scene.coarse, scene.guide, load_operators("intensity-depth")).image
    np.testing.assert_array_equal(viewer.layers[-1].data, fresh)


def test_napari_that_is_closed_in_the_middle_stops_the_job(make_napari_viewer, qtbot):
    ended = []

    def steps():
        try:
            while True:
                yield Progress("working", 1, 2)
        finally:
            ended.append(True)

    viewer = make_napari_viewer()
    panel = viewer.window.add_plugin_dock_widget("napari-cosparse", "Learn operators")[1]
    panel.start(steps, "test")
    qtbot.waitUntil(lambda: panel.last is not None, timeout=10_000)
    viewer.close()
    qtbot.waitUntil(lambda: bool(ended), timeout=10_000)


def test_times_and_depths_and_a_dask_guide_of_channels(panel, viewer, scene, run):
    """K01, K02, M06: chunks of one plane, other chunks than the guide's, axes in any order."""
    series = np.stack([np.stack([scene.coarse, scene.coarse[::-1]])] * 3)  # 3 times, 2 depths
    lazy = da.from_array(series, (1, 1, 7, 5))
    place = {"scale": (10, 7, 4, 4), "translate": (1, 2, 1.5, 1.5)}
    labels = ("t", "z", "y", "x")
    viewer.add_image(lazy, name="low", contrast_limits=(0, 9), axis_labels=labels, **place)
    gray = scene.guide.mean(-1)
    depths = da.from_array(np.stack([gray, gray[::-1]]), (1, 64, 31))
    viewer.add_image(depths, name="guide", axis_labels=labels[1:], scale=(7, 1, 1))
    panel.form.target.value, panel.form.guide.value = (
        named(viewer, name) for name in ("low", "guide")
    )
    assert "6 planes" in panel.about.text()
    panel.form.noise.value = "0"
    run()
    result = viewer.layers[-1]
    assert result.data.shape == (3, 2, 64, 96)
    assert result.axis_labels == labels
    operators = load_operators("intensity-depth")
    told = {"factor": 4, "origin": (1.5, 1.5), "noise": 0}
    first = upsample(series[2, 1], gray[::-1], operators, **told).image
    np.testing.assert_allclose(result.data[2, 1], first, atol=1e-4)
    low = named(viewer, "low")
    np.testing.assert_allclose(
        result.data_to_world((2, 1, 1.5, 1.5)), [low.data_to_world((2, 1, 0, 0))[0], 7, 1.5, 1.5]
    )


@pytest.mark.parametrize("kind", ["int16", "uint16", "bool", "float64"])
def test_numeric_types_are_registered(fake, register_panel, viewer, press, kind):
    """M05: nothing is refused for its type."""
    fixed, _ = add_two(viewer)
    viewer.add_image((ramp((40, 50)) > 60).astype(kind), name="typed")
    register_panel.choose(fixed, named(viewer, "typed"))
    press(register_panel)
    assert named(viewer, "typed [registered]").data.dtype == kind


def test_spacings_that_differ_by_rounding_are_the_same(panel, viewer, scene):
    """G07."""
    viewer.add_image(scene.guide, name="guide", rgb=True, scale=(0.1, 0.1))
    place = {"scale": (0.4 + 1e-12, 0.4), "translate": (0.15, 0.15)}
    viewer.add_image(scene.coarse, name="low", **place)
    assert "factor 4 x 4, first sample at guide pixel (1.5, 1.5)" in panel.about.text()
    assert panel.form.transform.native.placeholderText() == "not needed"
