"""Work in other processes: from scripts without a guard, and when one of them dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zarr

from napari_cosparse import degrade, make_scene, upsample_to_store, upsample_to_store_steps
from napari_cosparse.tiles import _run

SCENE = make_scene((96, 128), 0)
TARGET = degrade(SCENE.depth, 4)
OPTIONS = {"operators": "differences", "block": 64, "threads": 1}

SCRIPT = """
import sys
import zarr
import napari_cosparse as nc
print("once")
scene = nc.make_scene((96, 128), 0)
target = nc.degrade(scene.depth, 4)
nc.upsample_to_store(target, scene.guide, sys.argv[1], "differences", block=64, threads=1,
                     scheduler="processes")
pairs = [(zarr.open_array("u.zarr"), zarr.open_array("v.zarr"))]
nc.learn_operators(pairs, side=3, samples=50, iterations=1, scheduler="processes", threads=1)
"""


def test_a_script_without_a_guard_works_and_runs_once(tmp_path):
    for name, image in (("u", SCENE.guide), ("v", SCENE.depth)):
        array = zarr.create_array(tmp_path / f"{name}.zarr", shape=image.shape, dtype=image.dtype)
        array[:] = image
    script, place = tmp_path / "script.py", tmp_path / "o.zarr"
    script.write_text(SCRIPT)
    run = subprocess.run(  # noqa: S603
        [sys.executable, script, place], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (run.stdout.split(), run.stderr) == (["once"], "")
    upsample_to_store(TARGET, SCENE.guide, tmp_path / "here.zarr", **OPTIONS)
    assert np.array_equal(zarr.open_array(place)[:], zarr.open_array(tmp_path / "here.zarr")[:])


def test_the_main_module_is_put_back(tmp_path):
    main = sys.modules["__main__"]
    upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", **OPTIONS, scheduler="processes")
    assert sys.modules["__main__"] is main


def test_a_process_that_dies_is_told_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr(_run, "solve_now", die)
    place = tmp_path / "o.zarr"
    run = upsample_to_store_steps(TARGET, SCENE.guide, place, **OPTIONS, scheduler="processes")
    with pytest.raises(ChildProcessError, match="a process of this run has died"):
        list(run)
    monkeypatch.undo()
    upsample_to_store(TARGET, SCENE.guide, place, **OPTIONS, scheduler="processes")
    assert np.isfinite(zarr.open_array(place)[:]).all()


CHILD = """
import os, sys
import napari_cosparse as nc
from napari_cosparse.tiles import _pool
pool = _pool.Pool(1)
print(*_pool.results(pool, abs, [-1]), flush=True)
(process,) = pool._pool._processes.values()
print(process.pid, flush=True)
sys.stdin.read()
"""


def test_processes_end_with_the_one_that_made_them():
    run = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with run:
        assert run.stdout.readline() == "1\n"
        worker = int(run.stdout.readline())
        os.kill(worker, 0)  # it lives
        run.kill()
    for _ in range(300):
        if not alive(worker):
            break
        time.sleep(0.1)
    assert not alive(worker)


def alive(process):
    """Whether there is such a process, and no zombie."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    return not (status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] == "Z")


def die(*_):
    """Be killed, as for want of memory."""
    os.kill(os.getpid(), signal.SIGKILL)
