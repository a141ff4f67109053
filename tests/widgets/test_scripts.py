"""Copy as Python: the script runs, in the viewer or in an empty one, and gives the same bits."""

from functools import partial

import dask.array as da
import numpy as np
import pytest

import napari_cosparse as nc
from napari_cosparse.core.errors import InputError
from napari_cosparse.io import make_scene
from napari_cosparse.layers import METADATA_KEY, pairs_in
from napari_cosparse.tiles import open_levels
from napari_cosparse.widgets import _samples

CENTRE = {"scale": (4, 4), "translate": (1.5, 1.5)}


def again(panel):
    """Do what the script says."""
    exec(panel.python(), {})  # noqa: S102


def pixels(layer):
    """All pixels of the finest level."""
    return np.asarray(layer.data[0] if layer.multiscale else layer.data)


def assert_same(made, other):
    """Pixels, place and record are the same."""
    assert made is not other
    np.testing.assert_array_equal(pixels(made), pixels(other))
    corner = tuple(n - 1 for n in pixels(made).shape)
    np.testing.assert_array_equal(made.data_to_world(corner), other.data_to_world(corner))
    assert (made.units, made.axis_labels) == (other.units, other.axis_labels)
    records = [layer.metadata[METADATA_KEY] for layer in (made, other)]
    for part in ("parameters", "inputs", "versions"):
        assert records[0][part] == records[1][part]


def add_turned(viewer, scene):
    viewer.add_image(scene.guide, name="guide", rgb=True, scale=(0.5, 0.25), units="mm")
    viewer.add_image(scene.coarse, name="low", scale=(2e3, 1e3), rotate=14, units="um")


def add_stack(viewer, scene):
    viewer.add_image(scene.guide, name="guide", rgb=True)
    stack = np.stack([scene.coarse, scene.coarse[::-1]])
    place = {"scale": (3, 4, 4), "translate": (7, 1.5, 1.5), "axis_labels": ("t", "y", "x")}
    viewer.add_image((100 * stack).astype(np.uint16), name="low", **place)


def add_pyramids(viewer, scene):
    guide = da.from_array(scene.guide, (20, 30, 3))
    viewer.add_image([guide, guide[::2, ::2]], name="guide", rgb=True, multiscale=True)
    low = da.from_array(scene.coarse, 7)
    viewer.add_image([low, low[::2, ::2]], name="low", contrast_limits=(0, 9), **CENTRE)


def add_colours(viewer, scene):
    viewer.add_image(scene.guide[..., 1], name="guide")
    alpha = np.dstack([scene.guide[::2, ::2], scene.guide[::2, ::2, :1]])
    viewer.add_image(alpha, name="low", rgb=True, scale=(2, 2))


def add_blank(viewer, scene):
    """Add a stack whose second plane is empty; that is not seen before the run."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    stack = np.stack([scene.coarse, np.full_like(scene.coarse, np.nan), scene.coarse[::-1]])
    place = {"scale": (1, 4, 4), "translate": (0, 1.5, 1.5)}
    viewer.add_image(da.from_array(stack, (1, 7, 9)), name="low", contrast_limits=(0, 9), **place)


def add_blank_levels(viewer, scene):
    """Add a stack of whole numbers whose first plane is all the unknown value."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    levels = (100 * scene.coarse).astype(np.uint16)
    place = {"scale": (1, 4, 4), "translate": (0, 1.5, 1.5)}
    viewer.add_image(np.stack([np.full_like(levels, 65535), levels]), name="low", **place)


