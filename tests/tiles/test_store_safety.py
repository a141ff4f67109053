"""What a run into a store must never destroy."""

from __future__ import annotations

import errno
import os
import shutil

import dask
import dask.array as da
import numpy as np
import pytest
import zarr
from zarr.storage import LocalStore, LoggingStore

from napari_cosparse import (
    degrade,
    load_operators,
    make_scene,
    save_operators,
    save_transform,
    upsample_to_store,
    upsample_to_store_steps,
)
from napari_cosparse.cli import main
from napari_cosparse.core.errors import InputError
from napari_cosparse.tiles import _left, _ome, _output

SCENE = make_scene((48, 64), 0)
TARGET = degrade(SCENE.depth, 4)


@pytest.fixture
def inputs(tmp_path):
    """Target and guide as Zarr arrays in a folder."""
    found = []
    for name, image in (("t.zarr", TARGET), ("g.zarr", SCENE.guide)):
        array = zarr.create_array(tmp_path / name, shape=image.shape, dtype=image.dtype)
        array[:] = image
        found.append(array)
    return found


def go(inputs, out, **options):
    return upsample_to_store(*inputs, out, "differences", **options)


@pytest.mark.parametrize("name", ["t.zarr", "g.zarr", "g.zarr/inner.zarr"])
def test_inputs_are_never_replaced(inputs, tmp_path, name):
    with pytest.raises(InputError, match="lies on the input"):
        go(inputs, tmp_path / name, overwrite=True)
    np.testing.assert_array_equal(inputs[0][:], TARGET)
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["out.zarr", "out.zarr.partial"])
def test_folders_of_others_are_never_deleted(inputs, tmp_path, name, overwrite):
    (tmp_path / name).mkdir()
    precious = tmp_path / name / "thesis.txt"
    precious.write_text("years of work")
    with pytest.raises(InputError, match=r"no Zarr store, and is never|holds thesis\.txt"):
        go(inputs, tmp_path / "out.zarr", overwrite=overwrite)
    assert precious.read_text() == "years of work"


@pytest.mark.parametrize("name", ["out.zarr", "out.zarr.partial"])
def test_files_in_the_place_of_a_folder_are_never_deleted(inputs, tmp_path, name):
    (tmp_path / name).write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(InputError, match=r"no Zarr store, and is never|is no folder"):
            go(inputs, tmp_path / "out.zarr", overwrite=overwrite)
    assert (tmp_path / name).read_text() == "years of work"


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_comes_to_the_place_of_the_output_meanwhile_stays(inputs, tmp_path, overwrite):
    out = tmp_path / "out.zarr"
    run = upsample_to_store_steps(*inputs, out, "differences", overwrite=overwrite)
    next(run)
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match=r"it is kept in .*partial: move .*out\.zarr away and run"):
        list(run)
    out.rename(tmp_path / "mine")
    assert (tmp_path / "mine/thesis.txt").read_text() == "years of work"
    assert go(inputs, out).resumed == 1


def test_a_store_is_overwritten_when_asked(inputs, tmp_path):
    first = go(inputs, tmp_path / "out.zarr")
    assert go(inputs, tmp_path / "out.zarr", overwrite=True).shape == first.shape


def test_a_colour_target_is_not_taken_for_a_stack(tmp_path):
    found = go((np.stack([TARGET] * 3, -1), SCENE.guide), tmp_path / "out.zarr")
    assert found.shape == (48, 64, 3)


def test_a_stack_of_narrow_planes_is_not_taken_for_colour(tmp_path):
    scene = make_scene((48, 16), 0)
    target = np.stack([degrade(scene.depth, 4)] * 2)  # (2, 12, 4)
    assert go((target, scene.guide), tmp_path / "out.zarr").shape == (2, 48, 16)


def test_where_sizes_do_not_tell_colour_must_be_said(tmp_path):
    scene = make_scene((16, 16), 0)
    target = np.stack([degrade(scene.depth, 4)] * 4)  # (4, 4, 4)
    with pytest.raises(InputError, match=r"may be 4 planes of 4 x 4 samples or an image"):
        go((target, scene.guide), tmp_path / "out.zarr")
    assert not list(tmp_path.iterdir())
    for colour, name in ((False, "a.zarr"), (True, "b.zarr")):
        found = go((target, scene.guide), tmp_path / name, colour=(colour, None))
        assert found.shape == ((16, 16, 4) if colour else (4, 16, 16))


