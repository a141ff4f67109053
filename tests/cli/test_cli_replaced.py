"""What the command line replaces without asking (files), and what it does not (stores, inputs)."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import tifffile
import zarr

from napari_cosparse import load_operators, save_transform
from napari_cosparse.cli import _apply, _learn, _upsample
from napari_cosparse.tiles import _lock

UPSAMPLE = "upsample {f}/low.tif {f}/guide.png --operators {f}/pair.npz --threads 1 -o"
COMMANDS = {
    "upsample": (UPSAMPLE, "x.tif", (_upsample, "check_target")),
    "learn": (
        "learn {f}/guide.png {f}/depth.tif --side 3 --samples 200 --iterations 5 -o", "x.npz",
        (_learn, "_finish"),
    ),
    "apply": ("apply {t}/move.json {f}/gray.png -o", "x.png", (_apply, "apply_transform")),
}  # fmt: skip


@pytest.fixture(params=COMMANDS)
def command(request, files, tmp_path):
    """Words of a command, its output, and what it calls before it writes."""
    save_transform(tmp_path / "move.json", np.eye(3), fixed_shape=(48, 60))
    words, name, inner = COMMANDS[request.param]
    out = tmp_path / name
    return [*words.format(f=files, t=tmp_path).split(), out], out, inner


def test_files_and_their_records_are_replaced_without_asking(run, command):
    words, out, _ = command
    record = out.with_name(out.name + ".json")
    out.write_text("old")
    record.write_text("old")
    code, lines, errors = run(*words)
    assert (code, errors) == (0, [])
    assert lines[-1] == f"wrote {out} and {record}"
    assert out.read_bytes() != b"old"
    assert record.read_text() != "old"


def test_the_old_file_stays_until_the_new_one_is_complete(run, command, monkeypatch):
    words, out, (module, name) = command

    def full(*_, **__):
        raise OSError(28, "No space left on device", "disk")

    out.write_text("old")
    before = sorted(path.name for path in out.parent.iterdir())
    monkeypatch.setattr(module, name, full)
    code, _, errors = run(*words)
    assert (code, len(errors)) == (2, 1)
    assert out.read_text() == "old"
    assert sorted(path.name for path in out.parent.iterdir()) == before


def test_stores_are_replaced_only_if_asked(run, files, tmp_path):
    out = tmp_path / "x.zarr"
    words = [*UPSAMPLE.format(f=files).split(), out]
    zarr.create_array(out, shape=(2, 2), dtype="u1")[:] = 7
    code, _, errors = run(*words)
    assert code == 2
    assert "x.zarr exists already; --overwrite replaces it" in errors[0]
    assert (zarr.open_array(out)[:] == 7).all()
    assert run(*words, "--overwrite")[0] == 0
    assert zarr.open_array(out).shape == (48, 60)


INPUTS = {
    "record over transform": ("-o {t}/y.tif --transform {t}/y.tif.json", "y.tif.json"),
    "store over transform": ("-o {t}/o.zarr --overwrite --transform {t}/o.zarr/T.json", "T.json"),
    "store over operators": ("-o {t}/o.zarr --overwrite --operators {t}/o.zarr/p.npz", "p.npz"),
    "unfinished run over it": (
        "-o {t}/o.zarr --overwrite --transform {t}/o.zarr.partial/T.json", "T.json"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", INPUTS)
def test_no_input_is_replaced(run, files, tmp_path, case):
    words, name = INPUTS[case]
    zarr.create_array(tmp_path / "o.zarr", shape=(2, 2), dtype="u1")
    (tmp_path / "o.zarr.partial").mkdir()
    for place in ("y.tif.json", "o.zarr/T.json", "o.zarr.partial/T.json"):
        save_transform(tmp_path / place, np.diag([0.25, 0.25, 1]))
    shutil.copy(files / "pair.npz", tmp_path / "o.zarr/p.npz")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    words = words.format(t=tmp_path).split()
    code, lines, errors = run("upsample", files / "low.tif", files / "guide.png", *words)
    assert (code, lines, len(errors)) == (2, [], 1)
    assert f"is an input ({tmp_path}" in errors[0]
    assert f"{name}); give the output another name" in errors[0]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_no_part_of_an_input_is_replaced(run, files, tmp_path):
    for name in ("u", "v"):
        array = zarr.create_array(tmp_path / f"{name}.zarr", shape=(48, 60), dtype="u1")
        array[:] = 1
    words = ("register", tmp_path / "u.zarr", tmp_path / "v.zarr", "-o")
    code, _, errors = run(*words, tmp_path / "v.zarr/zarr.json")
    assert code == 2
    assert "v.zarr/zarr.json is a part of an input" in errors[0]
    kept = tmp_path / "p.npz.partial/v.zarr"
    shutil.copytree(tmp_path / "v.zarr", kept)
    words = ("learn", files / "gray.png", kept, "-o", tmp_path / "p.npz", "--overwrite")
    code, _, errors = run(*words)
    assert code == 2
    assert f"p.npz.partial is an input ({kept})" in errors[0]


@pytest.mark.parametrize("option", ["--resume", "--overwrite", None])
def test_a_store_that_is_being_written_is_left_alone(run, files, tmp_path, option):
    out = tmp_path / "x.zarr"
    words = [*UPSAMPLE.format(f=files).split(), out, *filter(None, [option])]
    with _lock.alone(tmp_path / "x.zarr.partial"):
        code, lines, errors = run(*words)
        assert (code, lines, len(errors)) == (2, [], 1)
        assert "x.zarr.partial is in use: " in errors[0]
        assert "or choose another output" in errors[0]
        assert [path.name for path in tmp_path.iterdir()] == ["x.zarr.partial.lock"]
    assert run(*words)[0] == 0


def test_planes_without_samples_are_named(run, files, tmp_path):
    low = tifffile.imread(files / "low.tif")
    stack = np.stack([low, np.full_like(low, np.nan)])
    zarr.create_array(tmp_path / "t.zarr", shape=stack.shape, dtype=stack.dtype)[:] = stack
    words = ["upsample", tmp_path / "t.zarr", files / "guide.png", "-o", tmp_path / "o.zarr"]
    code, lines, errors = run(*words, "--operators", "differences")
    assert (code, errors) == (0, [])
    assert "plane 1 has no known sample; the result is unknown there" in lines


def test_a_learned_file_is_that_of_the_last_run(run, files, tmp_path):
    words = ["learn", files / "guide.png", files / "depth.tif", "--side", 3, "--samples", 200,
             "--iterations", 5, "-o", tmp_path / "p.npz"]  # fmt: skip
    for seed in (0, 1):
        assert run(*words, "--seed", seed)[0] == 0
        assert load_operators(tmp_path / "p.npz").metadata["seed"] == seed


@pytest.mark.parametrize("command", ["upsample", "learn"])
def test_help_explains_itself(run, capsys, command):
    with pytest.raises(SystemExit):
        run(command, "--help")
    text = " ".join(capsys.readouterr().out.split())
    assert f"example: napari-cosparse {command} " in text
    for word in ("OUT.partial", "OUT.json", "replace", "tcp://...", "Zarr store"):
        assert word in text
    assert "None" not in text