def add_beside(viewer, scene):
    """Add a stack that reaches below the guide; what is known of its second plane lies there."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    below = np.full_like(scene.coarse, np.nan)
    stack = np.stack([np.vstack([scene.coarse, below]), np.vstack([below, scene.coarse])] * 2)
    place = {"scale": (1, 4, 4), "translate": (0, 1.5, 1.5)}
    viewer.add_image(stack[:3], name="low", contrast_limits=(0, 9), **place)


def choose(panel, target="low", guide="guide"):
    for row, name in ((panel.form.target, target), (panel.form.guide, guide)):
        row.value = next(layer for layer in row.choices if layer.name == name)


@pytest.mark.parametrize("add", [add_turned, add_stack, add_pyramids, add_colours])
@pytest.mark.parametrize("output", ["memory", "store"])
def test_layers_of_all_kinds(panel, viewer, scene, run, tmp_path, add, output):
    add(viewer, scene)
    choose(panel)
    panel.form.output.value = output
    panel.form.store.value = str(tmp_path / "out.ome.zarr")
    panel.form.dtype.value = "float32" if add is add_turned else "input"
    run()
    again(panel)
    assert_same(*list(viewer.layers)[-2:])


@pytest.mark.parametrize("output", ["memory", "store"])
@pytest.mark.parametrize(("add", "plane"), [(add_blank, 1), (add_blank_levels, 0), (add_beside, 1)])
def test_plane_of_which_nothing_is_known_stays_unknown(
    panel, viewer, scene, run, tmp_path, output, add, plane
):
    """In memory as in a store; it is named, and the script leaves it out too."""
    add(viewer, scene)
    choose(panel)
    panel.form.output.value = output
    panel.form.store.value = str(tmp_path / "out.ome.zarr")
    panel.form.dtype.value = "input"
    panel.form.invalid.value = "65535" if add is add_blank_levels else ""
    run()
    named = f"Plane {plane} has no known sample on the guide and stays unknown."
    assert panel.message.text().startswith("Done")
    assert panel.message.text().endswith(named)
    again(panel)
    made, other = list(viewer.layers)[-2:]
    assert_same(made, other)
    image = pixels(made)
    unknown = image == 65535 if add is add_blank_levels else np.isnan(image)
    assert unknown.all((1, 2)).nonzero()[0].tolist() == [plane]
    assert unknown.sum() == scene.depth.size
    for layer in (made, other):
        assert layer.metadata[METADATA_KEY]["blank"] == [[plane]]
    viewer.add_image(pixels(viewer.layers["low"])[-1], name="alone", **CENTRE)
    choose(panel, "alone")
    panel.form.store.value = str(tmp_path / "alone.ome.zarr")
    run()
    np.testing.assert_array_equal(pixels(viewer.layers[-1]), image[-1])


def test_stack_of_which_nothing_is_known_is_refused(panel, viewer, scene, run, notifications):
    """The script says so too."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    empty = da.full((3, *scene.coarse.shape), np.nan, chunks=(1, -1, -1))
    place = {"scale": (1, 4, 4), "translate": (0, 1.5, 1.5)}
    viewer.add_image(empty, name="low", contrast_limits=(0, 1), **place)
    choose(panel)
    run()
    assert "'low' has no known sample in any of its 3 planes" in panel.message.text()
    assert "no known sample" in notifications[-1].message
    with pytest.raises(InputError, match="no known sample in any of its 3 planes"):
        again(panel)
    assert len(viewer.layers) == 2


def test_level_of_the_guide_and_typed_numbers(panel, viewer, scene, run):
    add_pyramids(viewer, scene)
    panel.form.guide_level.value = 1
    panel.form.factor.value, panel.form.origin.value = "2, 2", "0.4, 0.6"
    panel.form.noise.value, panel.form.invalid.value = "0.01", str(float(scene.coarse[3, 4]))
    panel.form.blur.value, panel.form.guided.value = "bicubic", False
    run()
    again(panel)
    assert_same(*list(viewer.layers)[-2:])


@pytest.mark.parametrize("output", ["memory", "store"])
def test_layers_from_files_are_opened_where_they_are_missing(
    panel, viewer, scene, run, tmp_path, output
):
    np.save(tmp_path / "low.npy", scene.coarse)
    np.save(tmp_path / "photo.npy", scene.guide.mean(-1))
    viewer.open(tmp_path / "low.npy", plugin="napari")
    (photo,) = viewer.open(tmp_path / "photo.npy", plugin="napari")
    photo.name = "renamed"
    panel.form.output.value = output
    panel.form.store.value = str(tmp_path / "out.zarr")
    run()
    made, script = viewer.layers[-1], panel.python()
    viewer.layers.clear()
    exec(script, {})  # noqa: S102
    assert [layer.name for layer in viewer.layers] == ["low", "renamed", made.name]
    assert_same(made, viewer.layers[-1])


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(_samples.io, "make_scene", partial(make_scene, (64, 96)))


def test_layers_from_a_sample_are_opened_where_they_are_missing(panel, viewer, run, small_sample):
    viewer.open_sample("napari-cosparse", "textured_scene")
    run()
    made, script = viewer.layers[-1], panel.python()
    viewer.layers.clear()
    exec(script, {})  # noqa: S102
    assert len(viewer.layers) == 4
    assert_same(made, viewer.layers[-1])


