"""Layers that are read chunk by chunk stop being read when the run is cancelled."""

from threading import Event

import dask
import dask.array as da
import numpy as np
import pytest
import zarr
from napari.layers import Image

from napari_cosparse.core.progress import drain
from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.tiles import Cancelled
from napari_cosparse.widgets._job import pair_up, placed, upsampling


class Told(Event):
    """Says after some questions that a run is to stop."""

    def __init__(self, after):
        super().__init__()
        self.after = after

    def is_set(self):
        self.after -= 1
        return self.after < 0


@pytest.mark.parametrize("kind", ["dask", "zarr"])
def test_reading_of_a_guide_in_chunks_can_be_stopped(kind, scene):
    read = []

    def chunk(block):
        read.append(block.shape)
        return block

    gray = np.tile(scene.guide[..., 0], (4, 1))
    if kind == "dask":
        guide = da.from_array(gray, chunks=(8, -1)).map_blocks(chunk, dtype=gray.dtype)
    else:
        guide = zarr.create_array({}, data=gray, chunks=(8, 96))
    low = Image(np.tile(scene.coarse, (4, 1)), scale=(4, 4), translate=(1.5, 1.5), name="low")
    pair = pair_up(low, Image(guide, contrast_limits=(0, 255), name="guide"), positions=True)
    told = Told(3)
    steps = upsampling(pair, "intensity-depth", placed(pair, Settings()), cancelled=told.is_set)()
    read.clear()
    with dask.config.set(num_workers=1), pytest.raises(Cancelled):
        drain(steps)
    assert told.after == -1  # asked once more, then no chunk was read
    assert len(read) in ((1, 2, 3) if kind == "dask" else (0,))
