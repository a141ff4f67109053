"""Targets that are turned, sheared or mirrored against the guide, up to register -> upsample."""

import numpy as np
import pytest
from scipy.ndimage import uniform_filter

from napari_cosparse.core.reconstruction import upsample
from napari_cosparse.core.registration import apply_transform
from napari_cosparse.io import load_operators, make_scene
from napari_cosparse.layers import METADATA_KEY
from napari_cosparse.tiles import open_levels

GUIDE = {"scale": (0.5, 0.8), "rotate": 25, "translate": (30, -7), "shear": [0.1], "units": "um"}


def sampled(depth, matrix, shape):
    """Take box-averaged samples of a depth image at turned places: target pixel -> guide pixel."""
    steps = np.rint(np.linalg.norm(matrix[:2, :2], axis=0)).astype(int)
    return apply_transform(uniform_filter(depth, steps), matrix, shape=shape).astype(np.float32)


def lying(angle=12.0, step=4.0, corner=(6.0, 10.0), flip=1):
    """Target pixel to guide pixel."""
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    matrix = np.eye(3)
    matrix[:2, :2] = step * np.array([[c, -s * flip], [s, c * flip]])
    matrix[:2, 2] = corner
    return matrix


def world_of(layer):
    """Read the whole map of a layer off the viewer."""
    origin = np.array(layer.data_to_world((0, 0)))
    axes = [np.array(layer.data_to_world(p)) - origin for p in ((1, 0), (0, 1))]
    return np.vstack([np.column_stack([*axes, origin]), [0, 0, 1]])


@pytest.fixture
def turned(viewer, scene, panel):
    """A guide that is turned in the world, and a target in nm that lies turned on it."""
    matrix = lying()
    guide = viewer.add_image(scene.guide, name="guide", rgb=True, **GUIDE)
    low = sampled(scene.depth, matrix, (14, 18))
    world = np.diag([1e3, 1e3, 1]) @ world_of(guide) @ matrix
    viewer.add_image(low, name="low", affine=world, units="nm", colormap="magma")
    panel.form.target.value = panel.form.target.choices[1]
    panel.form.guide.value = panel.form.guide.choices[0]
    return panel


def test_turned_target_is_upsampled_onto_the_guides_grid(turned, viewer, scene, run):
    guide, low = viewer.layers
    transform = np.linalg.inv(world_of(low)) @ np.diag([1e3, 1e3, 1]) @ world_of(guide)
    assert "The target is turned by" in turned.about.text()
    assert "sheared against the guide, factor 4 x 4 along its own axes" in turned.about.text()
    assert "far from it stays NaN" in turned.about.text()
    run()
    result = viewer.layers[-1]
    operators = load_operators("intensity-depth")
    expected = upsample(low.data, scene.guide, operators, transform=transform).image
    np.testing.assert_allclose(result.data, expected, atol=1e-3 * np.ptp(scene.depth))
    assert np.isnan(result.data).any()
    np.testing.assert_allclose(result.data_to_world((7, 9)), guide.data_to_world((7, 9)))
    assert result.units == guide.units
    assert result.colormap.name == "magma"
    told = result.metadata[METADATA_KEY]["parameters"]
    np.testing.assert_allclose(told["transform"], transform, atol=1e-9)
    error = np.abs(result.data - scene.depth)[np.isfinite(result.data)]
    assert np.median(error) < 0.01 * np.ptp(scene.depth)


def test_rows_without_a_say_are_disabled_with_the_reason(turned, viewer):
    form = turned.form
    for name in ("factor", "origin", "phase"):
        assert not form.row(name).enabled
        assert "turned by" in form.row(name).tooltip
    assert form.factor.native.placeholderText() == "4, 4"
    assert form.origin.native.placeholderText() == "6, 10"
    assert len(form.transform.native.placeholderText().split(";")) == 2
    form.positions.value = False
    for name in ("factor", "origin", "phase"):
        assert form.row(name).enabled
        assert "turned by" not in form.row(name).tooltip
    assert "same field of view" in turned.about.text()


def test_transform_can_be_typed(turned, viewer, scene, run):
    turned.form.transform.value = "0.25, 0, 0; 0, 0.25, 0"
    assert "lies as the typed transform says" in turned.about.text()
    run()
    transform = np.diag([0.25, 0.25, 1])
    low = viewer.layers["low"].data
    expected = upsample(low, scene.guide, load_operators("intensity-depth"), transform=transform)
    np.testing.assert_array_equal(viewer.layers[-1].data, expected.image)
    for text, word in (
        ("1, 2, 3", "six numbers"),
        ("1,0,0;x", "six numbers"),
        ("1,0,0; 2,0,0", "singular"),
    ):
        turned.form.transform.value = text
        assert word in turned.about.text()
        assert not turned.button.isEnabled()


