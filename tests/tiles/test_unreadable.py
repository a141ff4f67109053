"""A chunk that cannot be read is named, with its store, in one message and without noise."""

from __future__ import annotations

import subprocess
import sys

import dask.array as da
import numpy as np
import pytest
import zarr

from napari_cosparse import degrade, learn_operators, make_scene, register, upsample
from napari_cosparse.tiles import Cancelled, as_plane, gather, planes_of
from napari_cosparse.tiles._read import read_part

SCENE = make_scene((96, 128), 0)
TARGET = degrade(SCENE.depth, 4)
LAYOUTS = {
    "v3": ({"chunks": (32, 32, 3)}, "c/1/2/0"),
    "v2": ({"chunks": (32, 32, 3), "zarr_format": 2}, "1.2.0"),
    "shards": ({"chunks": (16, 16, 3), "shards": (32, 32, 3)}, "c/1/2/0"),
}


def broken(folder, layout="v3", others=()):
    """A guide of which some chunks are cut off in the middle."""
    options, key = LAYOUTS[layout]
    place = folder / "the guide.zarr"
    array = zarr.create_array(place, shape=SCENE.guide.shape, dtype=SCENE.guide.dtype, **options)
    array[:] = SCENE.guide
    for name in (key, *others):
        chunk = place / name
        content = chunk.read_bytes()
        chunk.write_bytes(content[: len(content) // 2])
    return array


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_chunk_and_its_store_are_named(tmp_path, layout):
    guide = broken(tmp_path, layout)
    place = r"rows 32:64, columns 64:96 cannot be read \(chunk "
    place += LAYOUTS[layout][1] + r" of .*the guide\.zarr: "
    with pytest.raises(OSError, match="guide: " + place):
        upsample(TARGET, guide, "differences", threads=1)
    with pytest.raises(OSError, match="u of image pair 1: " + place):
        learn_operators([(guide, SCENE.depth)], side=3, samples=100, iterations=1, threads=1)
    with pytest.raises(OSError, match="moving: " + place):
        register(SCENE.depth, guide, threads=1)


def test_the_chunk_of_a_dask_array_is_named():
    def part(block, block_info):
        if block_info[0]["chunk-location"] == (1, 2, 0):
            raise ValueError("tape broken")
        return block

    guide = da.from_array(SCENE.guide, chunks=(32, 40, 3)).map_blocks(part, dtype=np.uint8)
    place = r"guide: rows 32:64, columns 80:120 cannot be read \(chunk \(1, 2, 0\): tape broken\)"
    with pytest.raises(OSError, match=place):
        upsample(TARGET, guide, "differences", threads=1)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_others_are_counted(tmp_path, scheduler):
    from napari_cosparse import upsample_to_store

    guide = broken(tmp_path, others=("c/1/3/0", "c/2/2/0"))
    out = tmp_path / "o.zarr"
    with pytest.raises(OSError, match=r"chunk c/1/2/0 of .*; 2 more chunks there too\)$"):
        upsample_to_store(TARGET, guide, out, "differences", threads=1, scheduler=scheduler)
    assert not out.exists()


def test_dask_arrays_say_what_they_read(tmp_path):
    guide = broken(tmp_path)
    lazy = da.from_array(guide, chunks=(50, 50, 3))
    with pytest.raises(OSError, match=r"guide: rows 32:64, .*chunk c/1/2/0 of .*the guide"):
        upsample(TARGET, lazy, "differences", threads=1)

    def fail(block):
        raise ZeroDivisionError("no such luck")

    lazy = da.from_array(SCENE.guide, chunks=(50, 50, 3)).map_blocks(fail, dtype=np.uint8)
    with pytest.raises(OSError, match=r"guide: rows 0:50, columns 0:50 .*no such luck"):
        upsample(TARGET, lazy, "differences", threads=1)


def test_the_plane_of_a_stack_is_named(tmp_path):
    stack = zarr.create_array(
        tmp_path / "s.zarr", shape=(3, 24, 32), chunks=(1, 24, 32), dtype=TARGET.dtype
    )
    stack[:] = np.stack([TARGET] * 3)
    (tmp_path / "s.zarr/c/2/0/0").write_bytes(b"x")
    *good, bad = planes_of(stack, "s")
    assert all(np.array_equal(np.asarray(plane), TARGET) for plane in good)
    with pytest.raises(OSError, match=r"s: plane 2, rows 0:24, columns 0:32 .*chunk c/2/0/0"):
        np.asarray(bad)


def test_what_can_be_read_is_read_as_it_is(tmp_path):
    guide = zarr.create_array(
        tmp_path / "g.zarr", shape=SCENE.guide.shape, chunks=(7, 50, 2), dtype=SCENE.guide.dtype
    )
    guide[:] = SCENE.guide
    assert np.array_equal(gather(guide), SCENE.guide)
    plane = as_plane(guide, "guide")
    assert np.array_equal(plane, SCENE.guide)
    assert np.array_equal(plane[3:-1, ::1], SCENE.guide[3:-1])
    assert np.asarray(plane, np.float32).dtype == np.float32


@pytest.mark.parametrize("command", ["upsample", "learn"])
def test_the_command_line_says_it_in_one_line(tmp_path, command):
    broken(tmp_path, others=("c/0/0/0",))
    for name, image in (("t", TARGET), ("v", SCENE.depth)):
        array = zarr.create_array(tmp_path / f"{name}.zarr", shape=image.shape, dtype=image.dtype)
        array[:] = image
    words = {
        "upsample": ["t.zarr", "the guide.zarr", "-o", "o.zarr", "--operators", "differences"],
        "learn": ["the guide.zarr", "v.zarr", "-o", "o.npz", "--samples", "100"],
    }
    code = "import sys; from napari_cosparse.cli import main; sys.exit(main(sys.argv[1:]))"
    run = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code, command, *words[command], "--threads", "1"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 2
    assert len(run.stderr.splitlines()) == 1
    assert "(chunk c/0/0/0 of the guide.zarr: " in run.stderr
    assert "; 1 more chunk there too)" in run.stderr


def test_a_store_that_is_gone_is_no_empty_one(tmp_path, monkeypatch):
    guide = zarr.create_array(tmp_path / "g.zarr", shape=SCENE.depth.shape, dtype="f4")
    guide[:] = SCENE.depth
    monkeypatch.chdir(tmp_path)
    plane = as_plane(zarr.open_array("g.zarr", mode="r"), "guide")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # as workers may be
    assert np.array_equal(plane, SCENE.depth)
    (tmp_path / "g.zarr").rename(tmp_path / "other.zarr")
    with pytest.raises(OSError, match=r"guide: .*g\.zarr is not there for .*see the same files"):
        np.asarray(plane)


def test_who_cancels_while_it_is_read_is_not_told_of_a_broken_chunk():
    class Stopped:
        def __getitem__(self, part):
            raise Cancelled

    with pytest.raises(Cancelled):
        read_part(Stopped(), (slice(0, 2), slice(0, 2)), "guide", 0, 0)