def learn(learn_panel, viewer, scene, press):
    """Learn a small pair; its layers come from no file."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.depth, name="depth")
    learn_panel.form.pairs.value = [tuple(viewer.layers)]
    for name, value in {"side": 3, "samples": 500, "iterations": 5}.items():
        getattr(learn_panel.form, name).value = value
    press(learn_panel)
    viewer.add_image(scene.coarse, name="low", **CENTRE)


def test_operators_of_the_viewer_and_of_a_file(
    panel, learn_panel, viewer, scene, run, press, tmp_path
):
    learn(learn_panel, viewer, scene, press)
    learn_panel.save(str(tmp_path / "mine.npz"))
    choose(panel)
    for choice in ("in this viewer: learned", panel.form.operators.choices[-1]):
        panel.form.operators.value = choice
        panel.form.operator_file.value = tmp_path / "mine.npz"
        run()
        again(panel)
        assert_same(*list(viewer.layers)[-2:])
        told = viewer.layers[-1].metadata[METADATA_KEY]["inputs"]["operators"]
        assert told in (choice, str(tmp_path / "mine.npz"))


@pytest.mark.parametrize("saved", [True, False])
def test_learned_operators_in_another_viewer(
    panel, learn_panel, viewer, scene, run, press, tmp_path, monkeypatch, saved, notifications
):
    """They are opened from where they were saved, or from where the script says they are to be."""
    monkeypatch.chdir(tmp_path)
    learn(learn_panel, viewer, scene, press)
    choose(panel)
    panel.form.operators.value = "in this viewer: learned"
    run()
    made = viewer.layers[-1]
    if saved:
        learn_panel.save(str(tmp_path / "mine.cosparse"))
    panel.copy_python()
    assert "is to be saved first" in str(notifications[-1].message)  # the layers at least
    script = panel.python()
    assert ("'learned' are in no file" in script) is not saved
    for layer in [layer for layer in viewer.layers if layer.name.startswith("learned")]:
        viewer.layers.remove(layer)
    if not saved:
        with pytest.raises(InputError, match=r"learned\.cosparse"):
            exec(script, {})  # noqa: S102
        learn_panel.save("learned.cosparse")
    exec(script, {})  # noqa: S102
    assert_same(made, viewer.layers[-1])


def test_opened_operators_are_opened_from_their_file(panel, viewer, scene, run, tmp_path):
    add_turned(viewer, scene)
    nc.save_operators(tmp_path / "mine.cosparse", nc.load_operators("intensity-depth"))
    viewer.open(tmp_path / "mine.cosparse", plugin="napari-cosparse")
    choose(panel)
    panel.form.operators.value = "in this viewer: mine"
    run()
    made, script = viewer.layers[-1], panel.python()
    for layer in [layer for layer in viewer.layers if layer.name.startswith("mine")]:
        viewer.layers.remove(layer)
    exec(script, {})  # noqa: S102
    assert_same(made, viewer.layers[-1])


def test_learning_from_a_sample(learn_panel, viewer, press, small_sample):
    viewer.open_sample("napari-cosparse", "textured_scene")
    layers = {layer.name: layer for layer in viewer.layers}
    learn_panel.form.pairs.value = [(layers["guide"], layers["true depth"])]
    for name, value in {"side": 3, "samples": 500, "iterations": 5}.items():
        getattr(learn_panel.form, name).value = value
    learn_panel.form.bank.value = True
    press(learn_panel)
    first, script = pairs_in(viewer.layers)["learned"], learn_panel.python()
    viewer.layers.clear()
    exec(script, {})  # noqa: S102
    second = pairs_in(viewer.layers)["learned"]
    assert first is not second
    for one, other in zip(first.groups, second.groups, strict=True):
        np.testing.assert_array_equal(one.coefficients_u, other.coefficients_u)
        np.testing.assert_array_equal(one.coefficients_v, other.coefficients_v)


def test_script_of_a_store_leaves_the_store_alone(panel, viewer, scene, run, tmp_path):
    """It was written: the script takes the next name."""
    add_turned(viewer, scene)
    panel.form.output.value = "store"
    panel.form.store.value = str(tmp_path / "out.zarr")
    run()
    assert str(tmp_path / "out-2.zarr") in panel.python()
    again(panel)
    first, second = (open_levels(tmp_path / f"out{n}.zarr")[0] for n in ("", "-2"))
    np.testing.assert_array_equal(first[:], second[:])
