"""Learning through the facade: chunks, who reads, memory, cancel, and runs that are continued."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import dask.array as da
import numpy as np
import pytest
import zarr

from napari_cosparse import learn_operators, learn_steps, make_scene
from napari_cosparse.core import operators
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import _look
from napari_cosparse.tiles import Cancelled, _checkpoint, planes_of
from napari_cosparse.tiles._learning import _reader, plan_memory
from napari_cosparse.tiles._maps import ClusterMap, ProcessMap

SCENE = make_scene((150, 310), 0)
QUICK = {"side": 3, "samples": 500, "iterations": 12, "seed": 2}


@pytest.fixture(scope="module")
def plain():
    """What the core learns."""
    return operators.learn_operators([(SCENE.guide, SCENE.depth)], **QUICK)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Both images as Zarr arrays, in small chunks."""
    folder = tmp_path_factory.mktemp("stores")
    arrays = []
    for name, image in (("u", SCENE.guide), ("v", SCENE.depth)):
        chunks = (64, 100, 3)[: image.ndim]
        array = zarr.create_array(
            folder / f"{name}.zarr", shape=image.shape, chunks=chunks, dtype=image.dtype
        )
        array[:] = image
        arrays.append(zarr.open_array(folder / f"{name}.zarr", mode="r"))
    return arrays


def same(found, expected):
    ours, theirs = found.pair.groups[0], expected.pair.groups[0]
    assert np.array_equal(found.history, expected.history)
    assert np.array_equal(ours.coefficients_u, theirs.coefficients_u)
    assert np.array_equal(ours.coefficients_v, theirs.coefficients_v)
    assert found.pair.metadata == expected.pair.metadata


@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"scheduler": "threads", "threads": 1}])
def test_stores_give_what_arrays_give(stores, plain, options):
    same(learn_operators([tuple(stores)], **QUICK, **options), plain)
    chunked = da.from_array(SCENE.guide, chunks=(9, 5, 3))
    same(learn_operators([(chunked, SCENE.depth)], **QUICK, **options), plain)


@pytest.mark.parametrize("looked", [1 << 22, 5000])
def test_dark_planes_are_told_and_change_no_bit(monkeypatch, looked):
    monkeypatch.setattr(_look, "LOOKED", looked)
    options = QUICK | {"block": 64}
    expected = learn_operators([(SCENE.guide, SCENE.depth)], **options)
    dark = np.zeros_like(SCENE.depth)
    for image in (dark, da.from_array(dark, chunks=50), np.nan * dark):
        pairs = [(SCENE.guide, SCENE.depth), *[(SCENE.guide, image)] * 7]
        with pytest.warns(UserWarning, match=r"image pairs 2, 3, 4, 5, 6 and 2 more may be used"):
            found = learn_operators(pairs, **options)
        assert np.array_equal(found.history, expected.history)
        assert found.skipped == tuple(range(2, 9))


def test_processes_change_no_bit(stores, plain):
    same(learn_operators([tuple(stores)], **QUICK, scheduler="processes", threads=1), plain)


def test_only_what_other_processes_can_open_is_read_there(stores):
    pairs = [tuple(planes_of(array, "image")[0] for array in stores)]
    reader = _reader(pairs, "processes", 1, None)
    assert isinstance(reader, ProcessMap)
    reader.close()
    mixed = [(pairs[0][0], SCENE.depth)]
    assert not isinstance(_reader(mixed, "processes", 1, None), ProcessMap | ClusterMap)


def test_processes_look_at_parts_of_large_images(stores, monkeypatch):
    monkeypatch.setattr(_look, "LOOKED", 5000)
    expected = learn_operators([(SCENE.guide, SCENE.depth)], **QUICK, block=50)
    options = {"scheduler": "processes", "threads": 1, "block": 50}
    same(learn_operators([tuple(stores)], **QUICK, **options), expected)
    assert expected.pair.metadata["block"] == 50


def test_planes_of_stacks_and_channels_in_front():
    stack = np.stack([SCENE.depth, SCENE.depth[::-1]])
    assert [np.array_equal(a, b) for a, b in zip(planes_of(stack, "v"), stack, strict=True)] == [
        True,
        True,
    ]
    first = np.moveaxis(SCENE.guide, -1, 0)
    (plane,) = planes_of(da.from_array(first, chunks=(1, 50, 50)), "u", "first")
    assert plane.shape == SCENE.guide.shape
    assert np.array_equal(plane[3:9, 5:20], SCENE.guide[3:9, 5:20])


