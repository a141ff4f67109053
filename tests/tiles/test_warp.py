"""Lazy resampling is the in-memory one, and reads no more than it needs."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import apply_transform
from napari_cosparse.tiles import warp_lazily, warp_levels

ORDERS = ["nearest", "linear", "cubic"]


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def turned(angle, shift=(0.0, 0.0), scale=1.0):
    c, s = scale * np.cos(np.radians(angle)), scale * np.sin(np.radians(angle))
    return np.array([[c, -s, shift[0]], [s, c, shift[1]], [0, 0, 1]])


def stack(kind, shape):
    values = np.random.default_rng(0).random(shape) * (200 if kind != "float32" else 1)
    array = values.astype(kind)
    if kind == "float32":
        array[..., 20, 31] = np.nan
    return array


@given(
    st.sampled_from(ORDERS),
    st.sampled_from(["uint8", "float32", "bool"]),
    st.floats(-180, 180),
    st.floats(0.3, 2.5),
    st.integers(7, 60),
    st.tuples(st.integers(9, 70), st.integers(9, 70)),
)
@settings(deadline=None, max_examples=40)
def test_equals_the_in_memory_result_to_the_last_bit(order, kind, angle, scale, side, input_chunks):
    image = stack(kind, (60, 66))
    matrix = turned(angle, (12.3, 20.1), scale)
    with dask.config.set(scheduler="synchronous"):
        lazy = warp_lazily(
            da.from_array(image, input_chunks), matrix, (50, 71), chunks=side, order=order
        )
        found = lazy.compute()
    expected = apply_transform(image, matrix, shape=(50, 71), order=order)
    assert (lazy.dtype, lazy.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("colour", [False, True])
def test_one_transform_for_all_planes(order, colour):  # K15
    shape = (2, 3, 40, 50) + ((3,) if colour else ())
    images = stack("uint8", shape)
    images[1] //= 3  # each plane has its own range
    matrix = turned(12, (4, -3))
    chunked = da.from_array(images, chunks=(1, 2, 17, 23) + ((1,) if colour else ()))
    lazy = warp_lazily(chunked, matrix, (37, 41), chunks=16, order=order, colour=colour, fill=1)
    found = lazy.compute()
    for index in np.ndindex(2, 3):
        expected = apply_transform(images[index], matrix, shape=(37, 41), order=order, fill=1)
        np.testing.assert_array_equal(found[index], expected)


class Watched:
    """An array that remembers what was read of it."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.ndim = shape, np.dtype(dtype), len(shape)
        self.reads = []

    def __getitem__(self, key):
        part = np.zeros(self.shape, self.dtype)[key]
        self.reads.append(part.size)
        return part


@pytest.mark.parametrize("order", ORDERS)
def test_reads_the_window_and_no_more(order):
    source = Watched((2000, 2000), "float32")
    array = da.from_array(source, 100)
    lazy = warp_lazily(array, turned(10, (900, 300)), (800, 900), chunks=64, order=order)
    source.reads.clear()
    lazy[:64, :64].compute()
    assert 0 < sum(source.reads) <= 9 * 100**2
    # and none at all of an image that lies elsewhere
    source.reads.clear()
    outside = warp_lazily(da.from_array(source, 100), turned(0, (5000, 0)), (64, 64), order=order)
    assert np.isnan(outside.compute()).all()
    assert not sum(source.reads)


def test_limits_spare_the_reading_of_everything():
    source = Watched((1000, 1000), "uint8")
    array = da.from_array(source, 100)
    for limits, least, most in (((0, 255), 1, 9e4), (None, 1e6, 2e6)):
        lazy = warp_lazily(array, np.eye(3), order="cubic", chunks=100, limits=limits)
        source.reads.clear()
        lazy[:100, :100].compute()
        assert least <= sum(source.reads) <= most


def test_numpy_and_zarr_arrays(tmp_path):
    zarr = pytest.importorskip("zarr")
    image, matrix = stack("float32", (60, 66)), turned(5)
    stored = zarr.create_array(tmp_path / "a.zarr", shape=(60, 66), chunks=(20, 20), dtype="f4")
    stored[:] = image
    expected = apply_transform(image, matrix)
    for array in (image, stored):
        np.testing.assert_array_equal(warp_lazily(array, matrix).compute(), expected)


def test_origin_and_chunks():
    image, matrix = stack("float32", (60, 66)), turned(5)
    lazy = warp_lazily(image, matrix, (50, 45), origin=(-7, 30), chunks=20)
    assert lazy.chunks == ((20, 20, 10), (20, 20, 5))
    expected = apply_transform(image, matrix, shape=(50, 45), origin=(-7, 30))
    np.testing.assert_array_equal(lazy.compute(), expected)


def test_levels_show_the_same_scene():
    row, column = np.mgrid[:128, :96] / 11.0
    fine = np.sin(row) + np.cos(column)
    levels = [fine]
    for _ in range(2):
        last = levels[-1]
        levels.append(last.reshape(last.shape[0] // 2, 2, last.shape[1] // 2, 2).mean((1, 3)))
    matrix = turned(9, (6, -5), 1.1)
    results = warp_levels(levels, matrix, (100, 120), origin=(3, 4), order="cubic")
    assert [level.shape for level in results] == [(100, 120), (50, 60), (25, 30)]
    best = results[0].compute()
    np.testing.assert_array_equal(
        best, apply_transform(fine, matrix, shape=(100, 120), origin=(3, 4), order="cubic")
    )
    for level, factor in ((results[1], 2), (results[2], 4)):
        pooled = best.reshape(100 // factor, factor, 120 // factor, factor).mean((1, 3))
        found = level.compute()
        both = np.isfinite(pooled) & np.isfinite(found)
        assert both.mean() > 0.4
        inner = both.copy()
        inner[:2] = inner[-2:] = inner[:, :2] = inner[:, -2:] = False
        assert np.quantile(np.abs(found - pooled)[inner], 0.9) < 0.02
        assert abs((found - pooled)[inner].mean()) < 0.003


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"chunks": 0}, "chunks 0"),
        ({"chunks": True}, "chunks True"),
        ({"array": np.zeros(4)}, r"\(4,\)"),
        ({"array": np.zeros((4, 4, 5)), "colour": True}, "H, W, 3 or 4"),
        ({"array": np.zeros((0, 4))}, "nothing to resample"),
        ({"array": np.zeros((4, 4), complex)}, "complex"),
        ({"order": "bicubic"}, "order 'bicubic'"),
    ],
)
def test_wrong_input_is_refused(change, says):
    options = {"array": np.zeros((4, 4)), "matrix": np.eye(3)} | change
    with pytest.raises(InputError, match=says):
        warp_lazily(**options)


def test_no_levels_are_refused():
    with pytest.raises(InputError, match="levels is empty"):
        warp_levels([], np.eye(3))
