"""The registration panel's own logic, in a real viewer; a fake registration is told its answer.

What the core finds on real images is tested in `test_register_run.py`.
"""

import dataclasses
import json
import threading

import dask.array as da
import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from napari_cosparse import api
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import ALLOW, JUDGE, RegisterSettings
from napari_cosparse.layers import METADATA_KEY
from support.fake_registration import FakeRegister

MATRIX = np.array([[0.8, -0.6, 6], [0.6, 0.8, -3], [0, 0, 1]])
PLACE = {"scale": (0.5, 0.5), "units": "um"}
NOT_OFFERED = {
    *("initial", "points", "search", "invalid", "region"),
    *("pixel_size_fixed", "pixel_size_moving"),
}
OWN = {
    *("fixed", "moving", "fixed_level", "moving_level", "start", "points_fixed", "points_moving"),
    *("invalid_fixed", "invalid_moving", "resample", "insist", "operator_file"),
}


@pytest.fixture
def fake(monkeypatch):
    """Make the facade find MATRIX; other answers are set on it."""
    found = FakeRegister(MATRIX)
    monkeypatch.setattr(api, "register_steps", lambda *a, **k: found.steps(*a, **k))
    return found


@pytest.fixture
def filled(fake, register_panel, viewer, scene):
    """The panel on a colour image in um and a turned depth image in nm."""
    viewer.add_image(scene.guide, name="photo", rgb=True, **PLACE)
    turned = {"scale": (250, 250), "translate": (3e3, 1e3), "rotate": 20, "units": "nm"}
    viewer.add_image(scene.depth[:50], name="depth", colormap="magma", **turned)
    return register_panel


def by_name(viewer, name):
    (found,) = [layer for layer in viewer.layers if layer.name == name]
    return found


def lies_on_fixed(new, fixed, matrix=MATRIX):
    for pixel in ((0, 0), (10, 40), (33.5, 7)):
        there = matrix @ [*pixel, 1]
        np.testing.assert_allclose(
            new.data_to_world(there[:2]), fixed.data_to_world(pixel), atol=1e-9
        )


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
    assert "same layer" in register_panel.about.text()
    assert not register_panel.button.isEnabled()
    assert not any(b.isEnabled() for b in register_panel.tools.buttons.values())


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


def test_untrusted_result_moves_nothing_unless_the_user_insists(filled, fake, viewer, press):
    """R07: said, not done."""
    fake.trusted, fake.because = False, "two starts are equally good"
    press(filled)
    assert len(viewer.layers) == 2
    assert "Not trusted: two starts are equally good" in filled.message.text()
    assert "What helps: drag the layer near its place" in filled.message.text()
    assert "error about" not in filled.message.text()  # of a wrong place it says nothing
    assert filled.message.text().endswith("Nothing was moved: press Move anyway to see it.")
    button = filled.tools.buttons["Move anyway"]
    assert button.isEnabled()
    button.click()
    assert len(viewer.layers) == 3
    assert filled.message.text().endswith("Moved all the same.")
    assert "Nothing was moved" not in filled.message.text()
    assert viewer.layers[-1].metadata[METADATA_KEY]["trusted"] is False
    filled.form.insist.value = True
    press(filled)
    assert len(viewer.layers) == 4


HELPS = "What helps: drag the layer near its place or set points (see Start), or mask what only"
LANDS = "by edges, it lands 45 px away if registered the other way round (limit 2 px)"
MIRROR = "the moving image is a mirror image; "
BURNT = "73% of what agrees lies in 5% of the picture, but another place fits the rest better"


@pytest.mark.parametrize(
    ("because", "told", "more"),
    [
        (f"{LANDS}, and no other place fits: give a start", f"{LANDS}. {HELPS}", "no other place"),
        (f"{LANDS}; with 30% covered: give a start", f"{LANDS}. {HELPS}", "with 30% covered"),
        (f"{MIRROR}{LANDS}; refined: give a start", f"{MIRROR}{LANDS}. {HELPS}", "refined"),
        (f"{LANDS}: give a start or landmarks", f"{LANDS}. {HELPS}", "83% of the fixed image"),
        (
            f"{BURNT}; the start is kept: if that is a caption, mask it",
            f"{BURNT}. What helps: if that is a caption, mask it",
            "the start is kept",
        ),
        (
            f"nothing was checked: {JUDGE}",
            "nothing was checked. What helps: turn on Advanced > Judge the result. Nothing was",
            "83% of the fixed image covered; next best place 30% worse. In pixels: rotation 36.87",
        ),
        (
            f"a mirror image: {ALLOW}",
            "a mirror image. What helps: flip it, or tick Advanced > Allow a mirror image. Nothing",
            "36.87",
        ),
    ],
)
def test_what_decided_and_what_helps_are_told_and_the_rest_in_a_tool_tip(
    filled, fake, press, because, told, more
):
    fake.trusted, fake.because = False, because
    press(filled)
    message = filled.message
    assert message.text().startswith(f"Not trusted: {told}")
    assert more in message.toolTip()
    assert more not in message.text()
    assert not any(word in message.text() + message.toolTip() for word in ("=True", "--"))
    fake.trusted = True
    press(filled)
    assert not message.toolTip()