def test_a_chunk_that_cannot_be_read_is_named(tmp_path):
    array = zarr.create_array(
        tmp_path / "v.zarr", shape=SCENE.depth.shape, chunks=(64, 100), dtype=SCENE.depth.dtype
    )
    array[:] = SCENE.depth
    (tmp_path / "v.zarr/c/1/2").write_bytes(b"broken")
    with pytest.raises(OSError, match=r"v of image pair 1: rows \d+:\d+, .* cannot be read"):
        learn_operators([(SCENE.guide, array)], **QUICK)


def test_memory_is_said_and_kept(stores):
    first = next(learn_steps([tuple(stores)], **QUICK))
    assert "MB of memory" in first.stage
    with pytest.raises(InputError, match="1000000 patches of side 3 take"):
        learn_steps([tuple(stores)], **QUICK | {"samples": 10**6}, memory="100MB")
    with pytest.raises(InputError, match="more than 1 kB; lower samples"):
        learn_steps([tuple(stores)], **QUICK, memory="1kB")
    with pytest.raises(InputError, match="memory 'much'"):
        learn_steps([tuple(stores)], **QUICK, memory="much")
    pairs = [tuple(planes_of(array, "image")[0] for array in stores)]
    settings = operators.make_settings(**QUICK)
    need, room = plan_memory(pairs, settings, None, 1)
    least, none = plan_memory(pairs, settings, need - room, 1)
    assert (least, none) == (need - room, 0)


def test_wrong_input_is_refused_at_the_call(stores, tmp_path):
    with pytest.raises(InputError, match="3 images"):
        learn_steps([(*stores, stores[0])], **QUICK)
    with pytest.raises(InputError, match="pixels but v has"):
        learn_steps([(stores[0], SCENE.depth[1:])], **QUICK)
    with pytest.raises(InputError, match="block 8"):
        learn_steps([tuple(stores)], **QUICK, block=8)
    with pytest.raises(TypeError, match="sampels"):
        learn_steps([tuple(stores)], sampels=3)
    with pytest.raises(InputError, match="folder does not exist"):
        learn_steps([tuple(stores)], **QUICK, checkpoint=tmp_path / "none/kept")


def test_defaults_are_those_of_the_core():
    settings = operators.make_settings()
    for name, value in operators.learn_operators.__kwdefaults__.items():
        if name not in ("atoms", "report"):
            assert getattr(settings, name) == value
    assert settings.atoms == 50


@pytest.fixture
def always(monkeypatch):
    """A checkpoint at every step."""
    monkeypatch.setattr(_checkpoint, "EVERY", 0.0)


def interrupted(pairs, folder, iteration, **changes):
    """Learn up to an iteration, as if the process had ended there."""
    run = learn_steps(pairs, **QUICK | changes, checkpoint=folder)
    for step in run:
        if step.step >= len(pairs) + iteration and np.isfinite(step.cost):
            break
    run.close()


@pytest.mark.parametrize("iteration", [0, 5, 11])
def test_an_interrupted_run_goes_on_with_the_same_bits(always, stores, plain, tmp_path, iteration):
    folder = tmp_path / "kept"
    interrupted([tuple(stores)], folder, iteration)
    assert (folder / "state.npz").is_file()
    costs = []
    pairs = [(SCENE.guide, SCENE.depth)]  # the same pixels, wherever they lie
    run = learn_operators(
        pairs, **QUICK, checkpoint=folder, report=lambda step: costs.append(step.cost)
    )
    same(run, plain)
    assert np.isfinite(costs).sum() == QUICK["iterations"] - iteration
    assert not folder.exists()


