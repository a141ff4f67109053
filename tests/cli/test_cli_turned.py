"""``napari-cosparse upsample --transform``: a target that is turned against its guide."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tifffile
import zarr

from napari_cosparse import upsample
from napari_cosparse.core.reconstruction._turned import TurnedSampling
from napari_cosparse.io import (
    load_operators,
    make_scene,
    read_image,
    save_transform,
    write_image,
)

SHAPE, SMALL = (48, 60), (12, 15)


@pytest.fixture(scope="module")
def matrix():
    """Guide pixel to target pixel: a turn by 20 degrees and a factor of 4."""
    angle = np.deg2rad(20)
    found = np.eye(3)
    found[:2, :2] = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / 4
    found[:2, 2] = np.array([5.5, 7.0]) - found[:2, :2] @ (23.5, 29.5)
    return found


@pytest.fixture(scope="module")
def turned(files, matrix, tmp_path_factory):
    """Folder with turned.tif and t.json beside the other files' guide."""
    folder = tmp_path_factory.mktemp("turned")
    phi = TurnedSampling(SHAPE, SMALL, matrix, "box")
    depth = read_image(files / "depth.tif")
    target = np.where(phi.inside, phi.forward(depth), np.nan).astype(np.float32)
    tifffile.imwrite(folder / "turned.tif", target)
    save_transform(folder / "t.json", matrix, fixed_shape=SHAPE, moving_shape=SMALL)
    return folder


@pytest.fixture
def go(run, files, turned):
    """Upsample the turned target."""

    def call(out, *options, target="turned.tif"):
        return run("upsample", turned / target, files / "guide.png", "-o", out,
                   "--operators", files / "pair.npz", *options)  # fmt: skip

    return call


def test_the_file_is_what_python_gives(go, files, turned, matrix, tmp_path):
    out = tmp_path / "out.tif"
    code, lines, errors = go(out, "--noise", 0, "--transform", turned / "t.json")
    assert (code, errors) == (0, [])
    target, guide = read_image(turned / "turned.tif"), read_image(files / "guide.png")
    bank = load_operators(files / "pair.npz")
    wanted = upsample(target, guide, bank, transform=matrix, noise=0).image
    np.testing.assert_array_equal(read_image(out), wanted)
    assert any("covers" in line and "% of the guide" in line for line in lines)
    record = json.loads((tmp_path / "out.tif.json").read_text())
    np.testing.assert_array_equal(record["parameters"]["transform"], matrix)


def test_into_a_store(go, turned, tmp_path):
    image, store = tmp_path / "out.tif", tmp_path / "out.zarr"
    for out in (image, store):
        assert go(out, "--noise", 0, "--transform", turned / "t.json")[0] == 0
    np.testing.assert_array_equal(zarr.open_array(store)[:], read_image(image))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, ("--factor", 4), "leave --factor and --phase out"),
        ({"trusted": False, "because": "no edges"}, (), "is not trusted: no edges"),
        ({"fixed_shape": (15, 12)}, (), "is for 15 x 12"),
        ({"fixed_shape": SMALL, "moving_shape": SHAPE}, (), "the other way round"),
    ],
)
def test_a_transform_that_does_not_fit_writes_nothing(
    go, matrix, tmp_path, change, options, message
):
    path, out = tmp_path / "t.json", tmp_path / "out.tif"
    save_transform(path, matrix, fixed_shape=SHAPE, moving_shape=SMALL)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    code, _, errors = go(out, "--transform", path, *options)
    assert code == 2
    assert message in " ".join(errors)
    assert not out.exists()


def test_a_transform_in_physical_units_is_refused(go, matrix, tmp_path):
    save_transform(tmp_path / "t.txt", matrix)
    code, _, errors = go(tmp_path / "out.tif", "--transform", tmp_path / "t.txt")
    assert code == 2
    assert "physical units" in " ".join(errors)


def test_register_then_upsample(run, tmp_path):
    """A turned sensor of another modality, from two files to a sharp one."""
    scene = make_scene((300, 360), 5)
    light = scene.guide @ np.array([0.3, 0.6, 0.1])
    infrared = (255 - light) ** 1.3 + 20 * scene.depth
    angle = np.deg2rad(8)
    matrix = np.eye(3)
    matrix[:2, :2] = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / 2
    matrix[:2, 2] = np.array([66.0, 82.0]) - matrix[:2, :2] @ (151.0, 177.3)
    phi = TurnedSampling(scene.depth.shape, (135, 162), matrix, "box")
    target = np.where(phi.inside, phi.forward(infrared), np.nan).astype(np.float32)
    guide, coarse = tmp_path / "guide.png", tmp_path / "coarse.tif"
    write_image(guide, scene.guide)
    write_image(coarse, target)
    found, sharp = tmp_path / "t.json", tmp_path / "sharp.tif"
    assert run("register", guide, coarse, "-o", found, "--pixel-size-moving", 2, 2)[0] == 0
    options = ("--transform", found, "--noise", 0, "--operators", "differences")
    assert run("upsample", coarse, guide, "-o", sharp, *options)[0] == 0
    true = upsample(target, scene.guide, "differences", transform=matrix, noise=0).image
    error, best = (
        np.sqrt(np.nanmean((image - infrared) ** 2)) for image in (read_image(sharp), true)
    )
    assert error < 1.03 * best
