"""``napari-cosparse demo``: small, but all of it."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from napari_cosparse import apply_transform, degrade, load_operators, make_scene
from napari_cosparse.cli import _demo, _demo_register, _demo_run
from napari_cosparse.io import read_image

WORDS = ("demo", "--shape", 64, 90, "--seed", 3)
METHODS = {"nearest", "bicubic", "intensity-depth", "learned-here"}
IMAGES = METHODS | {"guide", "depth", "low", "fixed", "moving"}
FILES = {"learned.npz", "comparison.png", "demo.json", "checkerboard-before.png"}


def told(fixed, moving, **_):
    """Stand in for the registration, which takes longest."""
    matrix = _demo_register.motion(moving.shape)
    return SimpleNamespace(matrix=matrix, trusted=True, because="told", measure="mutual")


@pytest.fixture(autouse=True)
def _small_lesson(monkeypatch, request):
    monkeypatch.setattr(_demo_run, "TRAINING_SHAPE", (64, 80))
    if "registering" not in request.fixturenames:
        monkeypatch.setattr(_demo_register.api, "register", told)


@pytest.fixture
def registering():
    """Ask for the real registration."""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "demo"


def test_all_of_it(run, folder, registering):
    code, lines, errors = run(*WORDS, "-o", folder)
    assert (code, errors) == (0, [])
    registration = json.loads((folder / "demo.json").read_text())["result"]["registration"]
    names = {f"{name}.tif" for name in IMAGES} | FILES
    names |= {"checkerboard-after.png"} if registration["trusted"] else set()
    assert {path.name for path in folder.iterdir()} == names
    assert any(line.startswith("corner error") for line in lines)
    scene = make_scene((64, 90), 3)
    assert np.array_equal(read_image(folder / "guide.tif"), scene.guide)
    assert np.array_equal(read_image(folder / "depth.tif"), scene.depth)
    assert np.array_equal(read_image(folder / "low.tif"), degrade(scene.depth, 4))
    with Image.open(folder / "comparison.png") as figure:
        assert min(figure.size) > 500
    seeds = [entry["seed"] for entry in load_operators(folder / "learned.npz").metadata["training"]]
    assert 3 not in seeds  # other scenes than the one that is upsampled
    scores = json.loads((folder / "demo.json").read_text())["result"]["scores"]
    for name in METHODS:
        off = read_image(folder / f"{name}.tif").astype(float) - scene.depth
        assert scores[name]["rmse"] == pytest.approx(np.sqrt((off**2).mean()), rel=1e-6)
        assert scores[name]["bad"] == pytest.approx(
            np.mean(np.abs(off) > 0.01 * np.ptp(scene.depth)), abs=1e-6
        )
        assert any(name in line and f"{scores[name]['bad']:.2%}" in line for line in lines)
    best = max(scores["intensity-depth"]["rmse"], scores["learned-here"]["rmse"])
    assert best < 0.9 * scores["bicubic"]["rmse"]
    assert scores["bicubic"]["rmse"] < scores["nearest"]["rmse"]


def test_again_in_its_own_folder_with_the_same_bytes(run, folder):
    folder.mkdir()
    run(*WORDS, "-o", folder)
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "note.txt").write_text("mine")
    code, *_ = run(*WORDS, "-o", folder)
    assert code == 0
    assert (folder / "note.txt").read_text() == "mine"
    again = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".txt"}
    assert again == first


def test_without_matplotlib(run, folder, monkeypatch):
    find = _demo.find_spec
    monkeypatch.setattr(
        _demo, "find_spec", lambda name: None if name == "matplotlib" else find(name)
    )
    code, lines, _ = run(*WORDS, "-o", folder)
    assert code == 0
    assert not (folder / "comparison.png").exists()
    assert any('pip install "napari-cosparse[plot]"' in line for line in lines)


def test_view_opens_napari_on_the_results(run, folder, monkeypatch):
    pytest.importorskip("napari")
    shown = []
    stub = ModuleType("napari_cosparse.widgets._view")
    stub.show_layers = shown.extend
    monkeypatch.setitem(sys.modules, "napari_cosparse.widgets._view", stub)
    assert run(*WORDS, "-o", folder, "--view", "--factor", 3)[0] == 0
    layers = {settings["name"]: (data, settings) for data, settings, _ in shown}
    assert set(layers) == {"guide", "coarse depth", "exact depth", "nearest", "bicubic",
                           "intensity-depth", "learned-here"}  # fmt: skip
    low, settings = layers["coarse depth"]
    # first and last sample lie amid their pixels
    first = np.array(settings["translate"])
    last = first + np.array(settings["scale"]) * (np.array(low.shape) - 1)
    assert first.tolist() == [1, 1]
    assert last.tolist() == [64, 88]  # 64 rows make 22 samples: the last one's centre is row 64
    guide, settings = layers["guide"]
    assert guide.shape == (64, 90, 3)
    assert settings["rgb"]


def test_view_without_napari(run, folder, monkeypatch):
    monkeypatch.setattr(_demo, "find_spec", lambda _: None)
    code, _, errors = run(*WORDS, "-o", folder, "--view")
    assert code == 2
    assert 'pip install "napari-cosparse[all]"' in errors[0]
    assert not folder.exists()


@pytest.mark.parametrize("existed", [True, False])
def test_interrupted(run, folder, monkeypatch, existed):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_demo, "compute", stop)
    if existed:
        folder.mkdir()
    code, lines, errors = run(*WORDS, "-o", folder)
    assert (code, lines, len(errors)) == (130, [], 1)
    assert folder.exists() == existed
    assert not existed or not list(folder.iterdir())


def test_nearest_keeps_every_sample():
    low = np.arange(6, dtype=np.float32).reshape(2, 3)
    big = _demo_run.nearest(low, (7, 10), 4)
    assert big.shape == (7, 10)
    assert np.array_equal(big[::4, ::4], low)
    assert big[3, 3] == low[0, 0]
    assert big[4, 3] == low[1, 0]


@pytest.mark.parametrize("shape", [(64, 90), (384, 512), (90, 64), (300, 300)])
def test_no_pixel_of_the_moved_depth_lies_outside(shape):
    edge = _demo_register.margin(shape)
    assert 0 < edge < min(shape) // 4
    size = (shape[0] - 2 * edge, shape[1] - 2 * edge)
    back = np.linalg.inv(_demo_register.motion(size))
    back[:2, 2] += edge
    assert np.isfinite(apply_transform(np.zeros(shape), back, shape=size)).all()


def test_a_strip_is_moved_all_the_same():
    assert _demo_register.margin((32, 1000)) == 4


def test_corner_error_is_a_mean_distance():
    moved = np.eye(3)
    moved[:2, 2] = 3, 4
    assert _demo_register.corner_error(np.eye(3), moved, (7, 9)) == 5


def test_the_truth_is_the_known_motion():
    """The truth is what brings the moved depth back onto the guide."""
    scene = make_scene((120, 150), 3)
    placed = _demo_register.place(scene, 0)
    assert placed.error == 0
    edge = _demo_register.margin((120, 150))
    inner = scene.depth[edge:-edge, edge:-edge]
    back = apply_transform(placed.moving, placed.found.matrix, order="cubic")
    both = np.isfinite(back)
    assert both.mean() > 0.7
    assert np.median(np.abs(back - inner)[both]) < 1e-3 * np.ptp(inner)
    assert set(placed.pictures()) == {"checkerboard-before", "checkerboard-after"}
