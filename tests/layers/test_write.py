"""Results as layers: place, looks and provenance (G18, K10)."""

import json

import numpy as np
import pytest
from napari.layers import Image, Layer

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import AtomGroup, OperatorPair
from napari_cosparse.core.reconstruction import check_target, upsample
from napari_cosparse.layers import METADATA_KEY, _write, as_levels, destination, layer_data

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


def test_stack_of_targets_keeps_its_axis_and_the_guides_plane(result):
    """The guide is turned and has no time axis."""
    guide = Image(
        GUIDE, scale=(2, 3), rotate=30, translate=(5, 6), affine=np.diag([2, 2, 1]), units="um"
    )
    stack = Image(
        np.stack([TARGET] * 3),
        scale=(0.5, 8, 12),
        translate=(10, 0, 0),
        units=("s", "um", "um"),
        axis_labels=("t", "y", "x"),
    )
    layer = Layer.create(*layer_data([result] * 3, destination(stack, guide)))
    assert layer.data.shape == (3, 16, 24)
    np.testing.assert_allclose(layer.data_to_world((2, 3, 4)), (11, *guide.data_to_world((3, 4))))
    assert [str(unit) for unit in layer.units] == ["second", "micrometer", "micrometer"]
    assert layer.axis_labels[0] == "t"
    assert layer.metadata[METADATA_KEY]["planes"] == 3


def stack_of(dtype=np.float32, count=3):
    """Where a stack of targets goes."""
    return destination(Image(np.ones((count, 4, 6), dtype), name="heat"), Image(GUIDE))


def test_planes_of_which_nothing_is_known_stay_unknown(result):
    layer = Layer.create(*layer_data([None, result, None], stack_of()))
    assert np.isnan(layer.data[[0, 2]]).all()
    np.testing.assert_array_equal(layer.data[1], result.image)
    told = layer.metadata[METADATA_KEY]
    assert (told["planes"], told["blank"]) == (3, [[0], [2]])
    assert told["misfit"] == result.misfit
    assert layer_data([result] * 3, stack_of())[1]["metadata"][METADATA_KEY]["blank"] == []


def test_whole_numbers_have_the_invalid_value_where_nothing_is_known():
    levels = np.rint(100 * TARGET).astype(np.uint16)
    found = upsample(levels, GUIDE, DIFFERENCES, dtype="input", invalid=7)
    data, _, _ = layer_data([found, None], stack_of(np.uint16, 2))
    assert (data.dtype, data[1].min(), data[1].max()) == (np.uint16, 7, 7)
    np.testing.assert_array_equal(data[0], found.image)


def test_planes_that_cannot_be_marked_as_unknown_are_refused():
    found = upsample(TARGET > 6, GUIDE, DIFFERENCES, dtype="input")
    with pytest.raises(InputError, match=r"'heat' has planes without a known sample.*bool"):
        layer_data([found, None], stack_of(bool, 2))


def test_stack_of_which_nothing_is_known_is_refused():
    with pytest.raises(InputError, match="'heat' has no known sample in any of its 3 planes"):
        layer_data([None] * 3, stack_of())


def test_level_of_a_pyramid_is_the_grid_and_is_told(result):
    fine = np.zeros((64, 96))
    guide = Image([fine, GUIDE], contrast_limits=(0, 1), scale=(3, 2), rotate=20)
    layer = Layer.create(*layer_data(result, destination(Image(TARGET), guide, (0, 1))))
    np.testing.assert_allclose(layer.data_to_world((1, 1)), guide.data_to_world((5.5, 5.5)))
    assert layer.metadata[METADATA_KEY]["inputs"]["guide"]["level"] == 1


def test_large_results_are_pyramids_of_views(monkeypatch):
    monkeypatch.setattr(_write, "MULTISCALE_FROM", 64)
    monkeypatch.setattr(_write, "COARSEST", 32)
    image = np.arange(100 * 40.0).reshape(100, 40)
    levels, multiscale = as_levels(image)
    assert multiscale
    assert [level.shape for level in levels] == [(100, 40), (50, 20), (25, 10)]
    assert all(np.shares_memory(level, image) for level in levels)
    assert as_levels(image[:50])[1] is False
