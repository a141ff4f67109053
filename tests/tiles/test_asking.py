"""Whatever reads images in chunks stops within a chunk or two once it is told to."""

from __future__ import annotations

import pickle
from threading import Event, Lock

import dask
import dask.array as da
import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse import api
from napari_cosparse.core.progress import drain
from napari_cosparse.tiles import Cancelled, as_plane, gather
from napari_cosparse.tiles._asking import TOGETHER, read_asking
from napari_cosparse.tiles._sources import Source

SCENE = api.make_scene((128, 96))
TARGET = api.degrade(SCENE.depth, 4)
GRAY = SCENE.guide.mean(-1) if SCENE.guide.ndim == 3 else SCENE.guide
CHUNK = 8
CHUNKS = 16 * 12  # of an image of the scene's size
WORKERS = 2


class Counted:
    """Counts chunks, and says from one of them on that it is enough."""

    def __init__(self, enough: int) -> None:
        self.enough, self.read, self.late, self.stop, self.door = enough, 0, 0, Event(), Lock()

    def note(self) -> None:
        with self.door:
            self.late += self.stop.is_set()
            self.read += 1
            if self.read >= self.enough:
                self.stop.set()

    def lazy(self, image):
        def note(block):
            self.note()
            return block

        chunks = (CHUNK, CHUNK, *image.shape[2:])
        found = da.from_array(image, chunks=chunks)
        return found.map_blocks(note, dtype=image.dtype, meta=np.empty((0,) * image.ndim))

    def stops(self, run, *, most: int = WORKERS) -> None:
        with dask.config.set(num_workers=WORKERS), pytest.raises(Cancelled):
            run(self.stop.is_set)
        assert self.read >= self.enough
        assert self.late <= most


