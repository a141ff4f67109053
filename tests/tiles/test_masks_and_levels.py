"""Masked arrays and lists of levels mean the same in memory and for stores."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import zarr

import napari_cosparse as nc
from napari_cosparse.core.errors import InputError
from napari_cosparse.tiles import _ome

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


@pytest.mark.parametrize("kind", [np.uint8, np.int32])
def test_masked_integers_keep_their_type(result, kind):
    low = np.rint(20 * LOW).astype(kind)
    expected = result(np.where(MASK, 255, low), invalid=255, dtype="input")
    assert expected.dtype == kind
    masked = np.ma.array(low, mask=MASK)
    for target in (masked, da.from_array(masked, chunks=5)):
        found = result(target, dtype="input")
        assert found.dtype == kind
        assert np.array_equal(found, expected)
    nothing = da.from_array(np.ma.array(low), chunks=5)
    assert result(nothing, dtype="input").dtype == kind


@pytest.mark.parametrize("turned", [False, True])
def test_integers_need_a_value_for_what_is_not_covered(result, turned):
    low = np.rint(20 * LOW).astype(np.uint8)
    place = {"factor": 4, "origin": (10, 13)}
    if turned:
        place = {"transform": np.array([[0.25, 0.05, -2], [-0.05, 0.25, -1], [0, 0, 1]])}
    with pytest.raises(InputError, match=r"'input' \(uint8\) cannot mark .*; use .* or give `inv"):
        result(low, dtype="input", **place)
    floating, found = result(low, **place), result(low, dtype="input", invalid=200, **place)
    outside = np.isnan(floating)
    assert outside.any()
    assert not outside.all()
    assert np.array_equal(found == 200, outside)
    assert np.abs(found[~outside] - floating[~outside]).max() < 1


def test_blocks_that_integers_cannot_mark_as_unknown(tmp_path):
    scene = nc.make_scene((128, 320), 1)
    low = np.rint(20 * nc.degrade(scene.depth, 4)).astype(np.uint8)
    options = QUICK | {"block": 64, "dtype": "input"}
    masked = np.ma.array(low, mask=np.tile(np.arange(80) >= 36, (32, 1)))
    with pytest.raises(InputError, match=r"columns 192:256 .*uint8 cannot mark.*or give `invalid`"):
        nc.upsample_to_store(masked, scene.guide, tmp_path / "o.zarr", **options)
    assert not any(tmp_path.iterdir())
    stored = nc.upsample_to_store(masked, scene.guide, tmp_path / "o.zarr", **options, invalid=200)
    found = zarr.open_array(stored.path)[:]
    assert stored.blank_blocks
    assert (found[:, :140] != 200).all()
    assert (found[:, -20:] == 200).all()


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


@pytest.mark.parametrize("make", [np.asarray, lambda image: da.from_array(image, chunks=20)])
def test_a_level_can_be_chosen(result, make):
    given = [[make(level) for level in levels(image)] for image in (LOW, GUIDE)]
    assert np.array_equal(result(*given, level=(1, 0)), result(LOW[::2, ::2], GUIDE))
    assert np.array_equal(result(given[0], level=(0, 0)), result(LOW))
    for level, message in (((0, 3), "guide has no level 3; choose one of 0 to 2"),
                           ((1.5, 0), "target has no level 1.5; choose"),
                           (1, r"level 1 must be two values, .* such as \(0, 0\)")):  # fmt: skip
        with pytest.raises(InputError, match=message):
            result(*given, level=level)
    with pytest.raises(InputError, match="guide has no level 1; choose one of 0 to 0"):
        result(LOW, level=(0, 1))


def test_what_are_no_levels(result):
    with pytest.raises(InputError, match=r"guide has levels .*; give the finest one first"):
        result(LOW, levels(GUIDE)[::-1])
    rows = [list(row) for row in LOW]
    assert np.array_equal(result(rows, list(GUIDE)), result(LOW))
    with pytest.raises(InputError, match=r"target 'low.tif' is no array; open it first"):
        result("low.tif")


def test_small_levels_may_be_as_large_as_each_other(result):
    pyramid = [*levels(LOW), LOW[:1, :1], LOW[:1, :1]]
    assert np.array_equal(result(pyramid), result(LOW))


def test_images_of_one_size_are_a_stack(tmp_path):
    stored = nc.upsample_to_store([LOW, LOW[::-1]], GUIDE, tmp_path / "o.zarr", **QUICK)
    assert stored.shape == (2, *GUIDE.shape[:2])
    with pytest.raises(InputError, match=r"target has shape \(2, 12, 15\); it must be one plane"):
        nc.upsample([LOW, LOW[::-1]], GUIDE, **QUICK)


def test_checks_take_what_upsampling_takes():
    expected = nc.check_target(LOW, GUIDE)
    for make in (np.asarray, lambda image: da.from_array(image, chunks=20)):
        target, guide = ([make(level) for level in levels(image)] for image in (LOW, GUIDE))
        assert nc.check_target(target, guide) == expected
        assert nc.check_target(target[0], guide[0]) == expected
        coarse = nc.check_target(target, guide, level=(1, 0))
        assert coarse == nc.check_target(LOW[::2, ::2], GUIDE)
        fine = [make(level) for level in levels(SCENE.depth)]
        assert nc.check_alignment(fine, guide) == nc.check_alignment(SCENE.depth, GUIDE)
    with pytest.raises(InputError, match=r"transform 'move\.json' must be a registration or"):
        nc.check_target(LOW, GUIDE, transform="move.json")
    with pytest.raises(TypeError, match="did you mean tolerance"):
        nc.check_target(LOW, GUIDE, tolerence=1)


def test_learning_refuses_what_are_no_levels():
    with pytest.raises(InputError, match="rows of different lengths"):
        nc.learn_operators([([[1, 2], [3]], SCENE.depth)], **LEARN)


def test_a_region_is_cut_out_of_the_finest_level():
    options = {"region": (0, 0, 40, 50), "threads": 1, "verdict": False, "search": False}
    expected = nc.register(GUIDE, SCENE.depth, **options)
    found = nc.register(levels(GUIDE), levels(SCENE.depth), **options)
    assert np.array_equal(found.matrix, expected.matrix)


def test_an_array_of_unknown_size_is_told(result):
    some = da.from_array(LOW, chunks=5)
    with pytest.raises(InputError, match=r"target has the shape \(nan, .*compute_chunk_sizes"):
        result(some[da.from_array(np.ones(12, bool), chunks=5)])


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


@pytest.mark.parametrize(("kind", "unknown"), [(np.uint8, 200.0), (np.float32, np.nan)])
def test_unknown_pixels_have_no_say_in_coarser_levels(tmp_path, kind, unknown):
    fine = np.full((600, 603), 10, kind)
    fine[:, 100:201] = unknown  # the last column of them lies beside a known one
    fine[0, 0] = 20
    zarr.create_array(tmp_path / "0", data=fine)
    (*_,) = _ome.add_levels(tmp_path, unknown)
    coarse = zarr.open_array(tmp_path / "1")[:]
    expected = np.full((300, 302), 10, kind)
    expected[:, 50:100] = unknown
    expected[0, 0] = 12.5 if kind is np.float32 else 12
    assert np.array_equal(coarse, expected, equal_nan=True)
