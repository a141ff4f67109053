"""``napari-cosparse upsample`` on real files."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
import tifffile

from napari_cosparse import upsample
from napari_cosparse.cli import _upsample
from napari_cosparse.core.reconstruction import degrade
from napari_cosparse.io import load_operators, make_scene, read_image, write_image


@pytest.fixture
def go(run, files):
    """Upsample with the test's operators; the images are names in the folder or paths."""

    def call(target, guide, out, *options):
        pair = files / "pair.npz"
        return run("upsample", files / target, files / guide, "-o", out, "--operators", pair,
                   *options)  # fmt: skip

    return call


def record_of(path):
    return json.loads(path.with_name(path.name + ".json").read_text())


def test_the_file_is_what_python_gives(go, files, tmp_path):
    out = tmp_path / "result.tif"
    code, lines, errors = go("low.tif", "guide.png", out, "--noise", 0)
    assert (code, errors) == (0, [])
    images = [read_image(files / name) for name in ("low.tif", "guide.png")]
    wanted = upsample(*images, load_operators(files / "pair.npz"), noise=0)
    assert read_image(out).dtype == np.float32
    assert np.array_equal(read_image(out), wanted.image)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.tif", "result.tif.json"]
    text = "\n".join(lines)
    assert "factor 4 x 4 (from the sizes; --factor sets it), phase centre, blur box" in text
    assert "noise 0 (as given)" in text
    assert f"wrote {out}" in text


def test_the_record_repeats_the_run(go, files, tmp_path):
    out = tmp_path / "result.npy"
    go("low.tif", "guide.png", out, "--factor", 4, 4, "--blur", "gaussian", "--phase", "corner",
       "--seed", 5, "--invalid", 0)  # fmt: skip
    record = record_of(out)
    for role, name in (("target", "low.tif"), ("guide", "guide.png"), ("operators", "pair.npz")):
        entry = record["inputs"][role]
        assert entry["file"] == str(files / name)
        assert entry["sha256"] == hashlib.sha256((files / name).read_bytes()).hexdigest()
    parameters = record["parameters"]
    wanted = {
        "factor": [4, 4], "blur": "gaussian", "phase": "corner", "seed": 5, "invalid": 0,
        "solver": "lbfgs", "guided": True, "noise_estimated": True, "origin": [0, 0],
    }  # fmt: skip
    assert {key: parameters[key] for key in wanted} == wanted
    assert parameters["noise"] >= 0
    assert record["command"] == "upsample"
    assert record["output"] == {"file": str(out), "shape": [48, 60], "dtype": "float32"}
    assert {"misfit", "stop", "converged", "evaluations"} <= set(record["result"])
    assert set(record["versions"]) == {"napari-cosparse", "numpy", "scipy", "python"}


def test_the_same_call_gives_the_same_bytes(go, tmp_path):
    for name in ("a", "b"):
        go("low16.png", "guide.png", tmp_path / f"{name}.png", "--invalid", 0)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


TYPES = {  # target's type, name of the output, options -> type of the output
    "integers to png": ("uint16", "x.png", (), "uint16"),
    "bytes to jpg": ("uint8", "x.jpg", (), "uint8"),
    "bytes to pgm": ("uint8", "x.pgm", (), "uint8"),
    "integers to tif": ("uint16", "x.tif", (), "float32"),
    "integers to npy": ("int16", "x.npy", (), "float32"),
    "integers kept": ("int16", "x.tif", ("--dtype", "input"), "int16"),
    "large integers kept": ("int32", "x.npy", ("--dtype", "input"), "int32"),
    "doubles": ("float64", "x.tif", (), "float32"),
    "doubles kept": ("float64", "x.tif", ("--dtype", "input"), "float64"),
    "truth values": ("bool", "x.png", (), "bool"),
}


@pytest.mark.parametrize("case", TYPES)
def test_types(go, files, tmp_path, case):
    dtype, name, options, wanted = TYPES[case]
    low = read_image(files / "low.tif")
    top = {"bool": 1, "uint8": 200, "int16": 30000}.get(dtype, 3000)
    low = (low - low.min()) / np.ptp(low) * top
    write_image(tmp_path / "in.tif", (low > top / 2 if dtype == "bool" else low).astype(dtype))
    code, _, errors = go(tmp_path / "in.tif", "guide.png", tmp_path / name, *options)
    assert (code, errors) == (0, [])
    result = read_image(tmp_path / name)
    assert result.dtype == wanted
    assert result.shape == (48, 60)
    # within the target's range, to the promised 2 % and a jpeg's loss
    assert result.max() <= top * 1.05
    assert result.max() > top * 0.8


def test_integer_results_are_the_rounded_float_ones(go, tmp_path):
    go("low16.png", "guide.png", tmp_path / "a.png", "--noise", 0)
    go("low16.png", "guide.png", tmp_path / "b.tif", "--noise", 0)
    exact = read_image(tmp_path / "b.tif")
    assert np.array_equal(read_image(tmp_path / "a.png"), np.rint(exact).astype(np.uint16))


@pytest.mark.parametrize("size", [((194, 129), (96, 64)), ((375, 45), (94, 12))])
def test_sizes_that_do_not_divide(go, tmp_path, size):
    """D19, D20: the result has the guide's size whatever the factor is."""
    (guide, target) = size
    scene = make_scene(guide, 2)
    rows, columns = ((np.arange(m) * n / m).astype(int) for n, m in zip(guide, target, strict=True))
    write_image(tmp_path / "guide.png", scene.guide)
    write_image(tmp_path / "low.tif", scene.depth[np.ix_(rows, columns)])
    out = tmp_path / "out.tif"
    code, lines, _ = go(tmp_path / "low.tif", tmp_path / "guide.png", out)
    assert code == 0
    assert read_image(out).shape == guide
    factor = record_of(out)["parameters"]["factor"]
    assert any(f"factor {factor[0]:.4g} x {factor[1]:.4g}" in line for line in lines)