class Kept:
    """An image that is read chunk by chunk, as a file is."""

    def __init__(self, image, counted: Counted) -> None:
        self.image, self.counted = image, counted
        self.shape, self.dtype, self.ndim = image.shape, image.dtype, image.ndim
        self.chunks = (CHUNK, CHUNK, *image.shape[2:])

    def __getitem__(self, where):
        found = self.image[where]
        for _ in range(-(-found.shape[0] // CHUNK) * -(-found.shape[1] // CHUNK)):
            self.counted.note()
        return found


@pytest.fixture(params=["dask", "file"])
def chunked(request):
    """Makes images of chunks of 8 x 8 pixels, and how many are read too late at most."""

    def make(image, enough):
        counted = Counted(enough)
        if request.param == "dask":
            return counted.lazy(image), counted, WORKERS
        return Kept(image, counted), counted, TOGETHER

    return make


@pytest.mark.parametrize("enough", [3, CHUNKS + 3])  # the survey, the block
def test_a_run_into_a_store_stops_while_the_guide_is_read(chunked, enough, tmp_path):
    guide, counted, most = chunked(SCENE.guide, enough)
    options = {"operators": "intensity-depth-3x3", "block": 64}
    counted.stops(
        lambda asked: drain(
            api.upsample_to_store_steps(
                TARGET, guide, tmp_path / "o.zarr", cancelled=asked, **options
            )
        ),
        most=most,
    )
    assert not (tmp_path / "o.zarr").exists()


def test_a_run_into_a_store_stops_while_the_target_is_read(chunked, tmp_path):
    target, counted, most = chunked(TARGET, 1)
    counted.stops(
        lambda asked: drain(
            api.upsample_to_store_steps(target, SCENE.guide, tmp_path / "o.zarr", cancelled=asked)
        ),
        most=min(most, TARGET.shape[1] // CHUNK + 1),
    )


@pytest.mark.parametrize("region", [None, (8, 8, 120, 88)])
def test_a_registration_stops_while_the_fixed_image_is_read(chunked, region):
    fixed, counted, most = chunked(GRAY, 3)
    counted.stops(
        lambda asked: drain(api.register_steps(fixed, SCENE.depth, cancelled=asked, region=region)),
        most=most,
    )


def test_a_registration_stops_while_the_moving_image_is_read(chunked):
    moving, counted, most = chunked(SCENE.depth, 3)
    counted.stops(lambda asked: drain(api.register_steps(GRAY, moving, cancelled=asked)), most=most)


@pytest.mark.parametrize("region", [None, (8, 8, 120, 88)])
def test_a_registration_stops_while_a_mask_is_read(chunked, region):
    mask, counted, most = chunked(np.ones(GRAY.shape, bool), 3)
    counted.stops(
        lambda asked: drain(
            api.register_steps(GRAY, SCENE.depth, mask_fixed=mask, cancelled=asked, region=region)
        ),
        most=most,
    )


def test_learning_stops_while_it_reads(chunked):
    image, counted, most = chunked(GRAY, 3)
    counted.stops(
        lambda asked: drain(api.learn_steps([(image, SCENE.depth)], side=3, cancelled=asked)),
        most=most,
    )


def test_a_check_stops_while_it_reads(chunked):
    guide, counted, most = chunked(SCENE.guide, 3)
    counted.stops(lambda asked: api.check_target(TARGET, guide, cancelled=asked), most=most)


def test_chunks_below_those_of_the_image_count():
    counted = Counted(3)
    image = counted.lazy(GRAY).rechunk(GRAY.shape)
    counted.stops(lambda asked: gather(image, cancelled=asked))
    counted = Counted(3)
    image = as_plane(counted.lazy(GRAY).rechunk(GRAY.shape), "image", counted.stop.is_set)
    counted.stops(lambda _: np.asarray(image))


def _one_by_one(graph, keys, **_):
    return dask.get(graph, keys)


@pytest.mark.parametrize("scheduler", ["sync", _one_by_one])
def test_other_schedulers_are_stopped(scheduler):
    counted = Counted(3)
    image = as_plane(counted.lazy(GRAY), "image", counted.stop.is_set)
    with dask.config.set(scheduler=scheduler):
        counted.stops(lambda _: np.asarray(image), most=TOGETHER)
    image = as_plane(counted.lazy(GRAY), "image", lambda: False)
    with dask.config.set(scheduler=scheduler):
        np.testing.assert_array_equal(np.asarray(image), GRAY)


def test_other_computations_of_dask_go_on():
    counted = Counted(3)
    counted.stops(lambda asked: gather(counted.lazy(GRAY), cancelled=asked))
    np.testing.assert_array_equal(da.from_array(GRAY, chunks=8).compute(), GRAY)


def test_the_question_stays_in_its_process():
    source = Source(GRAY, "guide", colour=False).asking(Event().is_set)
    assert pickle.loads(pickle.dumps(source)).cancelled is None  # noqa: S301 - made here
    assert source.cancelled is not None


PIXELS = np.arange(3 * 70 * 90 * 3, dtype=">u4").reshape(3, 70, 90, 3)
ARRAYS = {
    "zarr": zarr.create_array({}, data=PIXELS, chunks=(1, 8, 4, 3)),
    "shards": zarr.create_array({}, data=PIXELS, chunks=(1, 8, 8, 3), shards=(1, 16, 16, 3)),
    "dask": da.from_array(PIXELS, chunks=(1, (30, 40), (8,) * 10 + (10,), 3)),
}
SPAN = st.tuples(st.integers(0, 69), st.integers(1, 70)).map(lambda p: slice(p[0], p[0] + p[1]))


@pytest.mark.parametrize("kind", ARRAYS)
@settings(deadline=None, max_examples=30)
@given(rows=SPAN, columns=SPAN, plane=st.integers(0, 2), strides=st.sampled_from([None, 1, 2]))
def test_asking_changes_no_bit(kind, rows, columns, plane, strides):
    where = plane, rows, slice(columns.start, columns.stop, strides)
    found = read_asking(ARRAYS[kind], where, 1, lambda: False)
    expected = np.asarray(ARRAYS[kind][where])
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
