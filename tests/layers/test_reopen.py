"""Layers written down and opened again: in the viewer, from files, from samples."""

import npe2
import numpy as np
import pytest
from napari.components import ViewerModel
from napari.layers import Image, Labels

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import grid_of, layer_recipe, open_layers, place_of

PLACE = {
    "scale": (0.3, -0.7),
    "translate": (5, 1 / 3),
    "rotate": 17,
    "shear": [0.2],
    "affine": [[0.9, 0.1, 4], [0, 1.1, -2], [0, 0, 1]],
    "units": ("um", "um"),
    "axis_labels": ("y", "x"),
}
PIXELS = np.arange(40 * 50).reshape(40, 50)


@pytest.fixture(autouse=True, scope="module")
def plugins():
    npe2.PluginManager.instance().discover()


@pytest.fixture
def viewer():
    return ViewerModel()


def written(recipe):
    """As it stands in a script."""
    return eval(repr(recipe), {})  # noqa: S307


def test_usual_place_is_not_written():
    assert place_of(Image(PIXELS)) == {}
    assert place_of(Image(PIXELS, scale=(2, 1))) == {"scale": [2, 1]}


@pytest.mark.parametrize("labels", [("-2", "-1"), ("axis -2", "axis -1")])  # of 0.9, of 0.6
def test_labels_that_napari_gives_are_not_written(labels):
    assert place_of(Image(PIXELS, axis_labels=labels)) == {}
    turned = labels[::-1]
    assert place_of(Image(PIXELS, axis_labels=turned)) == {"axis_labels": list(turned)}


def test_layer_of_a_file_comes_back_to_its_place_bit_for_bit(viewer, tmp_path):
    np.save(tmp_path / "a.npy", PIXELS)
    (layer,) = viewer.open(tmp_path / "a.npy", plugin="napari", **PLACE)
    layer.name = "renamed"
    recipe, other = written(layer_recipe(layer)), ViewerModel()
    (again,) = open_layers(other, recipe)
    assert again.name == "renamed"
    np.testing.assert_array_equal(again.data, PIXELS)
    np.testing.assert_array_equal(grid_of(again).matrix, grid_of(layer).matrix)
    assert (again.units, again.axis_labels) == (layer.units, layer.axis_labels)
    assert open_layers(other, recipe) == [again]  # it is open now


def test_layer_that_is_open_is_taken_as_it_lies(viewer):
    layer = viewer.add_image(PIXELS, name="a", **PLACE)
    recipe = written(layer_recipe(layer))
    layer.translate = (100, 200)
    assert open_layers(viewer, recipe) == [layer]
    assert tuple(layer.translate) == (100, 200)


def test_layers_of_one_sample_are_opened_once_and_put_where_they_lay(viewer):
    viewer.open_sample("napari-cosparse", "displaced_scene")
    viewer.layers["depth"].translate = (20e3, 8e3)
    recipes = [written(layer_recipe(layer)) for layer in viewer.layers]
    other = ViewerModel()
    photo, depth = open_layers(other, *recipes)
    assert list(other.layers) == [photo, depth]
    assert tuple(depth.translate) == (20e3, 8e3)
    assert [str(unit) for unit in photo.units] == ["micrometer"] * 2


@pytest.mark.parametrize("kind", [Image, Labels])
def test_layer_that_came_from_nowhere_is_read_from_what_was_written_by_hand(
    viewer, tmp_path, monkeypatch, kind
):
    layer = viewer.add_layer(kind(PIXELS, name="my layer/1", scale=(2, 3)))
    recipe = written(layer_recipe(layer))
    assert (recipe["path"], recipe["by_hand"]) == ("my_layer_1.npy", True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"my_layer_1\.npy"):
        open_layers(ViewerModel(), recipe)
    np.save(recipe["path"], layer.data)
    (again,) = open_layers(ViewerModel(), recipe)
    assert type(again) is kind
    assert tuple(again.scale) == (2, 3)


def test_pyramid_that_came_from_nowhere_has_to_be_open(viewer):
    layer = viewer.add_image([PIXELS, PIXELS[::2, ::2]], name="slide", multiscale=True)
    recipe = written(layer_recipe(layer))
    assert open_layers(viewer, recipe) == [layer]
    with pytest.raises(InputError, match="'slide' came from no file"):
        open_layers(ViewerModel(), recipe)


def test_another_layer_of_that_name_is_refused(viewer):
    recipe = written(layer_recipe(Image(PIXELS, name="a")))
    viewer.add_image(PIXELS[:9], name="a")
    with pytest.raises(InputError, match=r"'a' has shape \(9, 50\).*\(40, 50\)"):
        open_layers(viewer, recipe)


def test_file_that_holds_no_such_layer_is_told(viewer, tmp_path):
    np.save(tmp_path / "a.npy", PIXELS)
    (layer,) = viewer.open(tmp_path / "a.npy", plugin="napari")
    recipe = written(layer_recipe(layer))
    np.save(tmp_path / "a.npy", PIXELS[:7])
    with pytest.raises(InputError, match="holds 0 layers"):
        open_layers(ViewerModel(), recipe)


def test_layers_have_their_units_as_soon_as_they_are_there(viewer, tmp_path):
    """Else napari warns, when it draws in between, that those of the layers differ."""
    seen = []
    for name, unit in (("a", "um"), ("b", "nm")):
        np.save(tmp_path / f"{name}.npy", PIXELS)
        viewer.open(tmp_path / f"{name}.npy", plugin="napari", units=(unit, unit))
    recipes, other = [written(layer_recipe(layer)) for layer in viewer.layers], ViewerModel()
    other.layers.events.inserted.connect(lambda: seen.append(other.layers.extent.units))
    for layer in open_layers(other, *recipes):
        assert layer.units == viewer.layers[layer.name].units
    assert len(seen) == 2
    assert None not in seen


def test_file_of_other_axes_is_told_although_its_units_do_not_fit(viewer, tmp_path):
    np.save(tmp_path / "a.npy", PIXELS)
    (layer,) = viewer.open(tmp_path / "a.npy", plugin="napari", units=("um", "um"))
    recipe = written(layer_recipe(layer))
    np.save(tmp_path / "a.npy", np.stack([PIXELS] * 3))
    with pytest.raises(InputError, match=r"none called 'a'|has shape"):
        open_layers(ViewerModel(), recipe)
