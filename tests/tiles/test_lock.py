"""Two runs on one output are kept apart, and nothing of that outlives them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from socket import gethostname

import numpy as np
import pytest
import zarr

from napari_cosparse import (
    degrade,
    learn_operators,
    learn_steps,
    make_scene,
    upsample_to_store,
    upsample_to_store_steps,
)
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.progress import drain
from napari_cosparse.tiles import _checkpoint, _lock

SCENE = make_scene((96, 128), 0)
TARGET = degrade(SCENE.depth, 4)
OPTIONS = {"operators": "differences", "block": 64, "threads": 1}
LEARN = {"side": 3, "samples": 100, "iterations": 5, "threads": 1}

RUN = """
import sys
import napari_cosparse as nc
scene = nc.make_scene((96, 128), 0)
steps = nc.upsample_to_store_steps(nc.degrade(scene.depth, 4), scene.guide, sys.argv[1],
                                   "differences", block=64, threads=1)
for step in steps:
    if step.stage.startswith("solving block 3"):
        print(step.stage, flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """A process that is in the middle of a run, and its output."""
    place = tmp_path / "o.zarr"
    run = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", RUN, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with run:
        assert "block 3" in run.stdout.readline()
        yield run, place
        run.kill()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("options", [{}, {"overwrite": True}, {"resume": False}])
def test_a_second_process_is_refused_and_touches_nothing(other, options):
    run, place = other
    before = contents(place.parent)
    message = rf"o\.zarr\.partial is in use: another run \(process {run.pid} on {gethostname()}\)"
    with pytest.raises(InputError, match=message + ".*; wait until .*, or choose another output"):
        upsample_to_store(TARGET, SCENE.guide, place, **OPTIONS, **options)
    assert contents(place.parent) == before
    run.stdin.close()  # go on
    assert run.wait() == 0
    assert names(place.parent) == ["o.zarr"]


def test_another_name_is_free(other):
    _, place = other
    free = place.with_name("free.zarr")
    upsample_to_store(TARGET, SCENE.guide, free, **OPTIONS)
    assert np.isfinite(zarr.open_array(free)[:]).all()


def test_a_killed_run_leaves_no_lock(other, tmp_path):
    run, place = other
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert names(place.parent) == ["o.zarr.partial", "o.zarr.partial.lock"]
    assert upsample_to_store(TARGET, SCENE.guide, place, **OPTIONS).resumed == 1
    assert names(place.parent) == ["o.zarr"]
    upsample_to_store(TARGET, SCENE.guide, tmp_path / "whole.zarr", **OPTIONS)
    whole = zarr.open_array(tmp_path / "whole.zarr")[:]
    assert np.array_equal(zarr.open_array(place)[:], whole)


def test_a_killed_run_of_processes_leaves_no_lock(tmp_path):
    place = tmp_path / "o.zarr"
    code = RUN.replace("threads=1)", 'threads=1, scheduler="processes")')
    words = [sys.executable, "-c", code, place]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:  # noqa: S603
        run.stdout.readline()
        run.kill()
    assert upsample_to_store(TARGET, SCENE.guide, place, **OPTIONS).blocks == 4


def test_a_run_of_this_process_is_told_apart(tmp_path):
    place = tmp_path / "o.zarr"
    first = upsample_to_store_steps(TARGET, SCENE.guide, place, **OPTIONS)
    next(first)
    second = upsample_to_store_steps(TARGET, SCENE.guide, place, **OPTIONS)
    with pytest.raises(InputError, match=r"a run of this process is writing.*close\(\) its gen"):
        next(second)
    first.close()
    assert not names(tmp_path)
    upsample_to_store(TARGET, SCENE.guide, place, **OPTIONS)


def test_a_run_that_ends_by_an_error_leaves_no_lock(tmp_path):
    def stop(progress):
        raise KeyboardInterrupt

    place = tmp_path / "o.zarr"
    with pytest.raises(KeyboardInterrupt) as caught:  # its traceback holds on to the generator
        upsample_to_store(TARGET, SCENE.guide, place, **OPTIONS, report=stop)
    upsample_to_store(TARGET, SCENE.guide, place, **OPTIONS)
    assert caught.value is not None
    assert names(tmp_path) == ["o.zarr"]


def test_an_output_that_another_run_has_made_meanwhile_is_not_replaced(tmp_path):
    place = tmp_path / "o.zarr"
    late = upsample_to_store_steps(TARGET, SCENE.guide, place, **OPTIONS)
    upsample_to_store(TARGET, SCENE.guide, place, **OPTIONS)
    before = contents(place)
    assert drain(late).found
    assert contents(place) == before
    other = upsample_to_store_steps(TARGET + 1, SCENE.guide, place, **OPTIONS)
    with pytest.raises(InputError, match="exists already"):
        drain(other)
    assert contents(place) == before
    strict = upsample_to_store_steps(
        TARGET, SCENE.guide, tmp_path / "p.zarr", **OPTIONS, resume=False
    )
    upsample_to_store(TARGET, SCENE.guide, tmp_path / "p.zarr", **OPTIONS)
    with pytest.raises(InputError, match="exists already"):
        next(strict)


def test_a_lock_file_that_was_deleted_is_no_lock(tmp_path):
    folder = tmp_path / "o.partial"
    with _lock.alone(folder):
        (tmp_path / "o.partial.lock").unlink()
        with _lock.alone(folder):
            assert names(tmp_path) == ["o.partial.lock"]
    assert not names(tmp_path)


def test_who_waits_at_a_file_that_is_deleted_takes_the_new_one(tmp_path, monkeypatch):
    folder, take = tmp_path / "o.partial", _lock._take
    opened = []

    def late(file):
        if not opened:
            (tmp_path / "o.partial.lock").unlink()  # its holder ends between open and lock
        opened.append(file)
        take(file)

    monkeypatch.setattr(_lock, "_take", late)
    with _lock.alone(folder):
        assert len(opened) == 2
        assert names(tmp_path) == ["o.partial.lock"]


@pytest.mark.skipif(os.name == "nt", reason="flock is not Windows'")
def test_a_file_system_without_locks_gives_a_warning(tmp_path, monkeypatch):
    def unable(*_):
        raise OSError(_lock.errno.ENOLCK, "No locks available")

    monkeypatch.setattr(_lock.fcntl, "flock", unable)
    with pytest.warns(RuntimeWarning, match=r"cannot be locked here \(No locks available\)"):  # noqa: SIM117
        with _lock.alone(tmp_path / "o.partial"):
            pass
    assert not names(tmp_path)


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_lock.os, "write", full)
    with (
        pytest.raises(OSError, match=r"No space left.*o\.partial\.lock"),
        _lock.alone(tmp_path / "o.partial"),
    ):
        pass
    monkeypatch.undo()
    assert not names(tmp_path)


