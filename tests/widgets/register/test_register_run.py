"""The registration panel with the real core, on layers as users have them."""

import dask.array as da
import numpy as np
import pytest
from napari.layers import Image

from napari_cosparse.core.registration import apply_transform
from napari_cosparse.core.registration._frame import corner_motion
from napari_cosparse.io import make_scene
from napari_cosparse.layers import METADATA_KEY


def corner_error(viewer, new, true_world, shape, pixel):
    """Mean distance of the corners from where they belong, in pixels."""
    corners = np.array([[r, c] for r in (0, shape[0] - 1) for c in (0, shape[1] - 1)])
    found = np.array([new.data_to_world(corner) for corner in corners])
    return np.linalg.norm(found - np.array([true_world(c) for c in corners]), axis=1).mean() / pixel


def test_displaced_sample_comes_to_its_place(register_panel, viewer, press):
    """Different units, a rotated layer; sample to result as in the tutorial."""
    viewer.open_sample("napari-cosparse", "displaced_scene")
    press(register_panel)
    assert register_panel.message.text().startswith("Trusted")
    new = viewer.layers["depth [registered]"]
    error = corner_error(viewer, new, lambda p: (12 + 0.5 * p[0], 16 + 0.5 * p[1]), (336, 448), 0.5)
    assert error < 1.0
    costs = register_panel.plot.lines[""]
    assert len(costs) > 3
    assert f"cost {costs[0]:.4g} to {costs[-1]:.4g}" in register_panel.message.text()
    assert register_panel.plot.heading.endswith(f"   {costs[0]:.4g} ... {costs[-1]:.4g}")
    assert max(costs) == costs[0]  # the same cost all along: it falls
    assert costs[1] - costs[-1] < (costs[0] - costs[-1]) / 2
    record = new.metadata[METADATA_KEY]
    assert record["parameters"]["group"] == "SE"


def test_cancel_keeps_the_best_of_a_real_run(register_panel, viewer, qtbot):
    """It is cancelled while a finer resolution is refined: by then the place is about right."""
    viewer.open_sample("napari-cosparse", "displaced_scene")
    late = []

    def watch(progress):
        if progress.stage.startswith("refine at") and not late:
            late.append(progress)
            register_panel.button.click()

    register_panel.runner.stepped.connect(watch)
    register_panel.button.click()
    qtbot.waitUntil(lambda: not register_panel.runner.running, timeout=120_000)
    assert "cancelled before its result was judged" in register_panel.message.text()
    assert len(viewer.layers) == 2
    register_panel.tools.buttons["Move anyway"].click()
    new = viewer.layers["depth [registered]"]
    error = corner_error(viewer, new, lambda p: (12 + 0.5 * p[0], 16 + 0.5 * p[1]), (336, 448), 0.5)
    assert error < 8.0
    assert new.metadata[METADATA_KEY]["trusted"] is False


def test_noise_is_not_moved(register_panel, viewer, press):
    """R07."""
    scene = make_scene((100, 120))
    viewer.add_image(scene.guide, rgb=True, name="photo")
    noise = np.random.default_rng(0).normal(size=(90, 110))
    viewer.add_image(noise, name="noise")
    register_panel.choose(viewer.layers["photo"], viewer.layers["noise"])
    press(register_panel)
    assert register_panel.message.text().startswith("Not trusted")
    assert len(viewer.layers) == 2


def test_affine_motion_never_flips_a_symmetric_object(register_panel, viewer, press):
    """G15: upside down it looks nearly the same."""
    rows, columns = np.mgrid[-60:60, -70:70] / 40.0
    picture = np.exp(-((rows**2 + 0.5 * columns**2 - 1) ** 2) * 8) + 0.1 * columns
    viewer.add_image(picture, name="a")
    viewer.add_image(np.abs(picture - 0.4)[4:-6, 5:-3], name="b")
    form = register_panel.form
    register_panel.choose(viewer.layers["a"], viewer.layers["b"])
    form.group.value, form.verdict.value, form.insist.value = "A", False, True
    press(register_panel)
    matrix = np.array(viewer.layers[-1].metadata[METADATA_KEY]["matrix"])
    assert np.linalg.det(matrix[:2, :2]) > 0


def test_script_finds_the_same_matrix(register_panel, viewer, press):
    scene = make_scene((160, 200))
    register_panel.form.verdict.value = False
    viewer.add_image(scene.guide, rgb=True, name="photo", scale=(2, 2))
    viewer.add_image(scene.depth[10:150, 8:180], name="depth", scale=(2, 2), translate=(25, 10))
    register_panel.form.insist.value = True
    press(register_panel)
    exec(register_panel.python(), {})  # noqa: S102
    made, again = list(viewer.layers)[-2:]
    np.testing.assert_array_equal(again.affine.affine_matrix, made.affine.affine_matrix)


def test_constant_image_is_said_once(register_panel, viewer, press, notifications):
    """R12."""
    viewer.add_image(make_scene((120, 140)).guide, rgb=True, name="photo")
    viewer.add_image(da.ones((100, 120)), name="depth", contrast_limits=(0, 1))  # not looked at
    register_panel.choose(viewer.layers["photo"], viewer.layers["depth"])
    press(register_panel)
    text = register_panel.message.text()
    assert text == (
        "Not trusted: the moving image is constant: there is nothing to register. "
        "Nothing was moved."
    )
    assert not register_panel.message.toolTip()
    assert not notifications
    assert len(viewer.layers) == 2


def test_mask_that_is_too_small_is_told_before_the_run(register_panel, viewer):
    """M02."""
    scene = make_scene((120, 140))
    viewer.add_image(scene.guide, rgb=True, name="photo")
    viewer.add_image(scene.depth, name="depth")
    viewer.add_labels(np.eye(3, dtype=int), name="mask")
    register_panel.choose(viewer.layers["photo"], viewer.layers["depth"])
    (register_panel.form.mask_fixed.value,) = [
        layer for layer in viewer.layers if layer.name == "mask"
    ]
    assert "'mask' leaves at most 3 pixels of 'photo'; at least 256" in register_panel.about.text()
    assert not register_panel.button.isEnabled()


@pytest.mark.parametrize("flip", [1, -1])
def test_sheared_layer_is_moved_rigidly_in_the_world(register_panel, viewer, press, flip):
    """Its pixels are parallelograms: no rigid motion between pixels would fit."""
    scene = make_scene((200, 240), seed=1)
    place = {"scale": (0.5, flip * 0.6), "shear": [0.25], "units": "um"}
    axes = np.array([Image(np.zeros((2, 2)), **place).data_to_world(p) for p in np.eye(2)]).T
    c, s = 0.5 * np.cos(0.12), 0.5 * np.sin(0.12)
    truth = np.eye(3)
    truth[:2, :2] = np.linalg.solve(axes, [[c, -s], [s, c]])
    truth[:2, 2] = (100, 110) - truth[:2, :2] @ (99.5, 119.5)
    viewer.add_image(scene.guide, rgb=True, name="photo", scale=(0.5, 0.5), units="um")
    moving = apply_transform(scene.depth.astype(float), np.linalg.inv(truth), shape=(200, 220))
    viewer.add_image(moving, name="depth", **place)
    register_panel.choose(viewer.layers["photo"], viewer.layers["depth"])
    press(register_panel)
    text = register_panel.message.text()
    assert text.startswith("Trusted"), text
    found = register_panel.tools.found.matrix
    assert corner_motion(found, truth, (200, 240)) < 0.5
