"""``upsample`` with Zarr stores on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tifffile
import zarr

from napari_cosparse import load_operators, save_transform
from napari_cosparse.io import open_zarr, read_image, write_image
from napari_cosparse.tiles import _checkpoint, _large


@pytest.fixture(scope="module")
def stores(files, tmp_path_factory):
    """Guide and target as Zarr arrays, the guide as OME-Zarr too."""
    folder = tmp_path_factory.mktemp("stores")
    for name, file in (("guide", "guide.png"), ("low", "low.tif")):
        image = read_image(files / file)
        array = zarr.create_array(
            folder / f"{name}.zarr", shape=image.shape, chunks=image.shape, dtype=image.dtype
        )
        array[:] = image
    guide = np.moveaxis(read_image(files / "guide.png"), -1, 0)
    group = zarr.open_group(folder / "guide.ome.zarr", mode="w")
    group.create_array("0", shape=guide.shape, chunks=guide.shape, dtype=guide.dtype)[:] = guide
    axes = [{"name": "c", "type": "channel"}] + [
        {"name": name, "type": "space", "unit": "micrometer"} for name in "yx"
    ]
    moves = [
        {"type": "scale", "scale": [1, 0.5, 0.25]},
        {"type": "translation", "translation": [0, 100, -200]},
    ]
    data = [{"path": "0", "coordinateTransformations": moves}]
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": data}]}
    return folder


def test_zarr_in_and_out(run, files, stores, tmp_path):
    options = ["--operators", "intensity-depth-3x3", "--threads", 1]
    words = ("upsample", files / "low.tif", files / "guide.png", "-o", tmp_path / "a.tif", *options)
    code, _, _ = run(*words)
    assert code == 0
    code, out, err = run(
        "upsample", stores / "low.zarr", stores / "guide.zarr", "-o", tmp_path / "a.zarr",
        "--memory", "1GB", *options,
    )  # fmt: skip
    assert (code, err) == (0, [])
    assert "needs about" in out[0]
    expected = tifffile.imread(tmp_path / "a.tif")
    assert np.array_equal(zarr.open_array(tmp_path / "a.zarr")[:], expected)
    words = (
        "upsample",
        stores / "low.zarr",
        stores / "guide.zarr",
        "-o",
        tmp_path / "b.tif",
        *options,
    )
    code, _, _ = run(*words)
    assert code == 0
    assert np.array_equal(tifffile.imread(tmp_path / "b.tif"), expected)


def test_ome_zarr_guide_gives_scale_and_units(run, stores, tmp_path):
    code, _, err = run(
        "upsample", stores / "low.zarr", stores / "guide.ome.zarr", "-o",
        tmp_path / "a.ome.zarr", "--block", 32, "--scheduler", "threads",
    )  # fmt: skip
    assert (code, err) == (0, [])
    image = open_zarr(tmp_path / "a.ome.zarr")
    assert image.array.shape == (48, 60)
    assert (image.axes, image.scale, image.units) == ("yx", (0.5, 0.25), ("micrometer",) * 2)
    assert image.position == (100, -200)
    words = ("upsample", stores / "low.zarr", stores / "guide.zarr", "-o", tmp_path / "a.ome.zarr")
    code, _, err = run(*words)
    assert code == 2
    assert "exists already; --overwrite replaces it, or choose another name" in err[0]


@pytest.mark.parametrize("option", [("--memory", "1GB"), ("--block", 64), ("--resume",)])
def test_options_of_stores_need_a_store(run, files, tmp_path, option):
    words = ("upsample", files / "low.tif", files / "guide.png", "-o", tmp_path / "a.tif", *option)
    code, _, err = run(*words)
    assert code == 2
    assert option[0] in err[0]
    assert not any(tmp_path.iterdir())


LEARN = ("--side", 3, "--samples", 200, "--iterations", 8)


def test_learning_from_stores_gives_what_files_give(run, stores, files, tmp_path):
    for name, guide in (("a", files / "guide.png"), ("b", stores / "guide.zarr"),
                        ("c", stores / "guide.ome.zarr")):  # fmt: skip
        code, _, err = run("learn", guide, files / "depth.tif", "-o", tmp_path / name, *LEARN)
        assert (code, err) == (0, [])
    pairs = [load_operators(tmp_path / f"{name}.npz").groups[0] for name in "abc"]
    for other in pairs[1:]:
        assert np.array_equal(other.coefficients_u, pairs[0].coefficients_u)
        assert np.array_equal(other.coefficients_v, pairs[0].coefficients_v)
    record = json.loads((tmp_path / "b.npz.json").read_text())
    assert record["inputs"]["u"][0]["file"] == str(stores / "guide.zarr")
    assert record["inputs"]["u"][0]["shape"] == [48, 60, 3]


def test_planes_of_a_stack_are_pairs(run, files, tmp_path):
    depth = read_image(files / "depth.tif")
    stack = zarr.create_array(tmp_path / "v.zarr", shape=(2, *depth.shape), dtype=depth.dtype)
    stack[:] = np.stack([depth, depth[::-1]])
    words = ("learn", files / "gray.png", tmp_path / "v.zarr", "-o", tmp_path / "p.npz", *LEARN)
    assert run(*words)[0] == 0
    three = zarr.create_array(tmp_path / "u.zarr", shape=(3, *depth.shape), dtype=depth.dtype)
    three[:] = np.stack([depth] * 3)
    words = ("learn", tmp_path / "u.zarr", tmp_path / "v.zarr", "-o", tmp_path / "q.npz", *LEARN)
    code, _, err = run(*words)
    assert code == 2
    assert "3 and 2 planes" in err[0]
    assert not (tmp_path / "q.npz").exists()


def test_dark_planes_are_left_out_and_told(run, files, tmp_path):
    depth = read_image(files / "depth.tif")
    stack = zarr.create_array(tmp_path / "v.zarr", shape=(3, *depth.shape), dtype=depth.dtype)
    stack[:] = np.stack([depth, depth * np.nan, np.zeros_like(depth)])
    write_image(tmp_path / "nan.tif", depth * np.nan)
    for name, rest, told in (
        ("a", [tmp_path / "v.zarr"], "2 of 3 pairs had no say ({g} and {v}, plane 1 and 1 more)"),
        ("b", [files / "depth.tif", files / "gray.png", tmp_path / "nan.tif"],
         "1 of 2 pairs had no say ({g} and {n})"),
    ):  # fmt: skip
        out = tmp_path / f"{name}.npz"
        code, _, errors = run("learn", files / "gray.png", *rest, "-o", out, *LEARN)
        assert (code, len(errors)) == (0, 1)
        places = {"g": files / "gray.png", "v": tmp_path / "v.zarr", "n": tmp_path / "nan.tif"}
        assert told.format(**places) in errors[0]
        record = json.loads((tmp_path / f"{name}.npz.json").read_text())
        assert len(record["result"]["skipped"]) == len(record["parameters"]["skipped"])
    code, _, errors = run("learn", files / "gray.png", tmp_path / "nan.tif", "-o", out, *LEARN)
    assert code == 2
    assert "no patch of side 3 may be used" in errors[0]


def test_memory_of_learning(run, stores, files, tmp_path):
    words = ("learn", stores / "guide.zarr", files / "depth.tif", "-o", tmp_path / "p.npz")
    code, out, _ = run(*words, *LEARN, "--memory", "1GB", "--threads", 1, "--block", 64)
    assert code == 0
    assert "MB of memory" in out[0]
    code, _, err = run(*words, *LEARN, "--samples", 10**7, "--memory", "1GB")
    assert code == 2
    assert "10000000 patches" in err[0]


def test_learning_in_processes(run, stores, tmp_path):
    depth = zarr.create_array(tmp_path / "v.zarr", shape=(48, 60), dtype="f4")
    depth[:] = np.random.default_rng(0).random((48, 60))
    words = ("learn", stores / "guide.zarr", tmp_path / "v.zarr", *LEARN, "--threads", 1)
    assert run(*words, "-o", tmp_path / "a.npz", "--scheduler", "processes")[0] == 0
    assert run(*words, "-o", tmp_path / "b.npz", "--scheduler", "threads")[0] == 0
    a, b = (load_operators(tmp_path / f"{name}.npz").groups[0] for name in "ab")
    assert np.array_equal(a.coefficients_v, b.coefficients_v)
    code, _, err = run(*words, "-o", tmp_path / "c.npz", "--scheduler", "tcp://127.0.0.1:1")
    assert code == 2
    assert "does not answer" in err[0]


def test_interrupted_learning_is_continued(run, files, tmp_path, monkeypatch):
    monkeypatch.setattr(_checkpoint, "EVERY", 0.0)
    words = ("learn", files / "guide.png", files / "depth.tif", *LEARN)
    assert run(*words, "-o", tmp_path / "a.npz")[0] == 0
    out, write = tmp_path / "b.npz", _checkpoint.Checkpoint.keep
    kept = []

    def interrupt(keeper, state):
        write(keeper, state)
        kept.append(state)
        if len(kept) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(_checkpoint.Checkpoint, "keep", interrupt)
    code, _, err = run(*words, "-o", out)
    assert code == 130
    assert "--resume" in err[-1]
    assert sorted(path.name for path in tmp_path.glob("b*")) == ["b.npz.partial"]
    code, _, err = run(*words, "-o", out)
    assert code == 2
    assert "--resume continues it, --overwrite deletes it" in err[0]
    code, _, err = run(*words, "--seed", 1, "-o", out, "--resume")
    assert code == 2
    assert "another job" in err[0]
    code, _, err = run(*words, "-o", out, "--resume")
    assert (code, err) == (0, [])
    assert sorted(path.name for path in tmp_path.glob("b*")) == ["b.npz", "b.npz.json"]
    a, b = (load_operators(tmp_path / f"{name}.npz") for name in "ab")
    assert np.array_equal(a.groups[0].coefficients_v, b.groups[0].coefficients_v)
    assert a.metadata["cost"] == b.metadata["cost"]


def test_an_interrupted_store_says_how_it_is_continued(run, stores, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    words = ("upsample", stores / "low.zarr", stores / "guide.zarr", "-o", tmp_path / "a.zarr")
    with monkeypatch.context() as patch:
        patch.setattr(_large, "blend_block", interrupt)
        code, _, err = run(*words)
    assert code == 130
    assert "a.zarr.partial" in err[-1]
    code, out, _ = run(*words, "--resume")
    assert code == 0
    assert "1 of 1 blocks were there from an earlier run" in out


def test_what_is_no_image(run, files, tmp_path):
    zarr.open_group(tmp_path / "empty.zarr", mode="w")
    for name, reason in (("empty", "without an OME-Zarr image"), ("none", "no such store")):
        words = (
            "upsample",
            tmp_path / f"{name}.zarr",
            files / "guide.png",
            "-o",
            tmp_path / "a.zarr",
        )
        code, _, err = run(*words)
        assert code == 2
        assert reason in err[0]


def test_a_colour_file_is_upsampled_channel_by_channel(run, files, stores, tmp_path):
    out = tmp_path / "o.ome.zarr"
    words = ("upsample", files / "colour.png", stores / "guide.ome.zarr", "-o", out)
    code, _, err = run(*words, "--operators", "differences", "--dtype", "input")
    assert (code, err) == (0, [])
    image = open_zarr(out)
    assert (image.array.shape, image.array.dtype) == ((3, 48, 60), np.uint8)
    assert (image.axes, image.scale) == ("cyx", (1.0, 0.5, 0.25))
    assert image.position == (0, 100, -200)
    code, _, err = run("upsample", files / "colour.png", files / "guide.png", "-o", "o.tif")
    assert code == 2
    assert "or write to a Zarr store (-o NAME.zarr)" in err[0]


def test_gray_saved_as_rgb_is_one_channel(run, files, stores, tmp_path):
    low = read_image(files / "low16.png") // 32
    gray = np.stack([low.astype(np.uint8)] * 3, -1)
    write_image(tmp_path / "low.png", gray)
    out = tmp_path / "o.zarr"
    words = ("upsample", tmp_path / "low.png", stores / "guide.zarr", "-o", out)
    assert run(*words, "--operators", "differences")[0] == 0
    assert open_zarr(out).array.shape == (48, 60)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--threads", 0), "threads 0 must be a whole number of at least 1"),
        (("--block", 0), "block 0 must be a whole number of at least 1"),
        (("--memory", "0"), "memory '0' must be a positive number of bytes"),
        (("--memory", "1kB"), "memory of 1 kB is too little"),
        (("--scheduler", "thread"), "scheduler 'thread' is unknown; choose 'threads'"),
        (("--factor", "1e6"), "factor 1e+06"),
        (("--transform", "t.json", "--phase", "centre"), "leave --factor and --phase out"),
        (("--transform", "t.json", "--phase", "corner"), "leave --factor and --phase out"),
    ],
)
def test_wrong_options_of_a_store(run, stores, tmp_path, options, message):
    out = tmp_path / "o.zarr"
    words = ("upsample", stores / "low.zarr", stores / "guide.zarr", "-o", out)
    code, _, err = run(*words, *options)
    assert (code, len(err)) == (2, 1)
    assert message in err[0]
    assert not any(tmp_path.iterdir())


def test_a_transform_in_lengths_is_refused(run, stores, tmp_path):
    save_transform(tmp_path / "t.json", np.diag([1e-6, 1e-6, 1]))
    out = tmp_path / "o.zarr"
    words = ("upsample", stores / "low.zarr", stores / "guide.zarr", "-o", out)
    code, _, err = run(*words, "--transform", tmp_path / "t.json")
    assert code == 2
    assert "more than the whole guide (48 x 60)" in err[0]
    assert not list(tmp_path.glob("o*"))