def test_learning_runs_are_kept_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(_checkpoint, "EVERY", 0.0)
    folder = tmp_path / "p.npz.partial"
    pairs = [(SCENE.guide, SCENE.depth)]
    first = learn_steps(pairs, **LEARN, checkpoint=folder)
    while not folder.exists():
        next(first)
    for options in ({}, {"overwrite": True}, {"resume": False}):
        with pytest.raises(InputError, match=r"p\.npz\.partial is in use: a run of this process"):
            learn_operators(pairs, **LEARN, checkpoint=folder, **options)
    first.close()
    assert names(tmp_path) == ["p.npz.partial"]
    found = learn_operators(pairs, **LEARN, checkpoint=folder)
    assert not names(tmp_path)
    assert np.array_equal(found.history, learn_operators(pairs, **LEARN).history)


def test_a_relative_output_is_locked_where_it_lies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with _lock.alone(Path("o.partial")):
        assert names(tmp_path) == ["o.partial.lock"]


@pytest.mark.parametrize("kind", ["file", "link", "dangling", "folder"])
def test_what_has_the_name_of_the_lock_is_not_touched(tmp_path, kind):
    place, precious = tmp_path / "o.zarr.partial.lock", tmp_path / "precious"
    if kind == "file":
        place.write_text("4711 notes of my own\n")
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(precious)
        if kind == "link":
            precious.write_text("precious")
    before = contents(tmp_path)
    with pytest.raises(InputError, match=r"o\.zarr\.partial\.lock is a.* no lock of this program"):
        upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", **OPTIONS)
    assert contents(tmp_path) == before
    assert os.path.lexists(place)


@pytest.mark.parametrize("text", ["", "4711 some-host\n"])
def test_the_lock_of_a_run_that_was_killed_is_taken_over(tmp_path, text):
    (tmp_path / "o.zarr.partial.lock").write_text(text)
    upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", **OPTIONS)
    assert names(tmp_path) == ["o.zarr"]