def test_verdict_of_a_file_is_told_in_words_of_the_panel(filled, fake, press, tmp_path):
    fake.trusted, fake.because = False, f"nothing was checked: {JUDGE}"
    press(filled)
    filled.tools.save(str(tmp_path / "t.json"))
    filled.tools.load(str(tmp_path / "t.json"))
    assert "says the file: nothing was checked: turn on Advanced >" in filled.message.text()
    assert "verdict=True" not in filled.message.text()


def test_next_run_after_a_failed_one_is_as_in_a_fresh_session(filled, fake, viewer, press):
    """R08."""
    fake.trusted = False
    press(filled)
    fake.trusted = True
    press(filled)
    lies_on_fixed(viewer.layers[-1], viewer.layers[0])
    np.testing.assert_array_equal(fake.calls[0][3]["initial"], fake.calls[1][3]["initial"])


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
def test_shear_is_told_of_a_result_that_is_not_trusted(filled, fake, viewer, press, trusted):
    """It may be why nothing fits: a rigid motion is one of the world as it is displayed."""
    viewer.layers["depth"].shear = [0.2]
    fake.trusted = trusted
    press(filled)
    assert ("sheared against one another" in filled.message.text()) != trusted


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
    told = f"The {which} layer is displayed mirrored (negative scale), and stays so"
    assert told in filled.about.text()
    assert "Allow a mirror image" in filled.about.text()
    press(filled)
    assert "displayed mirrored" not in filled.message.text()
    fake.trusted = False
    press(filled)
    assert told in filled.message.text()


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


def test_points_are_a_start(filled, fake, viewer, press):
    filled.form.start.value = "points"
    assert "two layers of points" in filled.about.text()
    viewer.add_points([[5, 5], [20, 10]], name="a", **PLACE)
    viewer.add_points([[1, 2], [3, 4]], name="b", scale=(250, 250), units="nm")
    ours, theirs = list(viewer.layers)[-2:]
    filled.form.points_fixed.value, filled.form.points_moving.value = ours, theirs
    press(filled)
    first, second = fake.calls[0][3]["points"]
    np.testing.assert_allclose(first, [[5, 5], [20, 10]])
    moving = by_name(viewer, "depth")
    np.testing.assert_allclose([moving.data_to_world(p) for p in second], [[250, 500], [750, 1000]])
    viewer.layers["b"].data = [[1, 2]]
    assert "same number" in filled.about.text()


def test_fit_of_the_points_is_told_before_and_after(filled, fake, viewer, press):
    """Distances in square moving pixels and in the fixed layer's unit, for the motion chosen."""
    ours = np.array([[5, 5], [20, 10], [40, 70], [10, 60], [50, 30]], float)
    depth, form = viewer.layers["depth"], filled.form
    theirs = (np.c_[ours, np.ones(5)] @ MATRIX.T)[:, :2] * 2  # rigid in um: pixels half as large
    theirs[2] += (6, 8)
    viewer.add_points(ours, name="a", **PLACE)
    lies = {"scale": depth.scale, "translate": depth.translate, "rotate": 20, "units": "nm"}
    viewer.add_points(theirs, name="b", **lies)
    assert "pairs of points" not in filled.about.text()
    form.start.value = "points"
    assert (form.points_fixed.value.name, form.points_moving.value.name) == ("a", "b")
    about = filled.about.text()
    centred = [points - points.mean(0) for points in (2 * ours, theirs)]
    left = centred[0] @ orthogonal_procrustes(*centred)[0] - centred[1]
    far = np.linalg.norm(left, axis=1)
    rms = np.sqrt((far**2).mean())
    told = f"{rms:.2g} px ({rms / 4:.2g} micrometer; worst: number 3, {far[2]:.2g} px)"
    assert f"5 pairs of points fit to {told}." in about
    viewer.layers["a"].data, viewer.layers["b"].data = ours[:2], theirs[:2]
    assert "2 pairs of points fit to" in filled.about.text()
    form.group.value = "similarity"
    assert "2 pairs of points fit exactly, as any would with this motion" in filled.about.text()
    viewer.layers["a"].data, viewer.layers["b"].data = ours, theirs
    fake.matrix = np.diag([2, 2, 1.0]) @ MATRIX
    press(filled)
    told = "then miss one another by 4.5 px (1.1 micrometer; worst: number 3, 10 px)."
    assert told in filled.message.text()


