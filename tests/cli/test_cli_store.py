"""``upsample`` with Zarr stores on the command line."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile
import zarr

from napari_cosparse.io import open_zarr, read_image


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
    moves = [{"type": "scale", "scale": [1, 0.5, 0.25]}]
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
    words = ("upsample", stores / "low.zarr", stores / "guide.zarr", "-o", tmp_path / "a.ome.zarr")
    code, _, err = run(*words)
    assert code == 2
    assert "exists already" in err[0]


@pytest.mark.parametrize("option", [("--memory", "1GB"), ("--block", 64), ("--resume",)])
def test_options_of_stores_need_a_store(run, files, tmp_path, option):
    words = ("upsample", files / "low.tif", files / "guide.png", "-o", tmp_path / "a.tif", *option)
    code, _, err = run(*words)
    assert code == 2
    assert option[0] in err[0]
    assert not any(tmp_path.iterdir())


def test_learning_from_stores(run, stores, files, tmp_path):
    code, _, err = run(
        "learn", stores / "guide.zarr", files / "depth.tif", "-o", tmp_path / "p.npz",
        "--side", 3, "--samples", 200, "--iterations", 3,
    )  # fmt: skip
    assert (code, err) == (0, [])
    assert (tmp_path / "p.npz").is_file()


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
