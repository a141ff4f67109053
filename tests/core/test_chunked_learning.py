"""Learning from Dask and Zarr: the same patches as from NumPy, and only what is needed is read."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import zarr

from napari_cosparse import learn_operators, make_scene
from napari_cosparse.core.operators._images import Chunked, as_image
from napari_cosparse.core.operators._patches import gather

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