def test_one_layer_of_points_for_both_images_is_told(filled, viewer):
    form = filled.form
    form.start.value = "points"
    viewer.add_points([[5, 5], [20, 10]], name="a", **PLACE)
    assert "'a' is chosen for both images" in filled.about.text()
    assert not filled.button.isEnabled()
    viewer.add_points([[5, 5], [20, 10]], name="b", **PLACE)
    assert (form.points_fixed.value.name, form.points_moving.value.name) == ("a", "b")
    form.points_moving.value = form.points_fixed.value = by_name(viewer, "b")
    assert "'b' is chosen for both images" in filled.about.text()


def test_masks_reach_the_core_in_pixels_of_their_image(filled, fake, viewer, press):
    """M01, M03."""
    corners = [[2, 3], [2, 28], [27, 28], [27, 3]]
    viewer.add_shapes(corners, shape_type="polygon", name="roi", **PLACE)
    labels = np.zeros((50, 96), int)
    labels[10:20] = 3
    depth = viewer.layers["depth"]
    turned = {"scale": depth.scale, "translate": depth.translate, "rotate": 20, "units": "nm"}
    viewer.add_labels(labels, name="part", **turned)
    filled.form.mask_fixed.value = by_name(viewer, "roi")
    filled.form.mask_moving.value = by_name(viewer, "part")
    press(filled)
    keywords = fake.calls[0][3]
    assert keywords["mask_fixed"].shape == (64, 96)
    assert keywords["mask_fixed"].sum() == 26**2
    np.testing.assert_array_equal(keywords["mask_moving"], labels > 0)


def test_mask_beside_the_image_is_told_before_the_run(filled, viewer):
    viewer.add_shapes([[900, 900], [900, 950], [950, 950]], shape_type="polygon", name="roi")
    filled.form.mask_fixed.value = by_name(viewer, "roi")
    assert "Nothing drawn on 'roi' lies on 'photo'" in filled.about.text()
    assert not filled.button.isEnabled()


def test_mask_that_is_painted_enables_run(filled, viewer, qtbot):
    viewer.add_labels(np.zeros((64, 96), int), name="roi", **PLACE)
    roi = by_name(viewer, "roi")
    filled.form.mask_fixed.value = roi
    assert "Nothing drawn" in filled.about.text()
    roi.brush_size = 9
    roi.paint((30, 40), 1)
    qtbot.waitUntil(lambda: "at least 256 are needed" in filled.about.text())
    assert not filled.button.isEnabled()
    roi.brush_size = 40
    roi.paint((30, 40), 1)
    qtbot.waitUntil(filled.button.isEnabled)
    roi.undo()  # tells nobody
    filled.enterEvent(None)
    assert not filled.button.isEnabled()


@pytest.mark.parametrize(
    ("shape", "place", "told"),
    [
        ((12, 80), PLACE, "'small' has 12 x 80 pixels; at least 16 along each side are needed"),
        ((40, 40), {"scale": (0.1, 0.1), "units": "um"}, "which is 8 x 8 of those"),
        ((400, 400), {"scale": (9, 9), "units": "nm"}, "which is 8 x 8 of those"),
    ],
)
def test_image_that_is_too_small_is_told_before_the_run(filled, viewer, shape, place, told):
    viewer.add_image(np.zeros(shape), name="small", **place)
    filled.choose(by_name(viewer, "photo"), by_name(viewer, "small"))
    assert told in filled.about.text()
    assert not filled.button.isEnabled()


FLAT = np.full((50, 60), 7.0)


