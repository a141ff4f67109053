"""Why the registration panel does not run yet: masks, sizes, blank images, settings."""

import numpy as np
import pytest

from support.register_case import PLACE, by_name


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
    ("row", "text", "word"),
    [
        ("max_rotation", "270", "rotation"),
        ("max_scale", "x", "largest scale 'x' must be one number"),
        ("max_scale", "5", "largest scale 5 must be between 1 and 4"),
        ("max_scale", "1.5", "'rotation and shift (SE)' has no scale; choose 'rotation, shift,"),
        ("invalid_fixed", "?", "fixed"),
    ],
)
def test_wrong_setting_disables_run_with_its_reason(filled, row, text, word):
    getattr(filled.form, row).value = text
    assert word in filled.about.text()
    assert not filled.button.isEnabled()