def test_colours_of_a_part_are_colours(tmp_path):
    target = np.stack([TARGET[:6, :8]] * 3, -1)
    found = go((target, SCENE.guide), tmp_path / "out.zarr", factor=4, origin=(1.5, 1.5))
    assert found.shape == (48, 64, 3)


def test_colours_come_before_the_plane_in_ome_zarr(tmp_path):
    target = np.stack([TARGET, TARGET[::-1], TARGET], -1)
    out = tmp_path / "out.ome.zarr"
    assert go((target, SCENE.guide), out, pixel_size=(0.5, 0.25)).shape == (3, 48, 64)
    (image,) = zarr.open_group(out, mode="r").attrs["ome"]["multiscales"]
    assert [axis["name"] for axis in image["axes"]] == ["c", "y", "x"]
    scale = image["datasets"][0]["coordinateTransformations"][0]["scale"]
    assert scale == [1.0, 0.5, 0.25]


def test_axes_that_ome_zarr_does_not_know_are_refused(tmp_path):
    deep = np.stack([np.stack([TARGET] * 3, -1)] * 2)  # (2, m, m, 3): t, c, y, x
    assert go((deep, SCENE.guide), tmp_path / "a.ome.zarr").shape == (2, 3, 48, 64)
    with pytest.raises(InputError, match=r"order t, c, z, y, x only; write a plain array"):
        go((deep, SCENE.guide), tmp_path / "b.ome.zarr", axes="zyxc")
    many = np.zeros((1, 1, 1, 1, *TARGET.shape), TARGET.dtype) + TARGET
    with pytest.raises(InputError, match="target has 6 axes, but OME-Zarr has 5"):
        go((many, SCENE.guide), tmp_path / "b.ome.zarr")
    assert go((many, SCENE.guide), tmp_path / "c.zarr").shape == (1, 1, 1, 1, 48, 64)


def test_links_are_neither_followed_nor_replaced(inputs, tmp_path):
    go(inputs, tmp_path / "real.zarr")
    (tmp_path / "link.zarr").symlink_to(tmp_path / "real.zarr")
    for overwrite in (False, True):
        with pytest.raises(InputError, match=r"is a link to .* and is never overwritten"):
            go(inputs, tmp_path / "link.zarr", overwrite=overwrite)
    (tmp_path / "input.zarr").symlink_to(tmp_path / "g.zarr")
    with pytest.raises(InputError, match="lies on the input"):
        go(inputs, tmp_path / "input.zarr", overwrite=True)
    assert np.isfinite(zarr.open_array(tmp_path / "real.zarr")[:]).all()


def test_a_folder_that_cannot_be_written(inputs, tmp_path, monkeypatch):
    monkeypatch.setattr(_output.os, "access", lambda *_: False)  # the superuser may write anywhere
    with pytest.raises(InputError, match="nothing can be written to the folder"):
        go(inputs, tmp_path / "out.zarr")
    assert not list(tmp_path.glob("out*"))


def test_names_with_spaces_and_letters_of_all_kinds(tmp_path):
    place = tmp_path / "größe 图 {1} %s"
    place.mkdir()
    stored = go((TARGET, SCENE.guide), place / "aus gabe.ome.zarr", block=32)
    assert stored.path.is_dir()
    assert [path.name for path in place.iterdir()] == ["aus gabe.ome.zarr"]


def test_killed_just_before_the_end(inputs, tmp_path, monkeypatch):
    out = tmp_path / "out.zarr"

    def killed(path, *_, **__):
        if path == out.with_name("out.zarr.partial"):
            raise KeyboardInterrupt
        return remove(path)

    remove = shutil.rmtree
    monkeypatch.setattr(_left.shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):  # the result is in its place, the rest still there
        go(inputs, out)
    monkeypatch.undo()
    expected = zarr.open_array(out)[:]
    assert np.isfinite(expected).all()
    assert go(inputs, out, overwrite=True).blocks == 1  # it must not take an empty result for done
    np.testing.assert_array_equal(zarr.open_array(out)[:], expected)
    assert not out.with_name("out.zarr.partial").exists()