@pytest.mark.parametrize("role", ["fixed", "moving"])
@pytest.mark.parametrize(
    ("pixels", "told"),
    [
        (FLAT, "'flat' is constant (7): there is nothing to register"),
        (FLAT * np.nan, "'flat' has no known pixels, and at least 256 are needed"),
        (np.where(np.arange(60) < 4, np.eye(50, 60), np.nan), "'flat' has 200 known pixels"),
        (np.zeros((50, 60, 3), np.uint8), "'flat' is constant (0)"),
        (np.stack([np.eye(50, 60), FLAT]), "the shown plane of 'flat' is constant (7)"),
    ],
)
def test_image_without_anything_is_told_before_the_run(filled, viewer, pixels, told, role):
    viewer.add_image(pixels, name="flat", rgb=pixels.shape[-1] == 3)
    other, flat = by_name(viewer, "depth"), by_name(viewer, "flat")
    filled.choose(*((flat, other) if role == "fixed" else (other, flat)))
    viewer.dims.set_current_step(0, 1)
    assert told in filled.about.text()
    assert "choose another" in filled.about.text()
    assert not filled.button.isEnabled()
    if "plane" in told:
        viewer.dims.set_current_step(0, 0)
        assert filled.button.isEnabled()


def test_image_with_one_pixel_that_differs_may_be_run(filled, viewer):
    """However rare it is: only what is surely nothing is refused."""
    pixels = np.zeros((300, 400), np.uint8)
    pixels[201, 333] = 1
    viewer.add_image(pixels, name="rare")
    filled.choose(by_name(viewer, "photo"), by_name(viewer, "rare"))
    assert filled.button.isEnabled(), filled.about.text()
    pixels[201, 333] = 0
    filled.refresh()
    assert not filled.button.isEnabled()


def test_unknown_value_counts_before_the_run(filled, viewer):
    viewer.add_image(np.where(np.arange(60) < 9, -1.0, FLAT), name="two values")
    filled.choose(by_name(viewer, "photo"), by_name(viewer, "two values"))
    assert filled.button.isEnabled(), filled.about.text()
    filled.form.invalid_moving.value = "-1"
    assert "'two values' is constant (7)" in filled.about.text()
    assert not filled.button.isEnabled()


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ((np.nan, 3), "point number 2 of the {} image is not finite: row nan, column"),
        ((5000, 3), "point number 2 lies further beside '{}' than that is large (1 of 3"),
        ((20, -400), "point number 2 lies further beside '{}' than that is large (1 of 3"),
        ((-20, 120), ""),
    ],
)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # napari's thumbnail of NaN
def test_point_that_cannot_be_meant_is_told_by_its_number(filled, viewer, place, told, which):
    points = [[5, 5], [20, 10], [40, 90]]
    for number, (name, image) in enumerate((("a", "photo"), ("b", "depth"))):
        layer, moved = viewer.layers[image], list(points)
        if number == which:
            moved[1] = place
        lies = {"translate": layer.translate, "units": layer.units, "affine": layer.affine}
        viewer.add_points(moved, name=name, scale=layer.scale, rotate=layer.rotate, **lies)
    filled.form.start.value = "points"
    names = ("fixed", "moving") if "finite" in told else ("photo", "depth")
    assert told.format(names[which]) in filled.about.text()
    assert filled.button.isEnabled() == (not told)


def test_points_that_are_too_few_for_the_motion_are_told_before_the_run(filled, viewer):
    for name in "ab":
        viewer.add_points([[5, 5], [20, 10]], name=name, **PLACE)
    form = filled.form
    form.start.value = "points"
    form.points_fixed.value, form.points_moving.value = by_name(viewer, "a"), by_name(viewer, "b")
    assert filled.button.isEnabled(), filled.about.text()
    form.group.value = "A"
    assert "needs at least 3" in filled.about.text()
    assert not filled.button.isEnabled()


def test_mirrored_layer_stays_mirrored(filled, fake, viewer, press):
    """G13: the core sees an image that is not mirrored; the result is right in the viewer."""
    depth = viewer.layers["depth"]
    depth.scale = (250, -250)
    assert "mirrored" in filled.about.text()
    press(filled)
    np.testing.assert_array_equal(fake.calls[0][1], depth.data[:, ::-1])
    flip = np.array([[1, 0, 0], [0, -1, 95], [0, 0, 1.0]])
    lies_on_fixed(viewer.layers[-1], viewer.layers["photo"], flip @ MATRIX)


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


