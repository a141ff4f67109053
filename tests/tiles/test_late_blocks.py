"""Workers that outlive their run: what they still write is no part of the next one."""

from __future__ import annotations

import numpy as np
import pytest
import zarr

from napari_cosparse import degrade, make_scene, upsample_to_store, upsample_to_store_steps
from napari_cosparse.tiles import _blocks, _large

SCENE = make_scene((64, 128), 0)
TARGET = degrade(SCENE.depth, 4)
OPTIONS = {"block": 64, "threads": 1, "scheduler": "threads"}


def steps(place, **options):
    return upsample_to_store_steps(TARGET, SCENE.guide, place, "differences", **OPTIONS, **options)


@pytest.fixture
def expected(tmp_path):
    """The result of the later run, undisturbed."""
    place = tmp_path / "alone.zarr"
    upsample_to_store(TARGET, SCENE.guide, place, "differences", **OPTIONS, noise=0.0)
    return zarr.open_array(place)[:]


@pytest.fixture
def late(tmp_path, monkeypatch):
    """What a worker of a cluster knows of a run that was given up before its second block."""
    jobs = []

    def nothing(_, job, places):
        jobs.append(job)
        yield 0.0

    with monkeypatch.context() as patched:
        patched.setattr(_large.Work, "solve", nothing)
        given_up = steps(tmp_path / "o.zarr", noise=1.0)
        while not jobs:
            next(given_up)
        given_up.close()
    return jobs[0]


def begin_anew(place):
    """Begin the later run, and stop it at once."""
    run = steps(place, noise=0.0, overwrite=True)
    for step in run:
        if step.stage.startswith("solving"):
            break
    run.close()


def finish(place):
    return upsample_to_store(TARGET, SCENE.guide, place, "differences", **OPTIONS, noise=0.0)


def test_a_late_block_is_refused(tmp_path, late, expected):
    place = tmp_path / "o.zarr"
    begin_anew(place)
    with pytest.raises(FileNotFoundError):
        _blocks.solve_now(late, (0, 0, 1))
    assert finish(place).resumed == 0
    np.testing.assert_array_equal(zarr.open_array(place)[:], expected)


@pytest.mark.parametrize("ended", [False, True], ids=["during", "after"])
def test_a_block_that_is_being_written_is_none_of_the_next_run(
    tmp_path, late, expected, monkeypatch, ended
):
    place = tmp_path / "o.zarr"

    def overtaken(array, where, values, what):
        monkeypatch.undo()
        begin_anew(place)
        if ended:
            finish(place)
        write(array, where, values, what)

    write = _blocks.write
    monkeypatch.setattr(_blocks, "write", overtaken)
    with pytest.raises(FileNotFoundError):
        _blocks.solve_now(late, (0, 0, 1))
    assert finish(place if not ended else tmp_path / "p.zarr").resumed == 0
    np.testing.assert_array_equal(zarr.open_array(place)[:], expected)
    again = upsample_to_store(
        TARGET, SCENE.guide, place, "differences", **OPTIONS, noise=0.0, overwrite=True
    )
    assert again.blocks == 2
    assert sorted(path.name for path in tmp_path.glob("o.zarr*")) == ["o.zarr"]


def test_what_came_late_holds_up_no_run(tmp_path, expected):
    late = tmp_path / "o.zarr.partial/run-0123456789abcdef/parts.zarr/c/0"
    late.mkdir(parents=True)
    finish(tmp_path / "o.zarr")
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "o.zarr")[:], expected)
    assert not (tmp_path / "o.zarr.partial").exists()


def test_a_run_goes_on_in_its_own_folder(tmp_path, late, expected):
    place = tmp_path / "o.zarr"
    begin_anew(place)
    partial = place.with_name("o.zarr.partial")
    run = steps(place, noise=0.0)
    while not any(partial.glob("run-*/solved/*.json")):
        next(run)
    run.close()
    assert len(list(partial.glob("run-*"))) == 1
    assert finish(place).resumed == 1
    np.testing.assert_array_equal(zarr.open_array(place)[:], expected)
