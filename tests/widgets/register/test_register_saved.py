"""Transforms to and from files in the registration panel."""

import json

import numpy as np
import pytest

from napari_cosparse.layers import METADATA_KEY
from support.register_case import MATRIX, lies_on_fixed


def test_transform_is_saved_loaded_inverted_and_taken_back(filled, viewer, press, tmp_path):
    press(filled)
    photo, depth = list(viewer.layers)[:2]
    assert filled.plot.lines
    for ending in ("json", "txt", "tfm"):
        path = tmp_path / f"t.{ending}"
        filled.tools.save(str(path))
        filled.tools.load(str(path))
        lies_on_fixed(viewer.layers[-1], photo)
        assert not filled.plot.lines  # the curve was that of the run
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
