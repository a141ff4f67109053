"""Results as layers: place, looks and provenance (G18, K10)."""

import json

import numpy as np
import pytest
from napari.layers import Image, Layer

from napari_cosparse.core.operators import AtomGroup, OperatorPair
from napari_cosparse.core.reconstruction import check_target, upsample
from napari_cosparse.layers import METADATA_KEY, destination, layer_data

STEP = np.array([[1.0, -1.0]]) / np.sqrt(2)
DIFFERENCES = OperatorPair(
    (AtomGroup([[0, 0], [0, 1]], STEP, STEP), AtomGroup([[0, 0], [1, 0]], STEP, STEP))
)
GUIDE = np.random.default_rng(0).random((16, 24)).cumsum(1)
TARGET = GUIDE.reshape(4, 4, 6, 4).mean((1, 3))


@pytest.fixture(scope="module")
def result():
    return upsample(TARGET, GUIDE, DIFFERENCES)


def made(result, target, guide):
    """The layer that napari makes of a result."""
    return Layer.create(*layer_data(result, destination(target, guide)))


@pytest.mark.parametrize(
    "place",
    [
        {"scale": (0.5, 0.5), "units": "um"},
        {"scale": (2, 3), "translate": (-1, 7), "rotate": 30, "shear": [0.2]},
        {"affine": [[0, -2, 5], [2, 0, 1], [0, 0, 1]], "axis_labels": ("row", "column")},
    ],
)
def test_layer_lies_where_the_guide_lies(result, place):
    guide = Image(GUIDE, **place)
    layer = made(result, Image(TARGET), guide)
    for pixel in ((0, 0), (3, 11), (15, 23)):
        np.testing.assert_allclose(layer.data_to_world(pixel), guide.data_to_world(pixel))
    assert (layer.units, layer.axis_labels) == (guide.units, guide.axis_labels)


def test_looks_are_the_targets(result):
    target = Image(TARGET, name="heat", colormap="inferno", contrast_limits=(2, 5))
    layer = made(result, target, Image(GUIDE))
    assert layer.name == "heat [upsampled]"
    assert layer.colormap.name == "inferno"
    assert layer.contrast_limits == [2, 5]


def test_contrast_limits_are_given_for_a_colour_target_too(result):
    target = Image(np.zeros((4, 6, 3), np.uint8), rgb=True)
    _, settings, _ = layer_data(result, destination(target, Image(GUIDE)))
    low, high = settings["contrast_limits"]
    assert (low, high) == (result.image.min(), result.image.max())


def test_three_columns_do_not_become_colour():
    guide = np.random.default_rng(0).random((64, 4))
    narrow = upsample(guide.reshape(16, 4, 1, 4).mean((1, 3)), guide, DIFFERENCES, factor=4)
    layer = made(narrow, Image(np.zeros((16, 1))), Image(guide, rgb=False))
    assert not layer.rgb
    assert layer.data.shape == (64, 4)


def test_leading_axes_of_the_guide_are_kept(result):
    guide = Image(GUIDE[None], scale=(5, 1, 1), translate=(2, 0, 0))
    layer = made(result, Image(TARGET), guide)
    assert layer.data.shape == (1, 16, 24)
    np.testing.assert_array_equal(layer.translate, (2, 0, 0))


def test_guide_may_move_after_the_run_has_begun(result):
    guide = Image(GUIDE, scale=(2, 2))
    noted = destination(Image(TARGET), guide)
    guide.scale = (9, 9)
    np.testing.assert_array_equal(Layer.create(*layer_data(result, noted)).scale, (2, 2))


def test_provenance_is_plain_json(result):
    where = destination(Image(TARGET, name="heat"), Image(GUIDE, name="photo"))
    found = check_target(TARGET, GUIDE)
    layer = Layer.create(*layer_data(result, where, found))
    told = layer.metadata[METADATA_KEY]
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["inputs"]["guide"]["name"] == "photo"
    assert told["noise"] == result.noise
    assert told["misfit"] == result.misfit
    assert told["overshoot"] == result.overshoot
    assert told["guided"] is True
    assert told["alignment"]["because"] == found.because
    assert made(result, Image(TARGET), Image(GUIDE)).metadata[METADATA_KEY]["alignment"] is None
