"""What users of other programs met with chunks, blocks and memory (cases K01 to K06, D25)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
import zarr

from napari_cosparse import degrade, learn_operators, make_scene, upsample, upsample_to_store
from napari_cosparse.tiles import estimate_bytes

OPTIONS = {"operators": "intensity-depth-3x3", "threads": 1}


def stored(target, guide, place, **options):
    """Result of a run into a store."""
    return zarr.open_array(upsample_to_store(target, guide, place, **OPTIONS, **options).path)[:]


def test_k01_last_chunk_smaller_than_the_halo(tmp_path):
    scene = make_scene((1030, 24), 0)  # chunks of 256: the last has 6 rows, the halo 32
    target = degrade(scene.depth, 4)
    guide = da.from_array(scene.guide, chunks=(256, 24, 3))
    lazy = da.from_array(target, chunks=(64, 6))
    assert np.array_equal(
        upsample(lazy, guide, **OPTIONS).image, upsample(target, scene.guide, **OPTIONS).image
    )
    ours = stored(lazy, guide, tmp_path / "a.zarr", block=256)
    assert np.array_equal(ours, stored(target, scene.guide, tmp_path / "b.zarr", block=256))
    assert np.isfinite(ours).all()


@pytest.mark.parametrize("chunks", [(1, 64, 64), (2, 1, 64), (1, 64, 1)])
def test_k02_chunks_of_one(tmp_path, chunks):
    scene = make_scene((64, 64), 0)
    target = degrade(scene.depth, 4)
    stack = np.stack([target, target[::-1]])
    lazy = da.from_array(stack, chunks=tuple(map(min, chunks, stack.shape)))
    guides = np.stack([scene.guide, scene.guide[::-1]])
    guide = da.from_array(guides, chunks=(*map(min, chunks, guides.shape[:3]), 3))
    ours = stored(lazy, guide, tmp_path / "a.zarr")
    assert np.array_equal(ours, stored(stack, guides, tmp_path / "b.zarr"))


def test_k03_halo_larger_than_the_image(tmp_path):
    scene = make_scene((20, 20), 1)
    target = degrade(scene.depth, 4)
    whole = upsample(target, scene.guide, **OPTIONS).image
    assert np.array_equal(stored(target, scene.guide, tmp_path / "a.zarr"), whole)
    blocks = stored(target, scene.guide, tmp_path / "b.zarr", block=8)
    assert np.allclose(blocks, whole, atol=0.02 * np.ptp(target))  # each solves the whole image


def test_k04_odd_chunks_are_left_alone(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the user's chunks were changed")

    monkeypatch.setattr(da.Array, "rechunk", refuse)
    scene = make_scene((70, 93), 0)
    target = degrade(scene.depth, 4)
    guide = da.from_array(scene.guide, chunks=(9, 5, 3))
    lazy = da.from_array(target, chunks=(9, 5))
    expected = upsample(target, scene.guide, **OPTIONS).image
    assert np.array_equal(upsample(lazy, guide, **OPTIONS).image, expected)
    assert np.array_equal(stored(lazy, guide, tmp_path / "a.zarr"), expected)
    pairs = [(guide, da.from_array(scene.depth, chunks=(9, 5)))]
    settings = {"side": 3, "samples": 100, "iterations": 3}
    found = learn_operators(pairs, **settings)
    plain = learn_operators([(scene.guide, scene.depth)], **settings)
    assert np.array_equal(found.history, plain.history)


def test_d25_seams_are_no_worse_than_the_rest(tmp_path):
    scene = make_scene((256, 256), 3)
    target = degrade(scene.depth, 4)
    whole = upsample(target, scene.guide, **OPTIONS).image
    blocks = stored(target, scene.guide, tmp_path / "a.zarr", block=64)
    near = (np.arange(256) + 8) % 64 < 16  # 8 pixels to both sides of a seam
    near[:8] = near[-8:] = False
    seams = near[:, None] | near

    def rmse(image, where):
        return float(np.sqrt(np.mean((image - scene.depth)[where] ** 2)))

    everywhere = np.ones_like(seams)
    assert rmse(blocks, seams) < 1.01 * rmse(whole, seams)
    assert rmse(blocks, everywhere) == pytest.approx(rmse(whole, everywhere), rel=0.01)
    assert np.sqrt(np.mean((blocks - whole) ** 2)) < 0.004 * np.ptp(target)


BUDGET = 300  # MB
CHILD = """
import re, sys
from pathlib import Path
import dask.array as da
import numpy as np
import napari_cosparse as nc

def memory(kind):
    text = Path("/proc/self/status").read_text()
    return int(re.search(kind + r":\\s+(\\d+)", text)[1]) / 1000

nc.upsample(np.eye(8), np.eye(16), threads=1)  # all that is imported
guide = da.random.default_rng(0).random((8192, 8192), chunks=1024, dtype="f4")
target = da.random.default_rng(1).random((2048, 2048), chunks=1024, dtype="f4")
before = memory("VmRSS")
steps = nc.upsample_to_store_steps(target, guide, sys.argv[1], "intensity-depth-3x3", threads=1,
                                   memory="{budget}MB", block=512, noise=0)
for step in steps:
    if step.stage.startswith("solving block 2"):
        break
steps.close()
print(memory("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to measure memory")
def test_k06_peak_memory_of_an_8192_image_is_bounded(tmp_path):
    code = CHILD.replace("{budget}", str(BUDGET))
    words = [sys.executable, "-c", code, str(tmp_path / "o.zarr")]
    run = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603
    assert 0 < float(run.stdout) < BUDGET  # the guide alone has 268 MB, its float64 537


ESTIMATED = """
import re, sys
from itertools import islice
from pathlib import Path
import numpy as np
import napari_cosparse as nc

def memory(kind):
    text = Path("/proc/self/status").read_text()
    return int(re.search(kind + r":\\s+(\\d+)", text)[1]) * 1024

scene = nc.make_scene((512, 512), 0)
target = nc.degrade(scene.depth, 4)
nc.upsample(np.eye(8), np.eye(16), "intensity-depth", threads=1)  # all that is imported
Path("/proc/self/clear_refs").write_text("5")
before = memory("VmRSS")
for _ in islice(nc.upsample_steps(target, scene.guide, threads=int(sys.argv[1]), noise=0), 12):
    pass
print(memory("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to measure memory")
@pytest.mark.parametrize("threads", [1, 8])
def test_the_estimate_is_an_upper_bound(threads):
    words = [sys.executable, "-c", ESTIMATED, str(threads)]
    run = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603
    estimate = estimate_bytes((512, 512), 3.0, 28 / 16, threads)
    assert estimate / 2 < int(run.stdout) < estimate
