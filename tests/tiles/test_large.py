"""Upsampling into stores: the same result however inputs are chunked, blocks, resume, errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import islice

import dask.array as da
import numpy as np
import pytest
import zarr

from napari_cosparse import (
    degrade,
    make_scene,
    upsample,
    upsample_to_store,
    upsample_to_store_steps,
)
from napari_cosparse.core.errors import InputError
from napari_cosparse.tiles import Cancelled, estimate_bytes
from napari_cosparse.tiles._sources import Source

OPERATORS = "intensity-depth-3x3"
SHAPE = (160, 224)
SCENE = make_scene(SHAPE, 0)
TARGET = degrade(SCENE.depth, 4)
BLOCKS = {"block": 96, "operators": OPERATORS, "threads": 1}


@pytest.fixture(scope="module")
def whole():
    """The result in memory."""
    return upsample(TARGET, SCENE.guide, OPERATORS, threads=1).image


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """The result in blocks, and its record."""
    place = tmp_path_factory.mktemp("blocks") / "out.zarr"
    stored = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    return stored, zarr.open_array(place)[:]


def rmse(image):
    return float(np.sqrt(np.mean((image - SCENE.depth) ** 2)))


def as_zarr(folder, array, chunks, name):
    found = zarr.create_array(folder / name, shape=array.shape, chunks=chunks, dtype=array.dtype)
    found[:] = array
    return found


@pytest.mark.parametrize("chunks", [(41, 25), (9, 5), (1, 224), (160, 1)])
def test_chunking_changes_no_bit_in_memory(whole, chunks):
    target = da.from_array(TARGET, chunks=tuple(min(c, n) for c, n in zip(chunks, TARGET.shape)))  # noqa: B905
    guide = da.from_array(SCENE.guide, chunks=(*chunks, 3))
    assert np.array_equal(upsample(target, guide, OPERATORS, threads=1).image, whole)


def test_zarr_changes_no_bit_in_memory(whole, tmp_path):
    target = as_zarr(tmp_path, TARGET, (9, 5), "t.zarr")
    guide = as_zarr(tmp_path, SCENE.guide, (33, 20, 1), "g.zarr")
    assert np.array_equal(upsample(target, guide, OPERATORS, threads=1).image, whole)


def test_one_block_is_the_result_in_memory(whole, tmp_path):
    stored = upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", OPERATORS, threads=1)
    assert stored.blocks == 1
    assert np.array_equal(zarr.open_array(stored.path)[:], whole)


def test_blocks_are_as_good_as_the_whole(whole, blocks):
    stored, image = blocks
    assert stored.blocks == 6
    assert np.isfinite(image).all()
    assert rmse(image) == pytest.approx(rmse(whole), rel=0.01)
    assert 0 < stored.disagreement[0] < 0.05 * np.ptp(TARGET)
    assert stored.disagreement[0] <= stored.disagreement[1]


def test_guide_of_which_a_part_is_covered_has_the_same_range_in_memory(tmp_path):
    guide = SCENE.guide.astype(np.float32)
    guide[:, 128:] *= 20  # beside the target
    where = {"origin": (1.5, 1.5), "factor": 4, "noise": 0}
    part = TARGET[:, :28]
    whole = upsample(part, guide, OPERATORS, threads=1, **where).image
    stored = upsample_to_store(part, guide, tmp_path / "o.zarr", **BLOCKS, **where)
    apart = (zarr.open_array(stored.path)[:] - whole)[:, :112]
    assert stored.blocks > 1
    assert np.sqrt(np.mean(apart**2)) < 0.01 * np.ptp(part)  # 0.035 with ranges of their own


def test_metadata_tell_what_was_done(blocks):
    stored, _ = blocks
    notes = zarr.open_array(stored.path).attrs["napari-cosparse"]
    assert notes["result"]["disagreement"]["rms"] == stored.disagreement[0]
    assert notes["memory"] == stored.memory
    assert notes["parameters"]["factor"] == [4, 4]
    assert not stored.path.with_name("out.zarr.partial").exists()


@pytest.mark.parametrize("chunks", [(41, 25), (9, 5)])
def test_chunking_changes_no_bit_of_blocks(blocks, tmp_path, chunks):
    target = da.from_array(TARGET, chunks=chunks)
    guide = as_zarr(tmp_path, SCENE.guide, (*chunks, 3), "g.zarr")
    stored = upsample_to_store(target, guide, tmp_path / "o.zarr", **BLOCKS)
    assert np.array_equal(zarr.open_array(stored.path)[:], blocks[1])


def test_processes_change_no_bit(blocks, tmp_path):
    options = {**BLOCKS, "threads": 2, "scheduler": "processes"}
    stored = upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", **options)
    assert np.array_equal(zarr.open_array(stored.path)[:], blocks[1])


@pytest.mark.parametrize("chunks", [(41, 25), (9, 5), (160, 224)])
def test_chunking_changes_nothing_that_is_measured_of_a_large_image(monkeypatch, chunks):
    from napari_cosparse.core.progress import drain
    from napari_cosparse.core.reconstruction import Settings
    from napari_cosparse.tiles import _as_source, _look, _sources

    monkeypatch.setattr(_look, "SAMPLED", 9000)
    monkeypatch.setattr(_sources, "PIECE_PIXELS", 1)
    monkeypatch.setattr(_sources, "PIECE_ROWS", 8)
    monkeypatch.setattr(_sources, "STRIP_PIXELS", 5000)

    def look(target, guide):
        guide, target = _as_source.as_source(guide, "g"), _as_source.as_source(target, "t")
        looked = drain(_look.look_at_target(target, (), Settings()))
        return drain(_look.look_at_guide(guide, ())), (looked.samples, looked.checksum)

    (span, digest), (samples, other) = look(SCENE.depth, SCENE.guide)
    lazy = (
        da.from_array(SCENE.depth, chunks=chunks),
        da.from_array(SCENE.guide, chunks=(*chunks, 3)),
    )
    (again, same), (found, alike) = look(*lazy)
    assert (span, digest, other) == (again, same, alike)
    assert np.array_equal(samples, found)
    assert 7000 < samples.size < 11000


def test_small_images_and_large_halo(tmp_path):
    scene = make_scene((20, 20), 1)
    target = degrade(scene.depth, 4)
    guide = da.from_array(scene.guide, chunks=(7, 6, 3))
    found = upsample_to_store(target, guide, tmp_path / "o.zarr", OPERATORS, block=8, threads=1)
    image = zarr.open_array(found.path)[:]
    assert image.shape == (20, 20)
    assert np.isfinite(image).all()


def test_fractional_factor_and_origin_in_blocks(tmp_path):
    guide = SCENE.guide[:150, :200]
    options = {"factor": (3.5, 4), "origin": (3.0, 5.0), "threads": 1, "noise": 0}
    target = degrade(SCENE.depth, (3.5, 4))[:36, :40]
    expected = upsample(target, guide, OPERATORS, **options).image
    stored = upsample_to_store(target, guide, tmp_path / "o.zarr", OPERATORS, block=64, **options)
    image = zarr.open_array(stored.path)[:]
    assert np.array_equal(np.isnan(image), np.isnan(expected))
    known = np.isfinite(image)
    assert np.sqrt(np.mean((image - expected)[known] ** 2)) < 0.05 * np.ptp(target)


def cancelled(place, steps):
    run = upsample_to_store_steps(TARGET, SCENE.guide, place, **BLOCKS)
    for _ in islice(run, steps):
        pass
    run.close()


def test_a_cancelled_run_is_continued(blocks, tmp_path):
    place = tmp_path / "o.zarr"
    cancelled(place, 120)
    assert not place.exists()
    done = len(list((tmp_path / "o.zarr.partial").glob("run-*/solved/*.json")))
    assert 0 < done < 6
    stored = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    assert stored.resumed == done
    assert np.array_equal(zarr.open_array(place)[:], blocks[1])


def test_a_flag_stops_a_run_between_two_reports(blocks, tmp_path):
    asked, place = 0, tmp_path / "o.zarr"

    def cancelled():
        nonlocal asked
        asked += 1
        return asked > 5000

    run = upsample_to_store_steps(TARGET, SCENE.guide, place, **BLOCKS, cancelled=cancelled)
    with pytest.raises(Cancelled):
        list(run)
    assert asked == 5001
    done = len(list((tmp_path / "o.zarr.partial").glob("run-*/solved/*.json")))
    stored = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    assert stored.resumed == done < 6
    assert np.array_equal(zarr.open_array(place)[:], blocks[1])


def test_a_flag_stops_processes(tmp_path):
    options = {**BLOCKS, "threads": 1, "scheduler": "processes"}
    run = upsample_to_store_steps(
        TARGET, SCENE.guide, tmp_path / "o.zarr", **options, cancelled=lambda: True
    )
    with pytest.raises(Cancelled):
        list(run)


def test_a_run_goes_on_with_its_blocks_whatever_memory_is_free(blocks, tmp_path, monkeypatch):
    from napari_cosparse.tiles import _work

    place = tmp_path / "o.zarr"
    least = 2 * (estimate_bytes((160, 160), 3.0, 2.0))
    monkeypatch.setattr(_work, "free_memory", lambda: least)
    run = upsample_to_store_steps(TARGET, SCENE.guide, place, OPERATORS, threads=1)
    for _ in islice(run, 60):
        pass
    run.close()
    monkeypatch.undo()
    stored = upsample_to_store(TARGET, SCENE.guide, place, OPERATORS, threads=1)
    assert stored.blocks > 1


def test_what_was_done_is_kept_beside_an_output_that_is_replaced(tmp_path, monkeypatch):
    from napari_cosparse.tiles import _work

    place, options = tmp_path / "o.zarr", {"operators": OPERATORS, "threads": 1}
    zarr.create_array(place, shape=(2, 2), dtype="f4")
    monkeypatch.setattr(_work, "free_memory", lambda: 2 * (estimate_bytes((160, 160), 3.0, 2.0)))
    run = upsample_to_store_steps(TARGET, SCENE.guide, place, overwrite=True, **options)
    while not any((tmp_path / "o.zarr.partial").glob("run-*/solved/*.json")):
        next(run)
    run.close()
    monkeypatch.undo()
    stored = upsample_to_store(TARGET, SCENE.guide, place, overwrite=True, resume=True, **options)
    assert stored.resumed > 0


def test_the_blocks_of_another_job_are_not_taken_over(tmp_path):
    place = tmp_path / "o.zarr"
    cancelled(place, 60)
    stored = upsample_to_store(
        TARGET, SCENE.guide, place, OPERATORS, threads=1, noise=0.5, overwrite=True
    )
    assert stored.blocks == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [({"noise": 0.5}, "another job"), ({"resume": False}, "unfinished run of this job")],
)
def test_an_occupied_folder_is_told_before_the_images_are_read(
    tmp_path, monkeypatch, options, message
):
    place = tmp_path / "o.zarr"
    cancelled(place, 60)
    monkeypatch.setattr(Source, "strips", None)
    with pytest.raises(InputError, match=message):
        next(upsample_to_store_steps(TARGET, SCENE.guide, place, **BLOCKS, **options))


SCRIPT = """
import sys
from napari_cosparse import degrade, make_scene, upsample_to_store
scene = make_scene({shape}, 0)
upsample_to_store(degrade(scene.depth, 4), scene.guide, sys.argv[1], "{operators}", block=96,
    threads=1)