def test_one_click_moves_other_layers(filled, viewer, press):
    """G20, K15."""
    press(filled)
    depth = by_name(viewer, "depth")
    common = {"scale": depth.scale, "translate": depth.translate, "rotate": 20, "units": "nm"}
    viewer.add_labels(np.eye(50, 96, dtype=int) * 5, name="cells", **common)
    viewer.add_points([[3, 4], [10, 2]], name="spots", **common)
    viewer.add_shapes([[0, 0], [0, 9], [9, 9]], shape_type="polygon", name="roi", **common)
    names = ["cells", "spots", "roi"]
    viewer.layers.selection = {by_name(viewer, name) for name in names}
    filled.form.resample.value = True
    filled.tools.buttons["Apply to selected"].click()
    assert filled.message.text().startswith("Moved: ")
    assert all(name in filled.message.text() for name in names)
    registered = by_name(viewer, "depth [registered]")
    for name in names:
        new = by_name(viewer, f"{name} [registered]")
        np.testing.assert_allclose(
            new.data_to_world((7, 9)), registered.data_to_world((7, 9)), atol=1e-9
        )
    resampled = by_name(viewer, "cells [resampled]")
    assert set(np.unique(np.asarray(resampled.data))) <= {0, 5}
    assert resampled.data.shape == (64, 96)


def test_nothing_selected_and_many_selected(filled, viewer, press):
    press(filled)
    viewer.layers.selection = set()
    filled.tools.buttons["Apply to selected"].click()
    assert filled.message.text().startswith("Select the layers to move in the layer list")
    viewer.layers.selection = {viewer.add_points([[n, n]], name=f"p{n}") for n in range(5)}
    filled.tools.buttons["Apply to selected"].click()
    assert filled.message.text() == "Moved: 5 layers."


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


def test_transform_is_saved_loaded_inverted_and_taken_back(filled, viewer, press, tmp_path):
    press(filled)
    photo, depth = list(viewer.layers)[:2]
    for ending in ("json", "txt", "tfm"):
        path = tmp_path / f"t.{ending}"
        filled.tools.save(str(path))
        filled.tools.load(str(path))
        lies_on_fixed(viewer.layers[-1], photo)
    filled.tools.buttons["Invert"].click()
    assert (filled.form.fixed.value, filled.form.moving.value) == (depth, photo)
    new = viewer.layers[-1]
    assert new.name == "photo [registered]"
    there = np.linalg.inv(MATRIX) @ [8, 9, 1]
    np.testing.assert_allclose(
        np.array(new.data_to_world(there[:2])), depth.data_to_world((8, 9)), atol=1e-6
    )
    count = len(viewer.layers)
    filled.tools.buttons["Reset"].click()
    assert len(viewer.layers) == count - 1
    assert new not in viewer.layers  # those of the transforms before stay, as the button says
    assert filled.message.text() == "Reset: 1 layer removed, the transform is forgotten."
    assert not filled.tools.buttons["Invert"].isEnabled()


@pytest.mark.parametrize("resample", [False, True])
def test_file_that_is_loaded_again_makes_no_more_layers(filled, viewer, press, tmp_path, resample):
    """Looks and names that the user gave the layer stay."""
    press(filled)
    path, plain = tmp_path / "t.json", tmp_path / "t.txt"
    filled.tools.save(str(path))
    filled.tools.save(str(plain))
    filled.form.resample.value = resample
    filled.tools.load(str(path))
    made = list(viewer.layers)[3:]
    assert len(made) == 1 + resample
    made[0].name, made[0].opacity = "mine", 0.5
    viewer.layers.selection.active = viewer.layers[0]
    filled.tools.load(str(path))
    assert list(viewer.layers)[3:] == made
    assert (made[0].name, made[0].opacity) == ("mine", 0.5)
    assert viewer.layers.selection.active == made[-1]
    filled.tools.load(str(plain))  # another file says so for itself
    assert len(viewer.layers) == 3 + 2 * len(made)
    filled.tools.load(str(path))
    filled.tools.buttons["Reset"].click()
    assert len(viewer.layers) == 3 + len(made)
    filled.tools.load(str(path))  # what was deleted is made again
    assert len(viewer.layers) == 3 + 2 * len(made)


