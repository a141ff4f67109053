"""What a kill, a full disk or a power cut leaves of a run is never taken for a result."""

from __future__ import annotations

import pickle
import shutil

import numpy as np
import pytest
import zarr

from napari_cosparse import degrade, make_scene, upsample_to_store, upsample_to_store_steps
from napari_cosparse.core.errors import InputError
from napari_cosparse.tiles import Cancelled, _large, _left

SCENE = make_scene((96, 128), 0)
TARGET = degrade(SCENE.depth, 4)
BLOCKS = {"operators": "differences", "block": 64, "threads": 1, "noise": 0}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Result of a run that nothing disturbs."""
    place = tmp_path_factory.mktemp("whole") / "o.zarr"
    upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    return zarr.open_array(place)[:]


def stopped(place, stage, **options):
    """Stop a run at the first report of a stage; return its folder."""
    run = upsample_to_store_steps(TARGET, SCENE.guide, place, **BLOCKS, **options)
    for progress in run:
        if progress.stage.startswith(stage):
            break
    run.close()
    (folder,) = place.with_name(f"{place.name}.partial").glob("run-*")
    return folder


def chunks(array):
    return sorted(path for path in (array / "c").rglob("*") if path.is_file())


@pytest.mark.parametrize("harm", ["lost", "empty", "other"])
def test_blocks_that_were_damaged_are_solved_again(whole, tmp_path, harm):
    place = tmp_path / "o.zarr"
    folder = stopped(place, "writing block")
    first = chunks(folder / "parts.zarr")[0]
    if harm == "lost":
        first.unlink()
    else:
        first.write_bytes(b"" if harm == "empty" else chunks(folder / "parts.zarr")[1].read_bytes())
    stored = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    assert stored.resumed == stored.blocks - 1
    assert np.array_equal(zarr.open_array(place)[:], whole)


def test_result_that_was_damaged_is_written_again(whole, tmp_path):
    place = tmp_path / "o.zarr"
    folder = stopped(place, "writing block 3")
    chunks(folder / "result")[0].unlink()
    stored = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    assert stored.resumed == stored.blocks
    assert np.array_equal(zarr.open_array(place)[:], whole)


def test_note_that_was_cut_counts_as_none(whole, tmp_path):
    place = tmp_path / "o.zarr"
    note = next((stopped(place, "writing block") / "solved").glob("*.json"))
    note.write_text('{"known": 3')
    stored = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    assert stored.resumed == stored.blocks - 1
    assert np.array_equal(zarr.open_array(place)[:], whole)


def test_folder_that_is_half_deleted_is_no_run_to_go_on_from(whole, tmp_path, monkeypatch):
    place = tmp_path / "o.zarr"

    def killed(path, *_, **__):
        if path != place.with_name("o.zarr.partial"):
            return remove(path)
        for array in path.glob("run-*/parts.zarr"):
            remove(array)
        raise KeyboardInterrupt

    remove = shutil.rmtree
    monkeypatch.setattr(_left.shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    monkeypatch.undo()
    assert np.array_equal(zarr.open_array(place)[:], whole)
    place.rename(tmp_path / "elsewhere.zarr")
    with pytest.raises(InputError, match=r"was not made to the end.*overwrite"):
        upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS, overwrite=True)
    assert np.array_equal(zarr.open_array(place)[:], whole)


def test_a_flag_stops_the_writing_too(tmp_path):
    told, place = [], tmp_path / "o.ome.zarr"
    options = {**BLOCKS, "cancelled": lambda: bool(told)}

    def run():
        for progress in upsample_to_store_steps(TARGET, SCENE.guide, place, **options):
            if progress.stage.startswith("writing block 2"):
                told.append(progress)
            assert len(told) <= 1

    with pytest.raises(Cancelled):
        run()
    assert not place.exists()
    assert upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS).resumed == 4


def test_weights_are_read_from_the_disk_by_other_processes(tmp_path, monkeypatch):
    weights, sizes = np.random.default_rng(0).uniform(0.5, 1, (24, 32)), []

    def made(*given):
        job = yield from make_job(*given)
        sizes.append(len(pickle.dumps(job.weights)))
        return job

    make_job = _large.make_job
    monkeypatch.setattr(_large, "make_job", made)
    options = {**BLOCKS, "weights": weights}
    upsample_to_store(TARGET, SCENE.guide, tmp_path / "here.zarr", **options)
    upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", **options, scheduler="processes")
    here, there = (zarr.open_array(tmp_path / name)[:] for name in ("here.zarr", "o.zarr"))
    assert np.array_equal(here, there)
    assert sizes[1] < weights.nbytes < sizes[0]
