"""What is long in memory stops when it is told to, while it reads, too."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest
import zarr

from napari_cosparse import api
from napari_cosparse.core.progress import drain
from napari_cosparse.tiles import Cancelled

SCENE = api.make_scene((128, 96))
TARGET = api.degrade(SCENE.depth, 4)


class Told:
    """Says after some questions that a computation is to stop."""

    def __init__(self, after: int) -> None:
        self.after = after

    def __call__(self) -> bool:
        self.after -= 1
        return self.after < 0


@pytest.fixture(params=["dask", "zarr"])
def chunked(request):
    """Makes an image of chunks of 8 rows; those that dask computes are noted."""
    read: list[int] = []

    def note(block):
        read.append(len(block))
        return block

    def make(image):
        rows = (8, *image.shape[1:])
        if request.param == "zarr":
            return zarr.create_array({}, data=image, chunks=rows), None
        lazy = da.from_array(image, chunks=rows).map_blocks(note, dtype=image.dtype)
        read.clear()
        return lazy, read

    with dask.config.set(num_workers=1):
        yield make


def test_reading_for_an_upsampling_can_be_stopped(chunked):
    guide, read = chunked(SCENE.guide)
    told = Told(3)
    with pytest.raises(Cancelled):
        api.upsample_steps(TARGET, guide, cancelled=told)
    assert told.after == -1  # not asked again: nothing more was read
    assert read is None or len(read) <= 5


def test_chunks_that_are_read_between_questions_give_the_same_image(chunked):
    guide, _ = chunked(SCENE.guide)
    found = drain(api.upsample_steps(TARGET, guide, cancelled=lambda: False))
    np.testing.assert_array_equal(found.image, api.upsample(TARGET, SCENE.guide).image)


def test_masked_chunks_stay_masked():
    masked = np.ma.masked_greater(TARGET, np.quantile(TARGET, 0.9))
    lazy = da.from_array(masked, chunks=(8, 24))
    found = drain(api.upsample_steps(lazy, SCENE.guide, cancelled=lambda: False))
    np.testing.assert_array_equal(found.image, api.upsample(masked, SCENE.guide).image)


def test_resampling_can_be_stopped():
    image, told = np.zeros((20, 20), np.float32), Told(40)
    steps = api.apply_transform_steps(image, np.eye(3), shape=(4000, 4000), cancelled=told)
    seen = []
    with pytest.raises(Cancelled):
        drain(steps, seen.append)
    assert 0 < len(seen) <= 3
    assert seen[0].total == 256


def test_reading_for_a_resampling_can_be_stopped(chunked):
    image, read = chunked(SCENE.depth)
    told = Told(3)
    with pytest.raises(Cancelled):
        api.apply_transform_steps(image, np.eye(3), cancelled=told)
    assert told.after == -1
    assert read is None or len(read) <= 5


def test_resampling_of_chunks_in_threads_is_that_of_the_image(chunked):
    image, _ = chunked(SCENE.depth)
    matrix = np.array([[0.9, -0.1, 3], [0.1, 0.9, -4], [0, 0, 1.0]])
    options = {"shape": (500, 700), "order": "cubic"}
    expected = api.apply_transform(SCENE.depth, matrix, threads=1, **options)
    np.testing.assert_array_equal(
        api.apply_transform(image, matrix, threads=2, **options), expected
    )
    with pytest.raises(TypeError, match="did you mean shape"):
        api.apply_transform(image, matrix, shap=(3, 4))