@pytest.mark.parametrize("resample", [False, True])
def test_file_that_was_changed_moves_the_layer_that_it_made(
    filled, fake, viewer, press, tmp_path, resample
):
    filled.form.resample.value = resample
    other = np.linalg.inv(MATRIX)
    paths = tmp_path / "t.json", tmp_path / "other.json"
    for matrix, path in zip((MATRIX, other), paths, strict=True):
        fake.matrix = matrix
        press(filled)
        filled.tools.save(str(path))
        filled.tools.reset()
    photo, depth = viewer.layers
    filled.tools.load(str(paths[0]))
    made = list(viewer.layers)[2:]
    before = np.asarray(made[-1].data).copy()
    paths[0].write_bytes(paths[1].read_bytes())
    filled.tools.load(str(paths[0]))
    assert list(viewer.layers)[2:] == made
    lies_on_fixed(made[0], photo, other)
    record = made[0].metadata[METADATA_KEY]
    np.testing.assert_allclose(record["matrix"], other)
    assert np.array_equal(np.asarray(made[-1].data), before, equal_nan=True) is not resample
    filled.tools.reset()
    assert list(viewer.layers) == [photo, depth]


def test_layer_that_was_dragged_is_left_when_its_file_is_loaded_again(
    filled, viewer, press, tmp_path
):
    press(filled)
    path = tmp_path / "t.json"
    filled.tools.save(str(path))
    filled.tools.load(str(path))
    dragged = viewer.layers[-1]
    dragged.translate = dragged.translate + 7
    place = dragged.data_to_world((3, 4))
    filled.tools.load(str(path))
    assert len(viewer.layers) == 5
    assert dragged.data_to_world((3, 4)) == place
    lies_on_fixed(viewer.layers[-1], viewer.layers["photo"])
    filled.tools.load(str(path))
    assert len(viewer.layers) == 5


def test_text_is_that_of_the_transform_at_hand(filled, fake, viewer, press, tmp_path):
    press(filled)
    plain, judged = tmp_path / "id.txt", tmp_path / "id.json"
    filled.tools.save(str(plain))
    filled.tools.save(str(judged))
    filled.tools.load(str(plain))
    assert filled.message.text().startswith("Loaded from id.txt, not judged. In pixels: rotation")
    filled.tools.buttons["Invert"].click()
    assert filled.message.text().startswith("Inverted, photo onto depth: not judged. In pixels")
    filled.tools.buttons["Invert"].click()
    filled.tools.load(str(judged))
    text = filled.message.text()
    assert text.startswith("Loaded from id.json, trusted, says the file: all starts agree.")
    fake.trusted, fake.because = False, "two starts are equally good."
    press(filled)
    filled.tools.buttons["Invert"].click()
    text = filled.message.text()
    assert "not trusted, says the run before: two starts are equally good. In pixels" in text
    assert text.endswith("press Move anyway to see it.")


@pytest.mark.parametrize(("role", "name"), [("fixed", "photo"), ("moving", "depth")])
def test_inverse_of_layers_that_are_gone_is_told(filled, viewer, press, notifications, role, name):
    press(filled)
    viewer.layers.remove(name)
    before = list(viewer.layers)
    filled.tools.buttons["Invert"].click()
    assert filled.message.text().startswith(f"the {role} layer '{name}' of this transform is gone")
    assert len(notifications) == 1
    assert list(viewer.layers) == before


def test_comparison_by_eye(filled, viewer, press, qtbot):
    press(filled)
    filled.tools.buttons["Checkerboard"].click()
    board = viewer.layers[-1]
    photo = viewer.layers["photo"]
    assert board.data.shape == (64, 96)
    np.testing.assert_allclose(board.data_to_world((9, 8)), photo.data_to_world((9, 8)))
    assert board.data.min() >= 0
    assert board.data.max() <= 1
    registered = by_name(viewer, "depth [registered]")
    filled.tools.buttons["Flicker"].click()
    qtbot.waitUntil(lambda: not registered.visible, timeout=3000)
    filled.tools.buttons["Flicker"].click()
    assert registered.visible


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
    viewer.layers.remove("depth [registered]")
    buttons["Reset"].click()
    assert filled.message.text() == "Reset: 0 layers removed, the transform is forgotten."