"""


def test_a_killed_run_is_continued(blocks, tmp_path):
    place = tmp_path / "o.zarr"
    code = SCRIPT.format(shape=SHAPE, operators=OPERATORS)
    run = subprocess.Popen([sys.executable, "-c", code, str(place)])  # noqa: S603
    partial = tmp_path / "o.zarr.partial"
    while run.poll() is None and not (any(partial.glob("run-*/solved/*.json"))):
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    stored = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    assert stored.resumed > 0
    assert np.array_equal(zarr.open_array(place)[:], blocks[1])


def test_another_job_is_refused_unless_overwritten(tmp_path):
    place = tmp_path / "o.zarr"
    cancelled(place, 60)
    with pytest.raises(InputError, match="another job"):
        upsample_to_store(TARGET + 1, SCENE.guide, place, **BLOCKS)
    with pytest.raises(InputError, match="another job"):
        upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS, blur="gaussian")
    with pytest.raises(InputError, match="unfinished"):
        upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS, resume=False)
    other = BLOCKS | {"block": 128}
    stored = upsample_to_store(TARGET, SCENE.guide, place, **other, overwrite=True)
    assert stored.resumed == 0
    with pytest.raises(InputError, match="exists already"):
        upsample_to_store(TARGET, SCENE.guide, place, OPERATORS, resume=False)


def test_a_half_made_folder_is_refused(tmp_path):
    (tmp_path / "o.zarr.partial/run-0123456789abcdef/solved").mkdir(parents=True)
    with pytest.raises(InputError, match=r"not made to the end.*overwrite=True"):
        upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", OPERATORS)
    assert not (tmp_path / "o.zarr").exists()


def test_an_unreadable_chunk_is_named_and_what_was_done_stays(tmp_path, blocks):
    guide = as_zarr(tmp_path, SCENE.guide, (40, 56, 3), "g.zarr")
    place = tmp_path / "o.zarr"
    run = upsample_to_store_steps(TARGET, guide, place, **BLOCKS)
    for _ in islice(run, 60):
        pass
    chunk = tmp_path / "g.zarr/c/3/3/0"
    kept = chunk.read_bytes()
    chunk.write_bytes(b"broken")
    with pytest.raises(OSError, match=r"guide: rows \d+:\d+, columns \d+:224 cannot be read"):
        list(run)
    assert any((tmp_path / "o.zarr.partial").glob("run-*/solved/*.json"))
    chunk.write_bytes(kept)
    upsample_to_store(TARGET, guide, place, **BLOCKS)
    assert np.array_equal(zarr.open_array(place)[:], blocks[1])


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    from napari_cosparse.tiles import _blocks

    def full(array, where, values, what):
        raise OSError(28, f"{what} cannot be written")

    monkeypatch.setattr(_blocks, "write", full)
    with pytest.raises(OSError, match=r"block of rows 0:96, columns 0:96"):
        upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", **BLOCKS)


def test_planes_are_worked_one_by_one(tmp_path, whole):
    stack = np.stack([TARGET, 2 * TARGET])
    stored = upsample_to_store(
        da.from_array(stack, chunks=(1, 20, 20)), SCENE.guide, tmp_path / "o.zarr", OPERATORS,
        threads=1,
    )  # fmt: skip
    image = zarr.open_array(stored.path)[:]
    assert image.shape == (2, *SHAPE)
    assert np.array_equal(image[0], whole)
    guides = np.stack([SCENE.guide, 255 - SCENE.guide])
    told = []
    stored = upsample_to_store(
        stack, guides, tmp_path / "p.zarr", OPERATORS, threads=1,
        report=lambda progress: told.append(progress.stage),
    )  # fmt: skip
    assert {"reading plane 0 (1 of 2)", "reading plane 1 (2 of 2)"} <= set(told)
    each = zarr.open_array(stored.path)[:]
    assert np.array_equal(each[0], whole)
    assert not np.array_equal(each[1], image[1])
    with pytest.raises(InputError, match="planes"):
        upsample_to_store(stack, guides[:1], tmp_path / "q.zarr", OPERATORS)


def test_colour_target_is_no_stack(tmp_path, whole):
    target = np.stack([TARGET, TARGET[::-1], TARGET], axis=-1)
    stored = upsample_to_store(
        target, SCENE.guide, tmp_path / "o.zarr", OPERATORS, colour=(None, None), threads=1
    )
    image = zarr.open_array(stored.path)[:]
    assert image.shape == (*SHAPE, 3)
    assert np.array_equal(image[..., 0], whole)
    assert np.array_equal(image[..., 2], whole)


def test_multiscale_inputs_use_the_finest_level(tmp_path, whole):
    guide = [SCENE.guide, SCENE.guide[::2, ::2]]
    stored = upsample_to_store(TARGET, guide, tmp_path / "o.zarr", OPERATORS, threads=1)
    assert np.array_equal(zarr.open_array(stored.path)[:], whole)
    coarse = upsample_to_store(
        TARGET, guide, tmp_path / "p.zarr", OPERATORS, threads=1, level=(0, 1)
    )
    assert coarse.shape == (80, 112)
    with pytest.raises(InputError, match="no level 2"):
        upsample_to_store(TARGET, guide, tmp_path / "q.zarr", OPERATORS, level=(0, 2))


def test_ome_zarr_is_valid_and_multiscale(tmp_path, monkeypatch):
    import yaozarrs

    from napari_cosparse.tiles import _ome

    monkeypatch.setattr(_ome, "SMALLEST", 100)
    place = tmp_path / "o.ome.zarr"
    stored = upsample_to_store(
        TARGET, SCENE.guide, place, **BLOCKS, pixel_size=(0.5, 0.25), units=("micrometer",) * 2
    )
    yaozarrs.validate_zarr_store(str(place))
    group = zarr.open_group(place, mode="r")
    assert [group[str(i)].shape for i in range(3)] == [(160, 224), (80, 112), (40, 56)]
    (image,) = group.attrs["ome"]["multiscales"]
    assert [axis["unit"] for axis in image["axes"]] == ["micrometer"] * 2
    first = image["datasets"][1]["coordinateTransformations"]
    assert first[0]["scale"] == [1.0, 0.5]
    assert first[1]["translation"] == [0.25, 0.125]
    fine = group["0"][:]
    assert np.allclose(group["1"][:], fine.reshape(80, 2, 112, 2).mean((1, 3)), atol=1e-6)
    assert stored.shape == SHAPE


def test_integer_results_are_rounded(tmp_path):
    target = np.rint(1000 * TARGET).astype(np.uint16)
    stored = upsample_to_store(target, SCENE.guide, tmp_path / "o.zarr", **BLOCKS, dtype="input")
    image = zarr.open_array(stored.path)[:]
    assert image.dtype == np.uint16
    assert abs(int(image.max()) - int(target.max())) < 0.05 * np.ptp(target)


def test_unknown_parts_stay_unknown(tmp_path):
    target = TARGET.copy()
    target[:] = np.nan
    target[:8, :8] = TARGET[:8, :8]
    stored = upsample_to_store(target, SCENE.guide, tmp_path / "o.zarr", **BLOCKS)
    image = zarr.open_array(stored.path)[:]
    assert np.isfinite(image[:32, :32]).all()
    assert np.isnan(image[-8:, -8:]).all()


def test_budget_decides_about_blocks(tmp_path):
    with pytest.raises(InputError, match="too little"):
        upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", OPERATORS, memory="1MB")
    with pytest.raises(InputError, match="1GB"):
        upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", OPERATORS, memory="much")
    assert not any(tmp_path.iterdir())
    small, large = (estimate_bytes((side, side)) for side in (4000, 8000))
    assert 3.5 < large / small < 4
    assert large / 8000**2 < 90


def test_threads_stay_within_the_budget_and_change_no_bit(whole, tmp_path):
    assert estimate_bytes(SHAPE, threads=4) == estimate_bytes(SHAPE)
    each = estimate_bytes(SHAPE, threads=6) - estimate_bytes(SHAPE, threads=5)
    options = {"operators": OPERATORS, "threads": 64}
    budget = estimate_bytes(SHAPE, 3.0, 2.0) + 3 * each  # the sixty-fourth would need much more
    stored = upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", **options, memory=budget)
    assert budget - each < stored.memory <= budget
    assert stored.blocks == 1
    assert np.array_equal(zarr.open_array(stored.path)[:], whole)
    stored = upsample_to_store(
        TARGET, SCENE.guide, tmp_path / "p.zarr", OPERATORS, threads=6, memory="1GB"
    )
    assert stored.memory == pytest.approx(estimate_bytes(SHAPE, 3.0, 28 / 16, threads=6), rel=1e-6)


def test_progress_rises_to_its_total(tmp_path):
    steps = list(upsample_to_store_steps(TARGET, SCENE.guide, tmp_path / "o.zarr", **BLOCKS))
    shares = [step.step / step.total for step in steps]
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert shares[-1] <= 1
    assert any("block 3 of 6" in step.stage for step in steps)


def test_job_is_noted_while_it_runs(tmp_path):
    cancelled(tmp_path / "o.zarr", 20)
    job = json.loads((tmp_path / "o.zarr.partial/job.json").read_text())
    assert job["plan"]["halo"] == 32
    assert job["memory"] > 0