def test_a_run_of_another_job_is_refused(always, plain, tmp_path):
    folder, pairs = tmp_path / "kept", [(SCENE.guide, SCENE.depth)]
    interrupted(pairs, folder, 3)
    for changes in ({"seed": 3}, {"nu": 300.0}, {"iterations": 13}):
        with pytest.raises(InputError, match="belongs to another job"):
            learn_operators(pairs, **QUICK | changes, checkpoint=folder)
    with pytest.raises(InputError, match="belongs to another job"):
        learn_operators([(SCENE.guide[::-1], SCENE.depth)], **QUICK, checkpoint=folder)
    with pytest.raises(InputError, match="unfinished run; resume=True"):
        learn_operators(pairs, **QUICK, checkpoint=folder, resume=False)
    found = learn_operators(pairs, **QUICK, checkpoint=folder, resume=False, overwrite=True)
    same(found, plain)
    assert not folder.exists()


@pytest.mark.parametrize("broken", ["job.json", "state.npz"])
def test_what_is_half_made_is_refused(always, tmp_path, broken):
    folder, pairs = tmp_path / "kept", [(SCENE.guide, SCENE.depth)]
    interrupted(pairs, folder, 3)
    content = (folder / broken).read_bytes()
    (folder / broken).write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"not made to the end|cannot be read"):
        learn_operators(pairs, **QUICK, checkpoint=folder)


@pytest.mark.parametrize("options", [{}, {"overwrite": True}, {"resume": False}])
@pytest.mark.parametrize("kind", ["file", "link", "folder", "mixed"])
def test_what_is_somebody_elses_is_told_at_the_call(always, tmp_path, kind, options):
    folder, pairs = tmp_path / "kept", [(SCENE.guide, SCENE.depth)]
    if kind == "file":
        folder.write_text("mine")
    elif kind == "link":
        (tmp_path / "other").mkdir()
        folder.symlink_to(tmp_path / "other")
    else:
        if kind == "mixed":
            interrupted(pairs, folder, 3)
        folder.mkdir(exist_ok=True)
        (folder / "mine.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    message = (
        "kept is no folder" if kind in ("file", "link") else "kept holds mine.txt, which is not"
    )
    with pytest.raises(InputError, match=message):
        learn_steps(pairs, **QUICK, checkpoint=folder, **options)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("lost", ["job.json", "state.npz", "both"])
def test_what_has_lost_a_part_can_be_deleted(always, plain, tmp_path, lost):
    folder, pairs = tmp_path / "kept", [(SCENE.guide, SCENE.depth)]
    interrupted(pairs, folder, 3)
    for name in ("job.json", "state.npz"):
        if lost in (name, "both"):
            (folder / name).unlink()
    if lost != "state.npz":
        with pytest.raises(InputError, match="unfinished run; overwrite=True deletes it, or"):
            learn_steps(pairs, **QUICK, checkpoint=folder, resume=False)
        with pytest.raises(InputError, match="was not made to the end"):
            learn_operators(pairs, **QUICK, checkpoint=folder)
    same(learn_operators(pairs, **QUICK, checkpoint=folder, overwrite=True), plain)
    assert not folder.exists()


def test_short_runs_leave_nothing(tmp_path):
    interrupted([(SCENE.guide, SCENE.depth)], tmp_path / "kept", 3)
    assert not any(tmp_path.iterdir())


def test_a_flag_stops_learning_between_two_reports(stores):
    asked = 0

    def cancelled():
        nonlocal asked
        asked += 1
        return asked > 8

    with pytest.raises(Cancelled):
        list(learn_steps([tuple(stores)], **QUICK, threads=1, cancelled=cancelled))
    assert asked == 9


SCRIPT = """
import sys
from napari_cosparse import learn_operators, make_scene
from napari_cosparse.tiles import _checkpoint
_checkpoint.EVERY = 0.0
scene = make_scene((150, 310), 0)
learn_operators([(scene.guide, scene.depth)], checkpoint=sys.argv[1], side=3, samples=500, seed=2,
                iterations=100000)
"""


def test_a_killed_run_is_continued(tmp_path):
    folder = tmp_path / "kept"
    run = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)])  # noqa: S603
    while run.poll() is None and not (folder / "state.npz").exists():
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    pairs, options = [(SCENE.guide, SCENE.depth)], QUICK | {"iterations": 100_000}
    steps = learn_steps(pairs, **options, checkpoint=folder)
    costs = [step.cost for step in (next(steps) for _ in range(12)) if np.isfinite(step.cost)]
    steps.close()
    again = [s.cost for s in learn_steps(pairs, **options) if np.isfinite(s.cost)]
    at = again.index(costs[0])
    assert at > 0
    assert again[at : at + len(costs)] == costs
