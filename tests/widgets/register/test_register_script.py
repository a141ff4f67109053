"""Copy as Python of the registration panel: it runs anywhere and gives the same bits."""

import ast

import dask.array as da
import napari
import numpy as np
import pytest
from napari.components import ViewerModel

from napari_cosparse.layers import METADATA_KEY
from support.register_case import MATRIX, PLACE

UNEVEN = MATRIX + 1 / 3 * np.eye(3, k=2)  # its numbers have all digits
CORNERS = [[2, 3], [2, 40], [33, 50], [30, 8.25]]


@pytest.fixture
def fake(fake):
    fake.matrix = UNEVEN
    return fake


@pytest.fixture
def elsewhere(monkeypatch):
    """Run a script as where no viewer is open."""
    other = ViewerModel()

    def run(script, **names):
        monkeypatch.setattr(napari, "current_viewer", lambda: None)
        monkeypatch.setattr(napari, "Viewer", lambda: other)
        monkeypatch.setattr(napari, "run", lambda: shown.append(len(other.layers)))
        shown = []
        exec(script, names)  # noqa: S102
        assert shown == [len(other.layers)]
        return other

    return run


def named(viewer, name):
    (found,) = [layer for layer in viewer.layers if layer.name == name]
    return getattr(found, "__wrapped__", found)


def assert_same(made, again):
    """Pixels are shared or equal, the place is the same to the last bit."""
    assert made is not again
    np.testing.assert_array_equal(again.affine.affine_matrix, made.affine.affine_matrix)
    corner = np.array([1, 20, 30])[-made.ndim :]
    np.testing.assert_array_equal(again.data_to_world(corner), made.data_to_world(corner))
    assert (again.units, again.axis_labels) == (made.units, made.axis_labels)
    np.testing.assert_array_equal(pixels(made), pixels(again))


def pixels(layer):
    """All pixels of the finest level."""
    return np.asarray(layer.data[0] if layer.multiscale else layer.data)


