"""Points as a start of the registration panel."""

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from support.register_case import MATRIX, PLACE, by_name


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