def test_checkerboard_of_what_is_not_trusted_leaves_it_unmoved(filled, fake, viewer, press, qtbot):
    """What flickers is the moved layer, and nothing else counts as moved."""
    fake.trusted = False
    press(filled)
    buttons = filled.tools.buttons
    buttons["Checkerboard"].click()
    board = viewer.layers[-1]
    assert not buttons["Move anyway"].isHidden()
    assert buttons["Move anyway"].text() == "Move anyway"
    assert not buttons["Flicker"].isEnabled()
    filled.form.resample.value = True
    buttons["Move anyway"].click()
    buttons["Flicker"].click()
    made = [by_name(viewer, f"depth [{how}]") for how in ("registered", "resampled")]
    qtbot.waitUntil(lambda: not any(layer.visible for layer in made), timeout=3000)
    assert board.visible
    press(filled)  # another run ends the flicker
    assert all(layer.visible for layer in made)
    assert not buttons["Flicker"].isChecked()


def test_closed_panel_leaves_the_flickering_layer_visible(filled, viewer, press, qtbot):
    press(filled)
    filled.tools.buttons["Flicker"].click()
    moved = by_name(viewer, "depth [registered]")
    qtbot.waitUntil(lambda: not moved.visible, timeout=3000)
    viewer.window.remove_dock_widget(filled)
    assert moved.visible


def test_cancel_before_a_motion_keeps_the_transform_of_the_run_before(filled, fake, qtbot, press):
    press(filled)
    before = filled.tools.found
    fake.matrix = None
    cancel(filled, fake, qtbot)
    assert filled.message.text().startswith("Cancelled before a motion was found")
    assert filled.tools.found is before
    assert filled.tools.buttons["Flicker"].isEnabled()


def cancel(panel, fake, qtbot):
    """Press Run, then Cancel once the cost was seen."""
    fake.wait = threading.Event()
    panel.button.click()
    qtbot.waitUntil(lambda: len(panel.plot.lines.get("", ())) > 2, timeout=10_000)
    assert panel.button.text() == "Cancel"
    panel.button.click()
    fake.wait.set()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=10_000)


def test_cancel_offers_the_best_so_far_which_nobody_has_judged(
    filled, fake, viewer, qtbot, tmp_path
):
    cancel(filled, fake, qtbot)
    assert "Not trusted: the run was cancelled" in filled.message.text()
    assert "rotation 36.87 degrees" in filled.message.text()
    assert len(viewer.layers) == 2
    filled.tools.save(str(tmp_path / "best.json"))
    with pytest.raises(InputError, match="not trusted"):  # what other programs read cannot say so
        filled.tools.save(str(tmp_path / "best.tfm"))
    filled.tools.buttons["Move anyway"].click()
    lies_on_fixed(viewer.layers[-1], viewer.layers["photo"])
    record = viewer.layers[-1].metadata[METADATA_KEY]
    assert (record["trusted"], record["cancelled"]) == (False, True)
    filled.tools.load(str(tmp_path / "best.json"))
    assert "not trusted, says the file" in filled.message.text()
    assert len(viewer.layers) == 3


def test_best_so_far_is_moved_for_those_who_insist(filled, fake, viewer, qtbot):
    filled.form.insist.value = True
    cancel(filled, fake, qtbot)
    lies_on_fixed(viewer.layers[-1], viewer.layers["photo"])
    assert "Nothing was moved" not in filled.message.text()


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


@pytest.mark.parametrize(
    ("row", "text", "word"),
    [
        ("max_rotation", "270", "rotation"),
        ("max_scale", "x", "scale"),
        ("invalid_fixed", "?", "fixed"),
    ],
)
def test_wrong_setting_disables_run_with_its_reason(filled, row, text, word):
    getattr(filled.form, row).value = text
    assert word in filled.about.text()
    assert not filled.button.isEnabled()


def test_tools_without_a_transform_say_so(filled):
    with pytest.raises(InputError, match="no transform yet"):
        filled.tools.save("x.json")


def test_invert_gives_points_and_masks_to_the_sides_they_belong_to(filled, viewer, press):
    photo, depth = list(viewer.layers)[:2]
    ours = viewer.add_points([[1, 2], [30, 40]], name="ours")
    theirs = viewer.add_points([[3, 4], [30, 50]], name="theirs")
    mask = viewer.add_labels(np.ones(depth.data.shape, int), name="mask", scale=depth.scale)
    form = filled.form
    form.points_fixed.value, form.points_moving.value = ours, theirs
    form.mask_moving.value, form.invalid_moving.value = mask, "0"
    press(filled)
    filled.tools.buttons["Invert"].click()
    assert (form.fixed.value, form.moving.value) == (depth, photo)
    assert (form.points_fixed.value, form.points_moving.value) == (theirs, ours)
    assert (form.mask_fixed.value, form.mask_moving.value) == (mask, None)
    assert (form.invalid_fixed.value, form.invalid_moving.value) == ("0", "")


