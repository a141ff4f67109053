"""A run that is repeated when its output is complete leaves it as it is, and clears up."""

from __future__ import annotations

import json

import numpy as np
import pytest
import zarr

from napari_cosparse import cli, degrade, make_scene, upsample_to_store, upsample_to_store_steps
from napari_cosparse.core.errors import InputError
from napari_cosparse.io import write_image
from napari_cosparse.tiles import _finish, _folder, _left

SCENE = make_scene((96, 128), 0)
TARGET = degrade(SCENE.depth, 4)
BLOCKS = {"operators": "differences", "block": 64, "threads": 1, "noise": 0}
NAMES = ["o.zarr", "o.ome.zarr"]


def contents(folder):
    """Bytes of all files, and when they were written."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def killed(*_, **__):
    raise KeyboardInterrupt


def killed_halfway(folder):
    (folder / _left.JOB).unlink()
    raise KeyboardInterrupt


def run_killed(place, monkeypatch, kill):
    """Run until the result is in its place; what was computed is not yet deleted."""
    with monkeypatch.context() as patched:
        patched.setattr(_folder, "remove", kill)
        with pytest.raises(KeyboardInterrupt):
            upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    assert place.exists()
    assert place.with_name(f"{place.name}.partial").exists()


def others(place):
    return sorted(path.name for path in place.parent.iterdir() if path != place)


@pytest.mark.parametrize("name", NAMES)
def test_a_complete_output_of_the_same_job_is_left_as_it_is(tmp_path, name):
    place = tmp_path / name
    first = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    before = contents(place)
    again = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    assert (first.found, again.found) == (False, True)
    assert contents(place) == before
    assert not others(place)
    assert again.resumed == again.blocks == first.blocks
    same = ("shape", "dtype", "factor", "origin", "misfit", "disagreement", "blank", "compared")
    for field in (*same, "blank_blocks", "memory"):
        assert getattr(again, field) == getattr(first, field)
    assert json.dumps(again.parameters) == json.dumps(first.parameters)


def test_blocks_of_a_complete_output_are_found_whatever_memory_is_free_now(tmp_path):
    place = tmp_path / "o.zarr"
    upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    options = {name: value for name, value in BLOCKS.items() if name != "block"}
    assert upsample_to_store(TARGET, SCENE.guide, place, **options).found


@pytest.mark.parametrize("kill", [killed, killed_halfway])
@pytest.mark.parametrize("name", NAMES)
def test_a_run_killed_before_it_cleared_up_is_complete(tmp_path, monkeypatch, name, kill):
    place = tmp_path / name
    run_killed(place, monkeypatch, kill)
    before = contents(place)
    assert upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS).found
    assert contents(place) == before
    assert not others(place)


CHANGED = {
    "target": ((TARGET + 1, SCENE.guide), {}),
    "guide": ((TARGET, SCENE.guide[::-1]), {}),
    "settings": ((TARGET, SCENE.guide), {"blur": "gaussian"}),
    "blocks": ((TARGET, SCENE.guide), {"block": 96}),
    "not resumed": ((TARGET, SCENE.guide), {"resume": False}),
}


@pytest.mark.parametrize("change", CHANGED)
def test_an_output_of_another_job_is_refused(tmp_path, monkeypatch, change):
    place = tmp_path / "o.zarr"
    run_killed(place, monkeypatch, killed)
    before = contents(tmp_path)
    images, options = CHANGED[change]
    made = "" if change == "not resumed" else ", and this very job did not make it"
    with pytest.raises(InputError, match=f"exists already{made}") as caught:
        upsample_to_store(*images, place, **{**BLOCKS, **options})
    assert "; overwrite=True replaces it" in str(caught.value)
    assert contents(tmp_path) == before


def test_an_output_that_does_not_say_its_job_is_refused(tmp_path):
    place = tmp_path / "o.zarr"
    upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    attributes = zarr.open_array(place, mode="r+").attrs
    notes = dict(attributes["napari-cosparse"])
    del notes["fingerprint"]
    for said in (notes, "something else"):
        attributes["napari-cosparse"] = said
        with pytest.raises(InputError, match="exists already"):
            upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)


@pytest.mark.parametrize("said", [{"result": {}}, {"result": 5}, {"parameters": None}])
def test_an_output_with_damaged_notes_is_refused(tmp_path, said):
    place = tmp_path / "o.zarr"
    upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    attributes = zarr.open_array(place, mode="r+").attrs
    attributes["napari-cosparse"] = {**attributes["napari-cosparse"], **said}
    with pytest.raises(InputError, match="exists already"):
        upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)


def lose_a_chunk(level):
    next(path for path in (level / "c").rglob("*") if path.is_file()).unlink()


def write_junk(level):
    next(path for path in (level / "c").rglob("*") if path.is_file()).write_bytes(b"junk")


def change_a_pixel(level):
    zarr.open_array(level, mode="r+")[3, 4] += 1


def lose_the_metadata(level):
    (level / "zarr.json").unlink()


HARMS = [(name, harm) for name in NAMES for harm in (lose_a_chunk, write_junk, change_a_pixel)]


@pytest.mark.parametrize(("name", "harm"), [*HARMS, ("o.ome.zarr", lose_the_metadata)])
def test_a_complete_output_that_was_damaged_is_not_called_complete(tmp_path, name, harm):
    place = tmp_path / name
    expected = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    level = place / "0" if name == "o.ome.zarr" else place
    before = zarr.open_array(level)[:]
    harm(level)
    after = contents(tmp_path)
    with pytest.raises(InputError, match="has been damaged or changed since; overwrite=True makes"):
        upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    assert contents(tmp_path) == after
    again = upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS, overwrite=True)
    assert again.misfit == expected.misfit
    assert np.array_equal(zarr.open_array(level)[:], before)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_store_that_is_replaced_is_whole_whenever_the_run_is_killed(
    tmp_path, monkeypatch, number
):
    """Killed before the old store moves, before the new one takes its place, and after that."""
    place = tmp_path / "o.zarr"
    upsample_to_store(TARGET + 1, SCENE.guide, place, **BLOCKS)
    old, moves = zarr.open_array(place)[:], []
    replace = _finish.Path.replace

    def killed_at(path, to):
        if path == place or path.name == "result":
            moves.append(path)
            if len(moves) == number:
                raise KeyboardInterrupt
        return replace(path, to)

    with monkeypatch.context() as patched:
        patched.setattr(_finish.Path, "replace", killed_at)
        if number == 3:
            patched.setattr(_folder, "remove", killed)
        with pytest.raises(KeyboardInterrupt):
            upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS, overwrite=True)
    aside = [*tmp_path.glob("o.zarr.partial/replaced-*")]
    assert len(aside) == (number > 1)
    assert np.array_equal(zarr.open_array(aside[0] if aside else place)[:], old)
    assert place.exists() == (number != 2)
    upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS, overwrite=number == 1)
    upsample_to_store(TARGET, SCENE.guide, tmp_path / "new.zarr", **BLOCKS)
    assert np.array_equal(zarr.open_array(place)[:], zarr.open_array(tmp_path / "new.zarr")[:])
    assert others(place) == ["new.zarr"]


def test_a_store_moves_back_where_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    place = tmp_path / "o.zarr"
    upsample_to_store(TARGET + 1, SCENE.guide, place, **BLOCKS)
    before = contents(place)
    replace = _finish.Path.replace

    def full(path, to):
        if path.name == "result":
            raise OSError(28, "No space left on device")
        return replace(path, to)

    with monkeypatch.context() as patched:
        patched.setattr(_finish.Path, "replace", full)
        with pytest.raises(OSError, match="cannot be put in its place"):
            upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS, overwrite=True)
    assert contents(place) == before


def test_a_complete_output_is_replaced_when_asked(tmp_path):
    place = tmp_path / "o.zarr"
    upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    expected = zarr.open_array(place)[:]
    zarr.open_array(place, mode="r+")[:] = 0
    assert not upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS, overwrite=True).found
    assert np.array_equal(zarr.open_array(place)[:], expected)


def test_an_unfinished_run_of_another_job_beside_it_stays(tmp_path):
    place = tmp_path / "o.zarr"
    upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
    options = {**BLOCKS, "overwrite": True}
    for progress in upsample_to_store_steps(TARGET + 1, SCENE.guide, place, **options):
        if progress.stage.startswith("writing block"):
            break
    before = contents(tmp_path)
    assert upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS).found
    assert contents(tmp_path) == before
    assert "o.zarr.partial" in others(place)


@pytest.mark.parametrize("name", ["thesis.txt", ".thesis"])
@pytest.mark.parametrize("ours", [False, True])
def test_a_folder_with_what_is_of_somebody_else_beside_it_stays(tmp_path, monkeypatch, name, ours):
    place, other = tmp_path / "o.zarr", tmp_path / "o.zarr.partial" / name
    if ours:
        run_killed(place, monkeypatch, killed)
    else:
        upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS)
        other.parent.mkdir()
    other.write_text("years of work")
    assert upsample_to_store(TARGET, SCENE.guide, place, **BLOCKS).found
    assert other.read_text() == "years of work"


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_says_that_it_is_complete(tmp_path, monkeypatch, capsys, name):
    write_image(tmp_path / "t.tif", TARGET)
    write_image(tmp_path / "g.png", SCENE.guide)
    words = [
        "upsample",
        "t.tif",
        "g.png",
        "-o",
        name,
        "--operators",
        "differences",
        "--block",
        "64",
    ]
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(_folder, "remove", killed)
        assert cli.main(words) == 130
    assert f"kept in {name}.partial, the same command with --resume" in capsys.readouterr().err
    before = contents(tmp_path / name)
    for _ in range(2):  # clears up, and has nothing to clear up
        assert cli.main([*words, "--resume"]) == 0
        told = capsys.readouterr().out
        assert f"{name} is complete already, made by this very job; nothing was changed" in told
        assert contents(tmp_path / name) == before
        assert not (tmp_path / f"{name}.partial").exists()
    other = ", and this very job did not make it (other inputs, parameters, blocks or version)"
    for more, said in (([], ""), (["--resume", "--blur", "gaussian"], other)):
        assert cli.main([*words, *more]) == 2
        assert f"{name} exists already{said}; --overwrite replaces it" in capsys.readouterr().err
    assert contents(tmp_path / name) == before