def unused(script):
    """Names that are imported and not used."""
    tree = ast.parse(script)
    imported = {
        (name.asname or name.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    return imported - {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def add_turned(viewer, scene):
    viewer.add_image(scene.guide, name="photo", rgb=True, **PLACE)
    turned = {"scale": (250, 250), "translate": (3e3, 1e3), "rotate": 20, "units": "nm"}
    viewer.add_image(scene.depth[:50], name="depth", **turned)


def add_mirrored(viewer, scene):
    add_turned(viewer, scene)
    viewer.layers["depth"].scale = (250, -250)


def add_pyramids(viewer, scene):
    guide = da.from_array(scene.guide, (20, 30, 3))
    levels = [guide, guide[::2, ::2]]
    viewer.add_image(levels, name="photo", rgb=True, multiscale=True, **PLACE)
    depth = da.from_array(scene.depth, 30)
    looks = {"contrast_limits": (0, 9), "shear": [0.1]}
    viewer.add_image([depth, depth[::2, ::2]], name="depth", **looks, **PLACE)


def add_stack(viewer, scene):
    viewer.add_image(scene.guide, name="photo", rgb=True)
    stack = np.stack([scene.depth, scene.depth[::-1]])
    viewer.add_image(stack, name="depth", scale=(3, 1, 1), axis_labels=("t", "y", "x"))


@pytest.mark.parametrize("add", [add_turned, add_mirrored, add_pyramids, add_stack])
@pytest.mark.parametrize("masks", [False, True])
def test_script_asks_for_the_same_and_gives_the_same_layers(
    register_panel, fake, viewer, scene, press, add, masks
):
    add(viewer, scene)
    form = register_panel.form
    register_panel.choose(named(viewer, "photo"), named(viewer, "depth"))
    form.resample.value = True
    if add is add_pyramids:
        form.fixed_level.value = 1
    if masks:
        viewer.add_shapes([CORNERS], shape_type="polygon", name="roi", rotate=3, **PLACE)
        depth = named(viewer, "depth")
        place = {"scale": depth.scale[-2:], "translate": depth.translate[-2:]}
        labels = np.ones(depth.data.shape[-2:], int)
        labels[:9] = 0
        viewer.add_labels(labels, name="part", units=depth.units[-2:], **place)
        form.mask_fixed.value, form.mask_moving.value = named(viewer, "roi"), named(viewer, "part")
    press(register_panel)
    before = list(viewer.layers)[-2:]
    script = register_panel.python()
    assert not unused(script)
    assert ("are read backwards" in script) is (add is add_mirrored)
    exec(script.replace("nc.register(", "fake("), {"fake": fake.whole})  # noqa: S102
    for made, again in zip(before, list(viewer.layers)[-2:], strict=True):
        assert_same(made, again)
    first, second = fake.calls
    assert first[2] == second[2]
    for image, other in zip(first[:2], second[:2], strict=True):
        np.testing.assert_array_equal(image, other)
    for name, value in first[3].items():
        np.testing.assert_equal(second[3].get(name), value)


def test_layers_of_files_are_opened_where_no_viewer_is(
    register_panel, viewer, scene, press, elsewhere, tmp_path
):
    """With the real core: the matrix is the same bit for bit."""
    np.save(tmp_path / "fixed.npy", scene.guide.mean(-1))
    np.save(tmp_path / "moving.npy", scene.depth[4:, 3:])
    np.save(tmp_path / "part.npy", np.ones((64, 96), int))
    for name in ("fixed", "moving"):
        viewer.open(tmp_path / f"{name}.npy", plugin="napari", **PLACE)
    viewer.open(tmp_path / "part.npy", plugin="napari", layer_type="labels", **PLACE)
    moving = named(viewer, "moving")
    moving.name, moving.rotate, moving.translate = "renamed", 4, (1.3, 2)
    register_panel.choose(named(viewer, "fixed"), moving)
    form = register_panel.form
    form.verdict.value, form.insist.value, form.resample.value = False, True, True
    form.mask_fixed.value = named(viewer, "part")
    press(register_panel)
    other = elsewhere(register_panel.python())
    names = ["fixed", "renamed", "part", "renamed [registered]", "renamed [resampled]"]
    assert [layer.name for layer in other.layers] == names
    for name in names[3:]:
        assert_same(named(viewer, name), named(other, name))
    told = named(viewer, names[3]).metadata[METADATA_KEY]
    assert not np.array_equal(told["matrix"], np.eye(3))


def test_layers_of_a_sample_are_opened_where_no_viewer_is(
    register_panel, fake, viewer, press, elsewhere
):
    viewer.open_sample("napari-cosparse", "displaced_scene")
    named(viewer, "depth").translate = (17e3, 8.5e3)
    press(register_panel)
    script = register_panel.python()
    assert "'sample': ('napari-cosparse', 'displaced_scene')" in script
    other = elsewhere(script.replace("nc.register(", "fake("), fake=fake.whole)
    assert [layer.name for layer in other.layers] == ["photo", "depth", "depth [registered]"]
    assert_same(named(viewer, "depth [registered]"), named(other, "depth [registered]"))


def test_layers_that_came_from_nowhere_say_what_to_do_first(
    register_panel, fake, viewer, scene, press, elsewhere, tmp_path, monkeypatch
):
    add_turned(viewer, scene)
    press(register_panel)
    script = register_panel.python()
    monkeypatch.chdir(tmp_path)
    for name in ("photo", "depth"):
        line = f"# numpy.save('{name}.npy', viewer.layers['{name}'].data)"
        assert line in script
        np.save(f"{name}.npy", named(viewer, name).data)
    other = elsewhere(script.replace("nc.register(", "fake("), fake=fake.whole)
    assert_same(named(viewer, "depth [registered]"), named(other, "depth [registered]"))
    assert other.layers["photo"].rgb


def test_what_is_not_trusted_is_moved_only_where_the_panel_did(
    register_panel, fake, viewer, scene, press
):
    add_turned(viewer, scene)
    fake.trusted = False
    press(register_panel)

    def run():
        script = register_panel.python().replace("nc.register(", "fake(")
        exec(script, {"fake": fake.whole})  # noqa: S102

    run()
    assert len(viewer.layers) == 2
    register_panel.tools.put()
    run()
    assert len(viewer.layers) == 4


def test_other_settings_than_those_that_were_moved_anyway_are_guarded(
    register_panel, fake, viewer, scene, press
):
    """Nobody has insisted on what they give."""
    add_turned(viewer, scene)
    viewer.add_shapes([CORNERS], shape_type="polygon", name="roi", rotate=3, **PLACE)
    form, guard = register_panel.form, "if found.trusted:"
    fake.trusted = False
    press(register_panel)
    assert guard in register_panel.python()
    register_panel.tools.put()
    assert guard not in register_panel.python()
    form.resample.value = True  # says nothing of the motion
    assert guard not in register_panel.python()
    group = form.group.value
    form.group.value = "A"
    assert guard in register_panel.python()
    form.group.value = group
    assert guard not in register_panel.python()
    form.mask_fixed.value = named(viewer, "roi")
    assert guard in register_panel.python()
    form.mask_fixed.value = None
    named(viewer, "depth").translate = (3e3, 2e3)
    assert guard in register_panel.python()
    named(viewer, "depth").translate = (3e3, 1e3)
    assert guard not in register_panel.python()
    form.group.value = "A"
    register_panel.job()  # and it is cancelled before a motion is found
    assert guard in register_panel.python()
    form.insist.value = True
    assert guard not in register_panel.python()


def test_script_after_cancel_moves_nothing_where_the_panel_moved_nothing(
    register_panel, fake, viewer, scene
):
    add_turned(viewer, scene)
    register_panel.choose(named(viewer, "photo"), named(viewer, "depth"))
    found = register_panel.found_by(UNEVEN, {"cancelled": True, "trusted": False, "because": "-"})
    register_panel.tools.take(found)
    script = register_panel.python()
    exec(script, {})  # noqa: S102
    assert len(viewer.layers) == 2
    exec(script.replace("trusted = False", "trusted = True"), {})  # noqa: S102
    assert len(viewer.layers) == 3


@pytest.mark.parametrize("way", ["Load", "Invert"])
def test_script_of_a_transform_that_no_run_gave_moves_by_it(
    register_panel, fake, viewer, scene, press, tmp_path, way
):
    add_turned(viewer, scene)
    register_panel.choose(named(viewer, "photo"), named(viewer, "depth"))
    press(register_panel)
    if way == "Load":
        np.savetxt(tmp_path / "own.txt", [[1, 0, 5.25], [0, 1, -9], [0, 0, 1]])
        register_panel.tools.load(str(tmp_path / "own.txt"))
    else:
        register_panel.tools.buttons["Invert"].click()
    made, calls = getattr(viewer.layers[-1], "__wrapped__", viewer.layers[-1]), len(fake.calls)
    script = register_panel.python()
    assert "nc.register(" not in script
    assert not unused(script)
    exec(script, {})  # noqa: S102
    again = getattr(viewer.layers[-1], "__wrapped__", viewer.layers[-1])
    assert_same(made, again)
    assert len(fake.calls) == calls


def test_script_after_cancel_moves_by_the_best_so_far(register_panel, fake, viewer, scene):
    add_turned(viewer, scene)
    register_panel.choose(named(viewer, "photo"), named(viewer, "depth"))
    found = register_panel.found_by(UNEVEN, {"cancelled": True, "trusted": False, "because": "-"})
    register_panel.tools.take(found)
    register_panel.tools.put()
    made = getattr(viewer.layers[-1], "__wrapped__", viewer.layers[-1])
    exec(register_panel.python(), {})  # noqa: S102
    assert_same(made, getattr(viewer.layers[-1], "__wrapped__", viewer.layers[-1]))
    assert not fake.calls