def test_two_factors_in_front_of_the_files(run, files, tmp_path):
    """``--factor 4 4`` must not take the names of the images for numbers."""
    for words in (
        ("--factor", "4"),
        ("--factor", "4", "4"),
        ("--factor=4x4",),
        ("--factor", "4,4"),
    ):
        out = tmp_path / "out.tif"
        code, lines, _ = run("upsample", *words, files / "low.tif", files / "guide.png", "-o", out,
                             "--operators", files / "pair.npz")  # fmt: skip
        assert code == 0
        assert any("factor 4 x 4 (as given)" in line for line in lines)


def test_gray_saved_as_colour_is_gray(go, files, tmp_path):
    low = read_image(files / "low.tif")
    low[2, 3] = np.nan
    write_image(tmp_path / "gray.tif", low)
    write_image(tmp_path / "rgb.tif", np.repeat(low[..., None], 3, 2))
    for name in ("gray", "rgb"):
        assert go(tmp_path / f"{name}.tif", "guide.png", tmp_path / f"{name}.npy")[0] == 0
    one, other = (read_image(tmp_path / f"{name}.npy") for name in ("gray", "rgb"))
    assert np.isfinite(one).all()
    assert np.array_equal(one, other)


def test_guides_may_be_gray_or_have_alpha(go, files, tmp_path):
    guide = read_image(files / "guide.png")
    alpha = np.full((*guide.shape[:2], 1), 255, np.uint8)
    tifffile.imwrite(tmp_path / "rgba.tif", np.concatenate([guide, alpha], 2), photometric="rgb",
                     extrasamples=["unassalpha"])  # fmt: skip
    for name in (tmp_path / "rgba.tif", "guide.png", "gray.png"):
        assert go("low.tif", name, tmp_path / f"{str(name)[-8:-4]}.npy".replace("/", "_"))[0] == 0
    with_alpha, colour = (read_image(tmp_path / f"{n}.npy") for n in ("rgba", "uide"))
    assert np.array_equal(with_alpha, colour)


def test_without_guide(go, tmp_path):
    for name, words in (("a", ()), ("b", ("--unguided",))):
        go("low.tif", "guide.png", tmp_path / f"{name}.npy", *words)
    assert record_of(tmp_path / "b.npy")["parameters"]["guided"] is False
    one, other = (read_image(tmp_path / f"{name}.npy") for name in ("a", "b"))
    assert not np.array_equal(one, other)


def test_a_constant_guide_is_named(go, files, tmp_path):
    write_image(tmp_path / "flat.png", np.full((48, 60), 7, np.uint8))
    code, lines, _ = go("low.tif", tmp_path / "flat.png", tmp_path / "a.npy")
    assert code == 0
    assert "the guide is constant and had no say" in lines
    go("low.tif", "guide.png", tmp_path / "b.npy", "--unguided")
    assert np.array_equal(*(read_image(tmp_path / f"{name}.npy") for name in ("a", "b")))


def test_a_shifted_guide_is_named(run, files, tmp_path):
    """D17: nine pixels of shift are seen and said, no shift is not."""
    scene = make_scene((200, 280), 4)
    for name, guide in (("shifted", scene.guide[:, 9:]), ("fitting", scene.guide[:, :-9])):
        write_image(tmp_path / f"{name}.png", guide)
        write_image(tmp_path / "low.tif", degrade(scene.depth[:, :-9], 4))
        images = [tmp_path / "low.tif", tmp_path / f"{name}.png"]
        code, _, errors = run("upsample", *images, "-o", tmp_path / f"{name}.tif",
                              "--operators", files / "pair.npz")  # fmt: skip
        assert code == 0
        record = record_of(tmp_path / f"{name}.tif")["alignment"]
        if name == "shifted":
            assert record["shift"][1] == pytest.approx(9, abs=1)
            assert len(errors) == 1
            assert errors[0].startswith("napari-cosparse: warning: edges do not coincide")
        else:
            assert record["coincide"]
            assert errors == []


def test_holes_do_not_count_as_edges(go, files, tmp_path):
    low = read_image(files / "low16.png")
    low[3:6, 4:9] = 0
    write_image(tmp_path / "holes.png", low)
    code, _, errors = go(tmp_path / "holes.png", "guide.png", tmp_path / "out.png", "--invalid", 0)
    assert (code, errors) == (0, [])
    assert read_image(tmp_path / "out.png").min() > 500


def test_the_solver_of_the_paper(go, tmp_path):
    assert go("low.tif", "guide.png", tmp_path / "a.tif", "--solver", "cg")[0] == 0
    assert record_of(tmp_path / "a.tif")["parameters"]["solver"] == "cg"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "napari-cosparse: stopped; nothing was written"),
        (
            MemoryError("3 TiB"),
            2,
            "napari-cosparse: error: not enough memory (3 TiB); use smaller images",
        ),
    ],
)
def test_interrupted_runs_leave_nothing(go, tmp_path, monkeypatch, error, code, line):
    def fail(*_args, **_keywords):
        raise error

    monkeypatch.setattr(_upsample, "upsample", fail)
    assert go("low.tif", "guide.png", tmp_path / "out.tif") == (code, [], [line])
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_old_result(go, tmp_path, monkeypatch):
    go("low.tif", "guide.png", tmp_path / "out.tif")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(path, **_):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(_upsample, "write_record", full)
    code, lines, errors = go("low.tif", "gray.png", tmp_path / "out.tif")
    assert (code, lines, len(errors)) == (2, [], 1)
    assert "No space left on device" in errors[0]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