def half(array):
    """Half of a Dask array, through a function of the caller's."""
    return array[: len(array) // 2].map_blocks(lambda part: part * 2)


HIDDEN = {
    "dask": lambda path: da.from_zarr(path),
    "inline": lambda path: da.from_array(zarr.open_array(path), inline_array=True),
    "rechunked": lambda path: da.from_array(zarr.open_array(path), chunks=7).rechunk(5),
    "part": lambda path: half(da.from_zarr(path)),
    "optimized": lambda path: dask.optimize(half(da.from_zarr(path)))[0],
    "url": lambda path: zarr.open_array(path.as_uri()),
    "dask of url": lambda path: da.from_zarr(path.as_uri()),
    "wrapped": lambda path: zarr.open_array(LoggingStore(LocalStore(path)), mode="r"),
    "group": lambda path: [zarr.open_array(path), np.zeros((3, 4))],
    "memmap": lambda path: np.memmap(path / "raw", np.float32, "w+", shape=(48, 64))[::4, ::4],
}


@pytest.mark.parametrize("how", HIDDEN)
def test_stores_are_found_behind_what_shows_them(inputs, tmp_path, how):
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    images = {"t.zarr": (HIDDEN[how](tmp_path / "t.zarr"), SCENE.guide)}
    images["g.zarr"] = (TARGET, HIDDEN[how](tmp_path / "g.zarr"))
    for name, pair in images.items():
        with pytest.raises(InputError, match="lies on the input"):
            go(pair, tmp_path / name, overwrite=True)
    assert {path: path.read_bytes() for path in before} == before


def test_weights_and_operator_files_are_inputs_too(inputs, tmp_path):
    weights = zarr.create_array(tmp_path / "w.zarr", shape=TARGET.shape, dtype="f4", fill_value=1)
    file = tmp_path / "w.zarr/pair.npz"
    save_operators(file, load_operators("differences"))
    for options in ({"weights": weights}, {"weights": da.from_zarr(weights)}):
        with pytest.raises(InputError, match="lies on the input"):
            go(inputs, tmp_path / "w.zarr", overwrite=True, **options)
    with pytest.raises(InputError, match=r"lies on the input .*pair\.npz"):
        upsample_to_store(*inputs, tmp_path / "w.zarr", file, overwrite=True)
    assert file.is_file()


def test_stores_elsewhere_are_no_hindrance(inputs, tmp_path):
    first, second = (da.from_zarr(tmp_path / name) for name in ("t.zarr", "g.zarr"))
    memory = zarr.create_array({}, shape=TARGET.shape, dtype="f4", fill_value=1)
    go((first, second), tmp_path / "out.zarr", weights=memory)
    go((first, second), tmp_path / "out.zarr", weights=memory, overwrite=True)


def test_a_transform_inside_the_store_is_not_deleted(tmp_path, capsys):
    scene, out = make_scene((16, 16), 0), tmp_path / "o.zarr"
    zarr.create_array(out, shape=(4, 4), dtype="f4")
    np.save(tmp_path / "t.npy", degrade(scene.depth, 4))
    np.save(tmp_path / "g.npy", scene.guide)
    save_transform(out / "T.json", np.diag([0.25, 0.25, 1]))
    command = ["upsample", str(tmp_path / "t.npy"), str(tmp_path / "g.npy"), "-o", str(out)]
    assert main([*command, "--overwrite", "--transform", str(out / "T.json")]) == 2
    assert "T.json" in capsys.readouterr().err
    assert (out / "T.json").is_file()


class Full:
    """A disk that becomes full when something is made on it for the n-th time."""

    def __init__(self, function, number):
        self.function, self.left = function, number

    def __call__(self, *where, **how):
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.function(*where, **how)


@pytest.mark.parametrize(
    ("number", "named"), [(0, "parts.zarr"), (1, "result/0"), (2, "result: level 1")]
)
def test_a_full_disk_is_named_while_arrays_are_made(inputs, tmp_path, monkeypatch, number, named):
    monkeypatch.setattr(_ome, "SMALLEST", 32)
    with monkeypatch.context() as patched:
        patched.setattr(zarr, "create_array", Full(zarr.create_array, number))
        with pytest.raises(OSError, match=f"o.ome.zarr.partial/run-.*{named} cannot be written"):
            go(inputs, tmp_path / "o.ome.zarr")
    assert go(inputs, tmp_path / "o.ome.zarr").path.is_dir()


@pytest.mark.parametrize("name", ["o.zarr", "o.ome.zarr"])
def test_a_full_disk_is_named_while_metadata_are_written(inputs, tmp_path, monkeypatch, name):
    with monkeypatch.context() as patched:
        patched.setattr(zarr.Array, "attrs", property(Full(None, 0)))
        patched.setattr(zarr.Group, "attrs", property(Full(None, 0)))
        with pytest.raises(OSError, match=f"{name}.partial/run-.*metadata cannot be written"):
            go(inputs, tmp_path / name)
    assert go(inputs, tmp_path / name).resumed == 1