SIZES = {"pixel_size_fixed": [0.5, 0.5], "pixel_size_moving": [0.25, 0.25]}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"fixed_shape": [999, 998]}, "made for 999 x 998 pixels, the fixed layer has 64 x 96"),
        ({"moving_shape": [50, 97]}, "made for 50 x 97 pixels, the moving layer has 50 x 96"),
        (
            {"pixel_size_moving": [9, 9]},
            "made for pixels of 0.5 x 0.5 and 9 x 9 (fixed and moving), the layers have 0.5 x 0.5",
        ),
        ({"pixel_size_fixed": [1, 1], "pixel_size_moving": [0.5, 0.5]}, "made for pixels of 1 x 1"),
        ({"pixel_size_fixed": [500, 500], "pixel_size_moving": [250, 250]}, ""),  # nm, not um
        ({"pixel_size_fixed": [1, 1], "pixel_size_moving": [1, 1]}, ""),  # nobody gave any
        ({"fixed_shape": None, "moving_shape": None}, ""),
        ({}, ""),
    ],
)
def test_file_for_other_images_moves_nothing_unless_the_user_insists(
    filled, viewer, press, tmp_path, changed, told
):
    press(filled)
    path = tmp_path / "t.json"
    filled.tools.save(str(path))
    record = json.loads(path.read_text())
    assert {name: record[name] for name in SIZES} == {
        name: pytest.approx(size) for name, size in SIZES.items()
    }
    path.write_text(json.dumps(record | changed))
    filled.tools.load(str(path))
    text = filled.message.text()
    assert len(viewer.layers) == (3 if told else 4)
    if not told:
        assert text.startswith("Loaded from t.json, trusted, says the file: all starts agree.")
        return
    assert text.startswith(f"Loaded from t.json, not trusted: {told}")
    assert text.endswith("press Move anyway to see it.")
    filled.tools.buttons["Move anyway"].click()
    assert len(viewer.layers) == 4


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


def test_file_under_another_spelling_is_the_same_file(filled, viewer, press, tmp_path):
    press(filled)
    filled.tools.save(str(tmp_path / "t.json"))
    filled.tools.load(str(tmp_path / "t.json"))
    assert "Updated" not in filled.message.text()
    count, name = len(viewer.layers), viewer.layers[-1].name
    (tmp_path / "sub").mkdir()
    filled.tools.load(str(tmp_path / "sub" / ".." / "t.json"))
    assert len(viewer.layers) == count
    assert f"Updated: {name}. In pixels: " in filled.message.text()


def test_copies_come_in_the_order_of_the_layer_list(filled, viewer, press):
    press(filled)
    names = [f"p{n}" for n in range(12)]
    for name in names:
        viewer.add_points([[1, 1]], name=name)
    viewer.layers.selection = {by_name(viewer, name) for name in reversed(names)}
    filled.tools.buttons["Apply to selected"].click()
    assert [layer.name for layer in viewer.layers][-12:] == [
        f"{name} [registered]" for name in names
    ]


@pytest.mark.parametrize(("count", "far", "good"), [(5, 0.2, True), (5, 3, False), (2, 0, False)])
def test_good_points_are_not_to_blame(filled, fake, viewer, press, count, far, good):
    """The answer fits to them: to set them again would change nothing. Two fit in any order."""
    ours = np.array([[5, 5], [20, 10], [40, 70], [10, 60], [50, 30]], float)[:count]
    depth = viewer.layers["depth"]
    theirs = (np.c_[ours, np.ones(count)] @ MATRIX.T)[:, :2]
    theirs[-1, 1] += far
    viewer.add_points(ours, name="a", **PLACE)
    lies = {"scale": depth.scale, "translate": depth.translate, "rotate": 20, "units": "nm"}
    viewer.add_points(theirs, name="b", **lies)
    filled.form.start.value = "points"
    fake.trusted, fake.because = False, f"{LANDS}: give a start or landmarks"
    press(filled)
    told = (
        "What helps: search everywhere, or" if good else "What helps: check the order of the points"
    )
    assert told in filled.message.text()
    assert ("miss one another by less than 0.01 px." in filled.message.text()) is not far
