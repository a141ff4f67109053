"""Masked arrays and lists of levels mean the same in memory and for stores."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import zarr

import napari_cosparse as nc
from napari_cosparse.core.errors import InputError

SCENE = nc.make_scene((48, 60), 1)
GUIDE, LOW = SCENE.guide, nc.degrade(SCENE.depth, 4)
QUICK = {"operators": "differences", "threads": 1, "noise": 0.01}
LEARN = {"side": 3, "samples": 200, "iterations": 3}
MASK = np.zeros(LOW.shape, bool)
MASK[3:7, 4:9] = True


@pytest.fixture(params=["memory", "store"])
def result(request, tmp_path):
    """Upsample in memory, or into a store."""

    def run(target, guide=GUIDE, **options):
        if request.param == "memory":
            return nc.upsample(target, guide, **QUICK | options).image
        out = tmp_path / "o.zarr"
        nc.upsample_to_store(target, guide, out, overwrite=True, **QUICK | options)
        return zarr.open_array(out)[:]

    return run


@pytest.mark.parametrize("kind", [float, int])
def test_masked_weights_mean_unknown(result, kind):
    ones = np.ones(LOW.shape, kind)
    expected = result(LOW, weights=np.where(MASK, 0, ones))
    plain = result(LOW)
    assert not np.array_equal(expected, plain)
    assert np.array_equal(result(LOW, weights=np.ma.array(ones, mask=MASK)), expected)
    assert np.array_equal(result(LOW, weights=np.ma.array(ones)), plain)


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf])
def test_a_wrong_weight_is_told(result, value):
    weights = np.where(MASK, value, 1)
    with pytest.raises(InputError, match=f"weights have the value {value:g}; they must be"):
        result(LOW, weights=weights)
    with pytest.raises(InputError, match=r"weights have shape \(11, 15\)"):
        result(LOW, weights=np.ones((11, 15)))


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.float32])
def test_masked_samples_are_unknown(result, kind):
    low = np.rint(20 * LOW).astype(kind)
    unknown = np.where(MASK, np.nan, low.astype(float))
    expected = result(unknown)
    assert np.array_equal(result(np.ma.array(low, mask=MASK)), expected)
    assert np.array_equal(result(da.from_array(np.ma.array(low, mask=MASK), chunks=5)), expected)


def test_what_has_a_mask_but_nothing_masked_is_plain(result):
    low = np.rint(20 * LOW).astype(np.uint8)
    expected = result(low, dtype="input")
    assert expected.dtype == np.uint8
    found = result(np.ma.array(low), np.ma.array(GUIDE, mask=False), dtype="input")
    assert found.dtype == np.uint8
    assert np.array_equal(found, expected)


def test_a_masked_guide_has_no_say_there(result):
    hidden = np.zeros(GUIDE.shape, bool)
    hidden[20:30, 10:20] = True
    unknown = np.where(hidden, np.nan, GUIDE.astype(float))
    assert np.array_equal(result(LOW, np.ma.array(GUIDE, mask=hidden)), result(LOW, unknown))


def test_masked_pixels_are_not_learned_from():
    hidden = np.zeros(GUIDE.shape, bool)
    hidden[20:30, 10:20] = True
    unknown = np.where(hidden, np.nan, GUIDE.astype(float))
    expected = nc.learn_operators([(unknown, SCENE.depth)], **LEARN).history
    masked = np.ma.array(GUIDE, mask=hidden)
    for image in (masked, da.from_array(masked, chunks=20)):
        assert np.array_equal(nc.learn_operators([(image, SCENE.depth)], **LEARN).history, expected)


def levels(image):
    return [image, image[::2, ::2], image[::4, ::4]]


@pytest.mark.parametrize("make", [np.asarray, lambda image: da.from_array(image, chunks=20)])
def test_of_levels_the_finest_is_used(result, make):
    given = [[make(level) for level in levels(image)] for image in (LOW, GUIDE)]
    assert np.array_equal(result(*given), result(LOW))


def test_learning_and_registration_take_the_finest_level():
    expected = nc.learn_operators([(GUIDE, SCENE.depth)], **LEARN).history
    found = nc.learn_operators([(levels(GUIDE), levels(SCENE.depth))], **LEARN).history
    assert np.array_equal(found, expected)
    steps = nc.register_steps(levels(GUIDE), levels(SCENE.depth), threads=1)
    steps.close()


def test_what_are_no_levels():
    with pytest.raises(InputError, match=r"guide has levels .*; give the finest one first"):
        nc.upsample(LOW, levels(GUIDE)[::-1], **QUICK)
    with pytest.raises(InputError, match="rows of different lengths"):
        nc.learn_operators([([[1, 2], [3]], SCENE.depth)], **LEARN)
    rows = [list(row) for row in LOW]
    expected = nc.upsample(LOW, GUIDE, **QUICK).image
    assert np.array_equal(nc.upsample(rows, list(GUIDE), **QUICK).image, expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((0, 0, np.nan), "transform .* has entries that are not finite"),
        ((2, 0, 0.01), "transform has the last row"),
    ],
)
def test_a_wrong_transform_is_called_so(result, change, message):
    row, column, value = change
    matrix = np.diag([0.25, 0.25, 1])
    matrix[row, column] = value
    with pytest.raises(InputError, match=message):
        result(LOW, transform=matrix)