def test_preview_of_a_turned_target_is_a_part_of_the_result(turned, viewer, scene, qtbot, run):
    turned.form.noise.value = "0"
    turned.preview_button.click()
    qtbot.waitUntil(lambda: not turned.runner.running, timeout=60_000)
    assert turned.message.text().startswith("Preview of the middle of the guide.")  # out of view
    preview = viewer.layers[-1]
    there = preview.data_to_world((3, 4))
    run()
    result = viewer.layers[-1]
    first = np.rint(result.world_to_data(there)).astype(int) - (3, 4)
    part = np.s_[first[0] :, first[1] :]
    whole = result.data[part][: preview.data.shape[0], : preview.data.shape[1]]
    assert np.nanmean(np.abs(whole - preview.data)) < 0.1 * np.nanstd(whole)


@pytest.mark.parametrize("store", [False, True])
def test_script_has_the_transform(turned, viewer, run, store, tmp_path):
    turned.form.noise.value = "0"
    if store:
        turned.form.output.value = "store"
        turned.form.store.value = str(tmp_path / "a.zarr")
    assert "transform=" in turned.python()
    run()
    made = np.asarray(viewer.layers[-1].data)
    if store:
        turned.form.store.value = str(tmp_path / "b.zarr")
    exec(turned.python(), {})  # noqa: S102
    again = open_levels(tmp_path / "b.zarr")[0] if store else viewer.layers[-1].data
    np.testing.assert_array_equal(made, np.asarray(again))


def test_mirrored_target_is_upsampled(viewer, scene, panel, run):
    """G13: rows run along, columns run backwards."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.coarse, name="plain", scale=(4, 4), translate=(1.5, 1.5))
    run()
    flipped = {"scale": (4, -4), "translate": (1.5, 1.5 + 4 * (scene.coarse.shape[1] - 1))}
    viewer.add_image(scene.coarse[:, ::-1].copy(), name="mirrored", **flipped)
    panel.form.target.value = viewer.layers["mirrored"]
    assert "The target is mirrored left to right against the guide" in panel.about.text()
    run()
    one, two = viewer.layers["plain [upsampled]"], viewer.layers["mirrored [upsampled]"]
    difference = np.abs(one.data - two.data)
    assert np.median(difference) < 1e-3 * np.ptp(scene.depth)


def test_turned_target_beside_the_guide_or_finer_is_told(turned, viewer):
    low = viewer.layers["low"]
    before = low.affine.affine_matrix.copy()
    moved = before.copy()
    moved[0, 2] += 1e6
    low.affine = moved
    assert "does not lie on the guide" in turned.about.text()
    low.affine = before @ np.diag([0.1, 0.1, 1])
    assert "finer than the guide" in turned.about.text()
    assert not turned.button.isEnabled()
    assert turned.form.factor.enabled


def test_target_that_is_turned_cannot_be_learned_from(learn_panel, viewer, scene):
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.depth, name="depth", rotate=10)
    learn_panel.form.pairs.value = [tuple(viewer.layers)]
    assert "do not lie on one another" in learn_panel.about.text()


def test_register_then_upsample(register_panel, panel, viewer, press):
    """From a wrong placement to a fine image: nm and um, anisotropic, turned, other pixel size."""
    scene = make_scene((336, 448))
    matrix = lying(angle=7.0, step=2.0, corner=(24.0, 50.0))
    low = sampled(scene.depth, matrix, (140, 190))
    photo = viewer.add_image(scene.guide, name="photo", rgb=True, scale=(0.5, 0.5), units="um")
    # Its own axes run along the world's: nobody knows yet that it is turned.
    viewer.add_image(low, name="depth", scale=(1e3, 1e3), translate=(16e3, 21e3), units="nm")
    register_panel.choose(photo, viewer.layers["depth"])
    register_panel.form.verdict.value = False  # so small an image is right, but not trusted
    press(register_panel)
    register_panel.tools.buttons["Move anyway"].click()
    registered = viewer.layers["depth [registered]"]
    panel.form.target.value = getattr(registered, "__wrapped__", registered)
    panel.form.guide.value = getattr(photo, "__wrapped__", photo)
    assert "turned by" in panel.about.text()
    press(panel)
    result = viewer.layers["depth [registered] [upsampled]"]
    np.testing.assert_allclose(result.data_to_world((50, 60)), photo.data_to_world((50, 60)))
    known = np.isfinite(result.data)
    assert known.mean() > 0.5
    true = np.asarray(np.linalg.inv(matrix))
    found = np.asarray(result.metadata[METADATA_KEY]["parameters"]["transform"])
    corners = np.array([[r, c, 1] for r in (60, 250) for c in (80, 380)])
    assert np.abs((found - true) @ corners.T).max() < 1.5  # target pixels
    error = np.abs(result.data - scene.depth)[known]
    assert np.median(error) < 0.01 * np.ptp(scene.depth)
