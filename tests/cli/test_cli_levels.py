"""Axes, pixel sizes, levels and parts of Zarr stores that the command line reads."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import tifffile
import zarr

from napari_cosparse import load_operators
from napari_cosparse.io import in_zarr, open_zarr, read_image

UM = "micrometer"
QUICK = ("--operators", "differences", "--threads", 1)


def ome(path, levels, axes, scale, units, *, place=None, every=(), version=3):
    """Write an OME-Zarr image; `place` is of the first pixel, `every` the transforms of all."""
    group = zarr.open_group(path, mode="w", zarr_format=version)
    data = []
    for number, image in enumerate(levels):
        group.create_array(str(number), shape=image.shape, dtype=image.dtype)[:] = image
        size = [s * (2**number if name in "yx" else 1) for name, s in zip(axes, scale, strict=True)]
        moves = [{"type": "scale", "scale": size}]
        moves += [{"type": "translation", "translation": place}] if place else []
        data.append({"path": str(number), "coordinateTransformations": moves})
    kinds = {"t": "time", "c": "channel"}
    named = [
        {"name": name, "type": kinds.get(name, "space"), **({"unit": unit} if unit else {})}
        for name, unit in zip(axes, units, strict=True)
    ]
    image = {"axes": named, "datasets": data, "coordinateTransformations": list(every)}
    if version == 3:
        group.attrs["ome"] = {"version": "0.5", "multiscales": [image]}
    else:
        group.attrs["multiscales"] = [image | {"version": "0.4"}]
    return path


@pytest.fixture(scope="module")
def stores(files, tmp_path_factory):
    """A stack, a guide of two levels in both formats, and a group of plain arrays."""
    folder = tmp_path_factory.mktemp("stores")
    low, guide = read_image(files / "low.tif"), read_image(files / "guide.png")
    stack = np.stack([np.stack([low, low + 1]), np.stack([2 * low, 3 * low])])
    ome(folder / "t.ome.zarr", [stack], "tzyx", (2.0, 3.0, 0.8, 0.8), ("second", UM, UM, UM),
        place=[5.0, 6.0, 7.0, 8.0])  # fmt: skip
    first = np.moveaxis(guide, -1, 0)
    for name, version in (("g", 3), ("g04", 2)):
        ome(folder / f"{name}.ome.zarr", [first, first[:, ::2, ::2]], "cyx", (1.0, 0.2, 0.2),
            (None, UM, UM), version=version)  # fmt: skip
    group = zarr.open_group(folder / "group.zarr", mode="w")
    for name, image in (("depth", read_image(files / "depth.tif")), ("photo", guide)):
        group.create_array(name, shape=image.shape, dtype=image.dtype)[:] = image
    return folder


def test_other_axes_keep_their_size_if_the_guide_has_none(run, files, stores, tmp_path):
    out = tmp_path / "o.ome.zarr"
    code, _, errors = run("upsample", stores / "t.ome.zarr", files / "guide.png", "-o", out, *QUICK)
    assert (code, errors) == (0, [])
    image = open_zarr(out)
    assert (image.axes, image.scale) == ("tzyx", (2.0, 3.0, 1.0, 1.0))
    assert image.units == ("second", UM, None, None)
    assert image.position == (5.0, 6.0, 0.0, 0.0)


@pytest.mark.parametrize("version", [2, 3])
def test_transforms_of_all_levels_come_after_those_of_a_level(tmp_path, version):
    every = [
        {"type": "scale", "scale": [1.0, 0.2, 0.1]},
        {"type": "translation", "translation": [0.0, 100.0, 200.0]},
    ]
    level = np.zeros((1, 4, 4), np.uint8)
    path = ome(tmp_path / "g.ome.zarr", [level, level], "cyx", (1.0, 3.0, 3.0), (None, UM, UM),
               place=[0.0, 10.0, 20.0], every=every, version=version)  # fmt: skip
    for number, at in ((0, path), (1, path / "1")):
        image = open_zarr(at)
        assert image.scale == pytest.approx((1.0, 0.6 * 2**number, 0.3 * 2**number))
        assert image.position == pytest.approx((0.0, 102.0, 202.0))
    alone = [{"type": "scale", "scale": [1.0, 0.2, 0.2]}]
    path = ome(tmp_path / "h.ome.zarr", [level], "cyx", (1.0, 1.0, 1.0), (None, UM, UM),
               every=alone, version=version)  # fmt: skip
    assert open_zarr(path).scale == (1.0, 0.2, 0.2)
    assert open_zarr(path).position == ()


@pytest.mark.parametrize("guide", ["g.ome.zarr/0", "g04.ome.zarr/0", "group.zarr/photo"])
def test_parts_of_a_store_are_inputs(run, files, stores, tmp_path, guide):
    for out in ("a.tif", "b.zarr"):
        words = ("upsample", files / "low.tif", stores / guide, "-o", tmp_path / out, *QUICK)
        code, _, errors = run(*words)
        assert (code, errors) == (0, [])
    words = ("upsample", files / "low.tif", files / "guide.png", "-o", tmp_path / "c.tif", *QUICK)
    assert run(*words)[0] == 0
    expected = tifffile.imread(tmp_path / "c.tif")
    assert np.array_equal(tifffile.imread(tmp_path / "a.tif"), expected)
    assert np.array_equal(zarr.open_array(tmp_path / "b.zarr")[:], expected)


@pytest.mark.parametrize("name", ["g.ome.zarr", "g04.ome.zarr"])
def test_a_level_is_chosen_by_its_path(run, files, stores, tmp_path, name):
    out = tmp_path / "o.ome.zarr"
    words = ("upsample", files / "low.tif", stores / name / "1", "-o", out, *QUICK)
    assert run(*words)[0] == 0
    image = open_zarr(out)
    assert (image.array.shape, image.scale, image.units) == ((24, 30), (0.4, 0.4), (UM, UM))


def test_learning_from_parts_of_a_store(run, files, stores, tmp_path):
    options = ("--side", 3, "--samples", 200, "--iterations", 5)
    group = stores / "group.zarr"
    for name, pair in (
        ("a", (group / "photo", group / "depth")),
        ("b", (stores / "g.ome.zarr/0", files / "depth.tif")),
        ("c", (files / "guide.png", files / "depth.tif")),
    ):
        assert run("learn", *pair, "-o", tmp_path / f"{name}.npz", *options)[0] == 0
    a, b, c = (load_operators(tmp_path / f"{n}.npz").groups[0].coefficients_u for n in "abc")
    assert np.array_equal(a, c)
    assert np.array_equal(b, c)


@pytest.mark.parametrize(
    ("guide", "message"),
    [
        ("group.zarr", "group.zarr/depth (it holds depth, photo)"),
        ("group.zarr/none", "no such store (group.zarr holds depth, photo)"),
        ("g.ome.zarr/7", "no such store (g.ome.zarr holds 0, 1)"),
        ("group.zarr/a.tif", "a.tif: there is no such file"),
        ("t.ome.zarr", "t.ome.zarr is a stack (2 x 2 x 12 x 15); one plane is needed here"),
    ],
)
def test_what_is_no_part_of_a_store(run, files, stores, tmp_path, monkeypatch, guide, message):
    monkeypatch.chdir(stores)
    code, _, errors = run("upsample", files / "low.tif", guide, "-o", tmp_path / "o.tif", *QUICK)
    assert (code, len(errors)) == (2, 1)
    assert message in errors[0]
    assert not any(tmp_path.iterdir())


def test_a_stack_is_not_called_a_colour(run, files, stores, tmp_path):
    plain = zarr.create_array(tmp_path / "p.zarr", shape=(5, 12, 15), dtype="f4")
    plain[:] = np.random.default_rng(0).random(plain.shape)
    for target in (stores / "t.ome.zarr", tmp_path / "p.zarr"):
        words = ("upsample", target, files / "guide.png", "-o", tmp_path / "o.tif", *QUICK)
        code, _, errors = run(*words)
        assert code == 2
        assert "is a stack" in errors[0]
        assert "-o NAME.zarr" in errors[0]


def test_one_plane_of_many_axes_is_an_image(run, files, tmp_path):
    low = read_image(files / "low.tif")[None, None, None]
    ome(tmp_path / "t.ome.zarr", [low], "tczyx", (1.0,) * 5, (None,) * 5)
    words = ("upsample", tmp_path / "t.ome.zarr", files / "guide.png", *QUICK)
    code, _, errors = run(*words, "-o", tmp_path / "o.tif")
    assert (code, errors) == (0, [])


def test_names_of_stores(stores, tmp_path):
    shutil.copytree(stores / "group.zarr", tmp_path / "unnamed")
    inside = [stores / "g.ome.zarr", stores / "g.ome.zarr/0", tmp_path / "unnamed/depth"]
    assert all(map(in_zarr, [*inside, "none.zarr", "none.zarr/0"]))
    (tmp_path / "x.zarr").mkdir()
    (tmp_path / "x.zarr/T.tif").write_text("")
    assert not any(map(in_zarr, ["a.tif", tmp_path, tmp_path / "x.zarr/T.tif", "none.zarr/a.tif"]))
