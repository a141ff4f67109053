"""Learning from Dask and Zarr: the same patches as from NumPy, and only what is needed is read."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import dask.array as da
import numpy as np
import pytest
import zarr

from napari_cosparse import learn_operators, make_scene
from napari_cosparse.core.operators import LearnSettings, _look, learn_with
from napari_cosparse.core.operators._images import Chunked, as_image
from napari_cosparse.core.operators._patches import gather
from napari_cosparse.core.progress import drain

SCENE = make_scene((150, 310), 0)
OPTIONS = {"side": 3, "samples": 500, "iterations": 4, "seed": 2, "symmetries": True}


def learned(u, v):
    found = learn_operators([(u, v)], **OPTIONS)
    return found.pair.groups[0], found.history


@pytest.mark.parametrize("chunks", [(103, 25), (9, 5)])
def test_chunking_changes_no_bit(chunks, tmp_path):
    expected, costs = learned(SCENE.guide, SCENE.depth)
    guide = zarr.create_array(
        tmp_path / "g.zarr", shape=SCENE.guide.shape, chunks=(*chunks, 1), dtype="uint8"
    )
    guide[:] = SCENE.guide
    group, history = learned(guide, da.from_array(SCENE.depth, chunks=chunks))
    assert np.array_equal(history, costs)
    assert np.array_equal(group.coefficients_u, expected.coefficients_u)
    assert np.array_equal(group.coefficients_v, expected.coefficients_v)


class Recorder:
    """An array that notes what is read of it."""

    chunks = (64, 64)

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.read = array, array.shape, array.dtype, []

    def __getitem__(self, where):
        self.read.append(self.array[where].size)
        return self.array[where]


def test_patches_read_no_more_than_their_surroundings():
    image = np.random.default_rng(0).standard_normal((2000, 2000))
    recorder = Recorder(image)
    positions = np.array([(5, 7), (6, 1990), (1900, 3)])
    chunked = as_image(recorder, "u")
    assert isinstance(chunked, Chunked)
    found = gather(chunked, positions, 4)
    assert np.array_equal(found, gather(image, positions, 4))
    assert sum(recorder.read) == 3 * 16


def test_looking_for_patches_reads_bands():
    recorder = Recorder(SCENE.depth.repeat(4, axis=0))
    learned(recorder, SCENE.depth.repeat(4, axis=0))
    assert max(recorder.read) <= 260 * SCENE.depth.shape[1]


def test_masks_and_opacity_count_as_in_memory():
    rgba = np.dstack([SCENE.guide, SCENE.guide[..., 0]])
    part = as_image(da.from_array(rgba, chunks=50), "u")[0:5]
    assert np.array_equal(part, rgba[:5, :, :3])
    mask = as_image(da.from_array(SCENE.depth > 3, chunks=50), "u")[0:5]
    assert mask.dtype == np.uint8


def parts_of(u, v, map_=map, room=1 << 26, **changes):
    """Learn with settings of which the side of the parts is one."""
    values = {"atoms": 18, "nu": 400.0, "kappa": (5.0, 22.0), "mu": (1e2, 2.5e4), "block": 32}
    values |= {"thresholds": (0.01, 0.003), "invalid": (None, None), **OPTIONS, **changes}
    found = drain(learn_with([(u, v)], LearnSettings(**values), map_=map_, room=room))
    return found.pair.groups[0].coefficients_v, found.history


@pytest.fixture
def large(monkeypatch):
    """Images of more than 5000 pixels count as large."""
    monkeypatch.setattr(_look, "LOOKED", 5000)


@pytest.mark.parametrize("chunks", [(103, 25), (9, 5)])
@pytest.mark.parametrize("room", [0, 1 << 26])
def test_chunking_changes_no_bit_of_large_images(large, chunks, room):
    expected, costs = parts_of(SCENE.guide, SCENE.depth)
    guide = da.from_array(SCENE.guide, chunks=(*chunks, 3))
    depth = da.from_array(SCENE.depth, chunks=chunks)
    found, history = parts_of(guide, depth, room=room)
    assert np.array_equal(history, costs)
    assert np.array_equal(found, expected)


def test_large_images_are_not_read_whole(large):
    guide, depth = Recorder(SCENE.guide), Recorder(SCENE.depth)
    parts_of(guide, depth, samples=100)
    assert 5000 <= sum(depth.read) < 7000
    assert max(depth.read) == 32 * 32
    again = Recorder(SCENE.depth)
    parts_of(Recorder(SCENE.guide), again, samples=100, room=0)
    assert sum(again.read) > sum(depth.read)


def test_more_is_read_if_there_are_not_patches_enough(large):
    depth = SCENE.depth.copy()
    depth[:, :200] = 3  # nothing to learn there
    recorder = Recorder(depth)
    _, history = parts_of(Recorder(SCENE.guide), recorder, samples=3000)
    assert sum(recorder.read) > 8000
    assert history[-1] < history[0]
    everything = parts_of(SCENE.guide, depth, samples=10**6)[1]
    assert np.isfinite(everything).all()


def test_parts_and_seeds_make_other_samples(large):
    ends = {
        parts_of(SCENE.guide, SCENE.depth, **changes)[1][-1]
        for changes in ({}, {"block": 48}, {"seed": 3})
    }
    assert len(ends) == 3


def test_whoever_looks_changes_no_bit(large):
    expected, costs = parts_of(SCENE.guide, SCENE.depth)
    with ThreadPoolExecutor(2) as pool:
        found, history = parts_of(SCENE.guide, SCENE.depth, map_=pool.map)
    assert np.array_equal(history, costs)
    assert np.array_equal(found, expected)


def test_parts_that_are_kept_do_not_travel():
    chunked = as_image(da.from_array(SCENE.depth, chunks=50), "v")
    chunked.room = 10**9
    part = chunked[0:50]
    assert chunked.room < 10**9
    assert np.array_equal(chunked[10:20, 5:9], part[10:20, 5:9])
    assert len(pickle.dumps(chunked)) < len(pickle.dumps(chunked.array)) + 500
    copy = pickle.loads(pickle.dumps(chunked))  # noqa: S301 - our own bytes
    assert np.array_equal(copy[10:20, 5:9], part[10:20, 5:9])
