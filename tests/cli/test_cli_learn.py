"""``napari-cosparse learn``, ``info`` and ``operators`` on real files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from napari_cosparse import learn_operators, load_operators, shipped_operators
from napari_cosparse.io import make_scene, read_image, write_image

SMALL = ("--side", 3, "--samples", 500, "--iterations", 15)


def test_learning_gives_what_python_gives(run, files, tmp_path):
    out = tmp_path / "pair.npz"
    code, lines, errors = run("learn", files / "guide.png", files / "depth.tif", "-o", out, *SMALL,
                              "--seed", 4, "--nu", 300, "--kappa", 4, 20, "--mu", 90, 2e4,
                              "--symmetries", "--atoms", 12)  # fmt: skip
    assert (code, errors) == (0, [])
    images = [(read_image(files / "guide.png"), read_image(files / "depth.tif"))]
    wanted = learn_operators(images, side=3, samples=500, iterations=15, seed=4, nu=300,
                             kappa=(4, 20), mu=(90, 2e4), symmetries=True, atoms=12)  # fmt: skip
    pair = load_operators(out)
    assert np.array_equal(pair.groups[0].coefficients_u, wanted.pair.groups[0].coefficients_u)
    assert np.array_equal(pair.groups[0].coefficients_v, wanted.pair.groups[0].coefficients_v)
    assert lines[0] == "12 atoms in 1 group"
    assert lines[-1] == f"wrote {out} and {tmp_path / 'pair.npz.json'}"
    record = json.loads((tmp_path / "pair.npz.json").read_text())
    assert record["parameters"]["nu"] == 300
    assert record["parameters"]["kappa"] == [4, 20]
    assert record["inputs"]["u"][0]["file"] == str(files / "guide.png")
    assert record["result"]["costs"] == wanted.history.tolist()
    assert record["result"]["evaluations"] == wanted.evaluations
    assert len(record["result"]["diagnostics"]["matched"]) == 12


def test_names_and_training_images_are_kept(run, files, tmp_path):
    out = tmp_path / "mine"
    run("learn", files / "guide.png", files / "depth.tif", "-o", out, *SMALL, "--modalities",
        "colour", "range", "--name", "room")  # fmt: skip
    metadata = load_operators(tmp_path / "mine.npz").metadata
    assert metadata["name"] == "room"
    assert metadata["modalities"] == ["colour", "range"]
    assert metadata["training"][0]["v"]["file"] == str(files / "depth.tif")
    assert metadata["side"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.npz", "mine.npz.json"]


def test_the_same_call_gives_the_same_bytes(run, files, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        run("learn", files / "guide.png", files / "depth.tif", "-o", tmp_path / folder / "p.npz",
            *SMALL)  # fmt: skip
    assert (tmp_path / "a/p.npz").read_bytes() == (tmp_path / "b/p.npz").read_bytes()


def test_several_pairs_and_values_that_mean_unknown(run, files, tmp_path):
    scene = make_scene((40, 50), 7)
    depth = scene.depth.copy()
    depth[5:15, 10:30] = 0
    write_image(tmp_path / "u.png", scene.guide)
    write_image(tmp_path / "v.tif", depth)
    out = tmp_path / "pair.npz"
    images = [files / "guide.png", files / "depth.tif", tmp_path / "u.png", tmp_path / "v.tif"]
    code, *_ = run("learn", *images, "-o", out, *SMALL, "--invalid-v", 0)
    assert code == 0
    metadata = load_operators(out).metadata
    assert metadata["invalid"] == [None, 0.0]
    assert len(metadata["training"]) == 2


def test_a_bank_is_ready_for_upsampling(run, files, tmp_path):
    out = tmp_path / "pair.npz"
    run("learn", files / "guide.png", files / "depth.tif", "-o", out, *SMALL, "--bank")
    assert len(load_operators(out).groups) > 1
    code, *_ = run("upsample", files / "low.tif", files / "guide.png", "-o", tmp_path / "x.tif",
                   "--operators", out)  # fmt: skip
    assert code == 0


def test_info_shows_groups_and_training(run, files, tmp_path):
    out = tmp_path / "pair.npz"
    run("learn", files / "guide.png", files / "depth.tif", "-o", out, *SMALL, "--bank")
    code, lines, errors = run("info", out)
    assert (code, errors) == (0, [])
    text = "\n".join(lines)
    assert lines[0].startswith(f"{out}: ")
    for word in ("3 x 3", "pixels within 8", "modalities: guide, target", "name: pair", "seed: 0",
                 "condition_u", "coherence_v", "matched", str(files / "depth.tif")):  # fmt: skip
        assert word in text
    assert max(map(len, lines)) <= 100 + len(str(files))


def test_info_of_every_shipped_pair(run):
    for name in shipped_operators():
        code, lines, errors = run("info", name)
        assert (code, errors) == (0, [])
        assert name in lines[0]
    code, lines, _ = run("operators")
    assert code == 0
    assert [line.split()[0] for line in lines[1:-1]] == list(shipped_operators())


@pytest.mark.parametrize("command", ["info", "upsample", "learn", "operators", "demo"])
def test_help(run, capsys, command):
    with pytest.raises(SystemExit) as stop:
        run(command, "--help")
    assert stop.value.code == 0
    assert f"napari-cosparse {command}" in capsys.readouterr().out
