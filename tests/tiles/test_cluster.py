"""Blocks on the workers of a cluster, also when one of them dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from time import sleep
from uuid import uuid4

import dask.array as da
import numpy as np
import pytest
import zarr

from napari_cosparse import (
    degrade,
    learn_operators,
    make_scene,
    upsample_to_store,
    upsample_to_store_steps,
)
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import _look
from napari_cosparse.tiles import Cancelled
from napari_cosparse.tiles._sources import Source

distributed = pytest.importorskip("distributed")

SCENE = make_scene((160, 224), 0)
TARGET = degrade(SCENE.depth, 4)
OPTIONS = {"block": 96, "operators": "intensity-depth-3x3"}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The result of this process alone."""
    place = tmp_path_factory.mktemp("here") / "o.zarr"
    upsample_to_store(TARGET, SCENE.guide, place, **OPTIONS, scheduler="threads", threads=1)
    return zarr.open_array(place)[:]


@pytest.fixture
def client():
    """Two worker processes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ports in use, and of what workers say when they die
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


@pytest.mark.filterwarnings("ignore")
def test_the_active_client_is_used_and_changes_no_bit(client, expected, tmp_path):
    place = tmp_path / "o.zarr"
    stored = upsample_to_store(TARGET, SCENE.guide, place, **OPTIONS)
    assert np.array_equal(zarr.open_array(place)[:], expected)
    assert stored.blocks == 6


@pytest.mark.filterwarnings("ignore")
def test_address_and_lost_worker(client, expected, tmp_path):
    place = tmp_path / "o.zarr"
    address = client.scheduler.address
    pids = list(client.run(os.getpid).values())
    run = upsample_to_store_steps(TARGET, SCENE.guide, place, **OPTIONS, scheduler=address)
    killed = False
    for step in run:
        if not killed and step.stage.startswith("solving"):
            os.kill(pids[0], signal.SIGKILL)
            killed = True
    assert killed
    assert np.array_equal(zarr.open_array(place)[:], expected)


@pytest.mark.filterwarnings("ignore")
def test_workers_read_the_patches_for_learning(client, tmp_path, monkeypatch):
    monkeypatch.setattr(_look, "LOOKED", 5000)  # here; the workers only look where they are told
    options = {"side": 3, "samples": 200, "iterations": 4, "block": 50}
    stores = []
    for name, image in (("u", SCENE.guide), ("v", SCENE.depth)):
        array = zarr.create_array(tmp_path / name, shape=image.shape, dtype=image.dtype)
        array[:] = image
        stores.append(array)
    expected = learn_operators([(SCENE.guide, SCENE.depth)], **options)
    found = learn_operators([tuple(stores)], **options, scheduler=client.scheduler.address)
    assert np.array_equal(found.history, expected.history)
    assert client.status == "running"


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tcp://", "udp://host:1"])
def test_nobody_at_the_address(tmp_path, address):
    with pytest.raises(InputError, match="does not answer"):
        upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", **OPTIONS, scheduler=address)
    assert not any(tmp_path.iterdir())


STRANGER = """
import sys
import numpy as np
import zarr
import napari_cosparse as nc
from napari_cosparse.core.operators import _look
scene, address = nc.make_scene((160, 224), 0), sys.argv[1]
nc.upsample_to_store(nc.degrade(scene.depth, 4), scene.guide, "o.zarr", "intensity-depth-3x3",
                     block=96, scheduler=address)
_look.LOOKED = 5000
pairs = [(zarr.open_array("u"), zarr.open_array("v"))]
learned = nc.learn_operators(pairs, side=3, samples=200, iterations=4, block=50, scheduler=address)
np.save("history.npy", learned.history)
"""


@pytest.mark.filterwarnings("ignore")
def test_a_process_without_a_client_of_its_own(client, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(_look, "LOOKED", 5000)
    for name, image in (("u", SCENE.guide), ("v", SCENE.depth)):
        array = zarr.create_array(tmp_path / name, shape=image.shape, dtype=image.dtype)
        array[:] = image
    subprocess.run(  # noqa: S603
        [sys.executable, "-c", STRANGER, client.scheduler.address], cwd=tmp_path, check=True
    )
    assert np.array_equal(zarr.open_array(tmp_path / "o.zarr")[:], expected)
    options = {"side": 3, "samples": 200, "iterations": 4, "block": 50}
    here = learn_operators([(SCENE.guide, SCENE.depth)], **options, scheduler="threads")
    assert np.array_equal(np.load(tmp_path / "history.npy"), here.history)


@pytest.mark.filterwarnings("ignore")
def test_workers_that_compute_an_input_are_stopped(client, tmp_path):
    def slow(block, folder):  # in here, or workers would look for this module
        (folder / uuid4().hex).touch()
        sleep(0.05)
        return block

    chunks = da.from_array(SCENE.guide, chunks=(16, 16, *SCENE.guide.shape[2:]))
    lazy = chunks.map_blocks(slow, tmp_path, dtype=chunks.dtype, meta=chunks._meta)
    source = Source(lazy, "guide", SCENE.guide.ndim == 3)
    everything = slice(None), slice(None)
    with pytest.raises(Cancelled):
        source.asking(lambda: any(tmp_path.iterdir())).read((), *everything)
    assert len(list(tmp_path.iterdir())) < chunks.npartitions
    found = source.asking(lambda: False).read((), *everything)
    assert np.array_equal(found, SCENE.guide)
