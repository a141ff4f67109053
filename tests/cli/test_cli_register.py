"""``register`` and ``apply``: files, words, exit codes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from napari_cosparse import api
from napari_cosparse.cli._checkerboard import checkerboard
from napari_cosparse.cli._demo_register import corner_error
from napari_cosparse.core.descent import Stop
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import apply_transform
from napari_cosparse.io import load_transform, make_scene, read_image, save_transform, write_image

MATRIX = np.array([[1.0, 0, 3], [0, 1, -2], [0, 0, 1]])
SHAPE = (40, 50)
WIDE = (110, 280)


@dataclass(frozen=True)
class Found:
    """What a registration looks like."""

    matrix: np.ndarray
    trusted: bool = True
    because: str = "both ways agree within 0.1 px"
    fixed_shape: tuple = SHAPE
    moving_shape: tuple = (44, 52)
    pixel_size_fixed: tuple = (1.0, 1.0)
    pixel_size_moving: tuple = (1.0, 1.0)
    group: str = "SE"
    measure: str = "mutual"
    overlap: float = 0.93
    cost_before: float = -0.1
    cost_after: float = -0.3
    stop: Stop = Stop.CHANGE_SMALL
    residual: np.ndarray | None = None


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    rng = np.random.default_rng(0)
    write_image(folder / "fixed.png", rng.integers(0, 255, (*SHAPE, 3), np.uint8))
    write_image(folder / "moving.tif", rng.random((44, 52)).astype(np.float32))
    write_image(folder / "moving16.png", rng.integers(0, 60_000, (44, 52), np.uint16))
    write_image(folder / "labels.png", rng.choice([0, 5, 200], (44, 52)).astype(np.uint8))
    write_image(folder / "mask.png", (rng.random(SHAPE) > 0.3))
    (folder / "points.csv").write_text("row,column,row,column\n1,2,4,0\n5,6,8,4\n")
    return folder


@pytest.fixture
def register(monkeypatch):
    """Stand in for the search; remembers what it was asked."""
    asked = {}

    def stand_in(fixed, moving, operators, **keywords):
        asked.update(keywords, fixed=fixed, moving=moving, operators=operators)
        return asked.get("answer", Found(MATRIX))

    monkeypatch.setattr(api, "register", stand_in, raising=False)
    return asked


def test_transform_is_written_and_told(run, register, images, tmp_path):
    out = tmp_path / "t.json"
    code, lines, errors = run("register", images / "fixed.png", images / "moving.tif", "-o", out)
    assert (code, errors) == (0, [])
    record = json.loads(out.read_text())
    assert record["matrix"] == MATRIX.tolist()
    assert record["trusted"] is True
    assert record["details"]["command"] == "register"
    assert record["details"]["inputs"]["fixed"]["file"] == str(images / "fixed.png")
    assert len(record["details"]["inputs"]["moving"]["sha256"]) == 64
    assert record["details"]["measure"] == "mutual"
    text = "\n".join(lines)
    assert "rotation +0.000 deg, shift (+1.00, -3.00) px, scale 1.0000" in text
    assert "trusted: both ways agree" in text
    assert "overlap 93%" in text
    assert lines[-1] == f"wrote {out}"
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def test_defaults_are_those_of_the_function(run, register, images, tmp_path):
    run("register", images / "fixed.png", images / "moving.tif", "-o", tmp_path / "t.json")
    assert register["operators"] == "intensity-nir"
    expected = {
        "group": "SE",
        "measure": "auto",
        "solver": "gauss-newton",
        "verdict": True,
        "allow_reflection": False,
        "invalid": (None, None),
        "pixel_size_fixed": (1.0, 1.0),
        "pixel_size_moving": (1.0, 1.0),
        "seed": 0,
        "threads": None,
    }
    assert {name: register[name] for name in expected} == expected
    assert not {"search", "max_rotation", "max_scale", "region"} & set(register)
    assert not {"initial", "points", "mask_fixed", "mask_moving"} & set(register)


def test_options_arrive(run, register, images, tmp_path):
    start = save_transform(tmp_path / "start.tfm", MATRIX)
    code, _, errors = run(
        "register", images / "fixed.png", images / "moving.tif", "-o", tmp_path / "t.json",
        "--group", "A", "--measure", "nmi", "--solver", "gradient", "--no-search", "--no-verdict",
        "--operators", "intensity-depth-registration", "--initial", start,
        "--mask-fixed", images / "mask.png", "--invalid-moving", "-1", "--max-rotation", "180",
        "--region", "1", "2", "30", "40", "--allow-reflection", "--threads", "1", "--seed", "7",
        "--pixel-size-moving", "2", "0.5",
    )  # fmt: skip
    assert (code, errors) == (0, [])
    assert register["operators"] == "intensity-depth-registration"
    assert (register["group"], register["measure"], register["solver"]) == ("A", "nmi", "gradient")
    assert (register["search"], register["verdict"]) == (False, False)
    assert register["invalid"] == (None, -1.0)
    assert tuple(register["region"]) == (1, 2, 30, 40)
    assert register["max_rotation"] == 180
    assert register["pixel_size_moving"] == (2.0, 0.5)
    expected = np.diag([1 / 2.0, 1 / 0.5, 1]) @ MATRIX
    np.testing.assert_allclose(register["initial"], expected)
    np.testing.assert_array_equal(register["mask_fixed"], read_image(images / "mask.png") != 0)
    inputs = json.loads((tmp_path / "t.json").read_text())["details"]["inputs"]
    assert {"fixed", "moving", "mask_fixed", "initial", "operators"} == set(inputs)


def test_pixels_that_are_parallelograms(run, register, images, tmp_path):
    four = "--pixel-matrix-moving", "2", "-0.1", "0.3", "0.5"
    pair = images / "fixed.png", images / "moving.tif"
    start = save_transform(tmp_path / "start.json", MATRIX)
    code, _, errors = run(
        "register", *four, *pair, "-o", tmp_path / "t.json", "--initial", start,
        "--pixel-size-fixed", "1", "2",
    )  # fmt: skip
    assert (code, errors) == (0, [])
    assert register["pixel_size_moving"] == ((2, -0.1), (0.3, 0.5))
    assert register["pixel_size_fixed"] == (1, 2)
    np.testing.assert_array_equal(register["initial"], MATRIX)
    code, _, errors = run("register", *four, *pair, "-o", tmp_path / "t.tfm")
    assert code == 2
    assert "t.tfm is in lengths" in errors[0]
    assert "give a .json" in errors[0]
    code, _, errors = run(
        "register", *four, *pair, "-o", tmp_path / "u.json", "--pixel-size-moving", "1", "1"
    )
    assert code == 2
    assert "not allowed with" in " ".join(errors)


def test_points_start_the_search(run, register, images, tmp_path):
    run("register", images / "fixed.png", images / "moving.tif", "-o", tmp_path / "t.json",
        "--points", images / "points.csv")  # fmt: skip
    fixed, moving = register["points"]
    np.testing.assert_array_equal(fixed, [[1, 2], [5, 6]])
    np.testing.assert_array_equal(moving, [[4, 0], [8, 4]])


def test_resampled_image_and_checkerboard(run, register, images, tmp_path):
    code, _, errors = run(
        "register", images / "fixed.png", images / "moving16.png", "-o", tmp_path / "t.tfm",
        "--resampled", tmp_path / "r.png", "--checkerboard", tmp_path / "c.png",
    )  # fmt: skip
    assert (code, errors) == (0, [])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "c.png", "r.png", "r.png.json", "t.tfm", "t.tfm.json",
    ]  # fmt: skip
    moving = read_image(images / "moving16.png")
    expected = apply_transform(moving, MATRIX, shape=SHAPE)
    np.testing.assert_array_equal(read_image(tmp_path / "r.png"), expected)
    assert read_image(tmp_path / "c.png").shape == (*SHAPE, 3)
    np.testing.assert_allclose(load_transform(tmp_path / "t.tfm").matrix, MATRIX)
    assert json.loads((tmp_path / "t.tfm.json").read_text())["matrix"] == MATRIX.tolist()


@pytest.mark.parametrize("name", ["t.json", "t.tfm"])
def test_what_is_not_trusted_moves_nothing(run, register, images, tmp_path, name):  # R07, R12
    register["answer"] = Found(MATRIX, trusted=False, because="only 11 % overlap")
    code, lines, errors = run(
        "register", images / "fixed.png", images / "moving.tif", "-o", tmp_path / name,
        "--resampled", tmp_path / "r.tif", "--checkerboard", tmp_path / "c.png",
    )  # fmt: skip
    assert code == 3
    assert errors == ["napari-cosparse: not trusted: only 11 % overlap"]
    [written] = tmp_path.iterdir()
    assert written.suffix == ".json"
    assert json.loads(written.read_text())["trusted"] is False
    assert not any(line.startswith("trusted") for line in lines)
    code, _, errors = run("apply", written, images / "moving.tif", "-o", tmp_path / "x.tif")
    assert code == 3
    assert "only 11 % overlap" in errors[0]
    assert not (tmp_path / "x.tif").exists()
    code, _, _ = run("apply", written, images / "moving.tif", "-o", tmp_path / "x.tif", "--force")
    assert code == 0
    assert json.loads((tmp_path / "x.tif.json").read_text())["parameters"]["forced"]


def test_transform_of_an_earlier_run_is_not_applied_after_one_that_failed(
    run, register, images, tmp_path
):
    pair, out = (images / "fixed.png", images / "moving.tif"), tmp_path / "t.tfm"
    assert run("register", *pair, "-o", out)[0] == 0
    register["answer"] = Found(MATRIX, trusted=False, because="only 11 % overlap")
    assert run("register", *pair, "-o", out)[0] == 3
    like = ("--like", images / "fixed.png")
    code, _, errors = run("apply", out, pair[1], "-o", tmp_path / "x.tif", *like)
    assert (code, "only 11 % overlap" in errors[0]) == (3, True)
    assert not (tmp_path / "x.tif").exists()


def test_pixel_sizes_come_from_the_record_beside_the_transform(run, register, images, tmp_path):
    sizes = {"pixel_size_fixed": (0.5, 0.5), "pixel_size_moving": (0.25, 0.5)}
    register["answer"] = Found(MATRIX, **sizes)
    out = tmp_path / "t.tfm"
    assert run("register", images / "fixed.png", images / "moving.tif", "-o", out)[0] == 0
    like = ("--like", images / "fixed.png")
    assert run("apply", out, images / "moving.tif", "-o", tmp_path / "x.tif", *like)[0] == 0
    moving = read_image(images / "moving.tif")
    expected = apply_transform(moving, MATRIX, shape=SHAPE)
    np.testing.assert_allclose(read_image(tmp_path / "x.tif"), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("-o {t}/t.mat", "ending"),
        ("-o {t}/nowhere/t.json", "does not exist"),
        ("-o {f}/fixed.png", "ending"),
        ("-o {t}/t.json --resampled {f}/fixed.png", "is an input"),
        ("-o {t}/t.json --resampled {t}/r.png", "float32"),
        ("-o {t}/t.json --checkerboard {t}/c.pgm", "colour"),
        ("-o {t}/t.json --resampled {t}/x.tif --checkerboard {t}/x.tif", "same name"),
        ("-o {t}/x.tif.json --resampled {t}/x.tif", "same name"),
        ("-o {t}/t.json --initial {f}/no.json", "no such file"),
        ("-o {t}/t.json --initial {f}/fixed.png", "ending"),
        ("-o {t}/t.json --points {f}/no.csv", "No such file"),
        ("-o {t}/t.json --points {f}/fixed.png", "not text"),
        ("-o {t}/t.json --points {f}/points.csv --initial {f}/t.json", "leave one out"),
        ("-o {t}/t.json --mask-fixed {f}/no.png", "no such file"),
        ("-o {t}/t.json --operators nowhere.npz", "nowhere.npz"),
        ("-o {t}/t.json --group SL", "--group"),
        ("-o {t}/t.json --region 1 2 3", "--region"),
    ],
)
def test_wrong_input_is_one_line_and_writes_nothing(run, register, images, tmp_path, words, says):
    words = words.format(t=tmp_path, f=images).split()
    code, lines, errors = run("register", images / "fixed.png", images / "moving.tif", *words)
    assert (code, lines, len(errors)) == (2, [], 1)
    assert says in errors[0]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no points"),
        ("row column\n", "no points"),
        ("1 2 3\n4 5 6\n", "3 numbers a line"),
        ("1,2,3,4\n5,6,seven,8\n", "no table"),
        ("1,2,3,nan\n", "finite"),
    ],
)
def test_bad_points_are_refused(run, register, images, tmp_path, text, says):
    (tmp_path / "p.csv").write_text(text)
    code, _, errors = run("register", images / "fixed.png", images / "moving.tif", "-o",
                          tmp_path / "t.json", "--points", tmp_path / "p.csv")  # fmt: skip
    assert code == 2
    assert says in errors[0]


def test_refusal_by_the_search_writes_nothing(run, register, images, tmp_path, monkeypatch):
    def refuse(*_args, **_keywords):
        raise InputError("mask_fixed has 9 pixels; at least 25 are needed")

    monkeypatch.setattr(api, "register", refuse, raising=False)
    code, _, errors = run("register", images / "fixed.png", images / "moving.tif", "-o",
                          tmp_path / "t.json")  # fmt: skip
    assert (code, len(errors)) == (2, 1)
    assert not list(tmp_path.iterdir())


def test_ctrl_c_writes_nothing(run, register, images, tmp_path, monkeypatch):
    def stop(*_args, **_keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "register", stop, raising=False)
    code, _, errors = run("register", images / "fixed.png", images / "moving.tif", "-o",
                          tmp_path / "t.json")  # fmt: skip
    assert code == 130
    assert errors == ["napari-cosparse: stopped; nothing was written"]
    assert not list(tmp_path.iterdir())


# --- apply


@pytest.fixture
def transform(tmp_path):
    return save_transform(tmp_path / "t.json", MATRIX, fixed_shape=SHAPE, moving_shape=(44, 52))


def test_apply_resamples_onto_the_fixed_grid(run, images, tmp_path, transform):
    out = tmp_path / "x.tif"
    code, lines, errors = run("apply", transform, images / "moving.tif", "-o", out)
    assert (code, errors) == (0, [])
    moving = read_image(images / "moving.tif")
    np.testing.assert_array_equal(read_image(out), apply_transform(moving, MATRIX, shape=SHAPE))
    record = json.loads((tmp_path / "x.tif.json").read_text())
    assert record["output"]["origin"] == [0, 0]
    assert record["parameters"]["matrix"] == MATRIX.tolist()
    assert lines[-1] == f"wrote {out} and {out}.json"


def test_apply_keeps_labels(run, images, tmp_path, transform):  # M09
    out = tmp_path / "x.png"
    code, _, _ = run("apply", transform, images / "labels.png", "-o", out, "--labels")
    assert code == 0
    assert set(np.unique(read_image(out))) <= {0, 5, 200}


def test_apply_keeps_the_whole_moving_image(run, images, tmp_path, transform):
    out = tmp_path / "x.tif"
    run("apply", transform, images / "moving.tif", "-o", out, "--extent", "moving", "--order",
        "cubic")  # fmt: skip
    found = read_image(out)
    np.testing.assert_allclose(found, read_image(images / "moving.tif"), atol=1e-5)
    assert json.loads((tmp_path / "x.tif.json").read_text())["output"]["origin"] == [-3, 2]


def test_apply_takes_the_grid_from_an_image(run, images, tmp_path):
    bare = save_transform(tmp_path / "t.txt", MATRIX)
    out = tmp_path / "x.tif"
    code, _, errors = run("apply", bare, images / "moving.tif", "-o", out)
    assert code == 2
    assert "--like" in errors[0]
    code, _, _ = run("apply", bare, images / "moving.tif", "-o", out, "--like",
                     images / "fixed.png", "--fill", "-1")  # fmt: skip
    assert code == 0
    found = read_image(out)
    assert found.shape == SHAPE
    assert (found == -1).any()


def test_apply_knows_pixel_sizes(run, images, tmp_path):
    sizes = {"pixel_size_fixed": (0.5, 0.5), "pixel_size_moving": (2.0, 1.0)}
    stored = save_transform(tmp_path / "t.tfm", MATRIX, **sizes)
    words = ["-o", tmp_path / "x.tif", "--like", images / "fixed.png", "--pixel-size-fixed", "0.5",
             "0.5", "--pixel-size-moving", "2", "1"]  # fmt: skip
    assert run("apply", stored, images / "moving.tif", *words)[0] == 0
    moving = read_image(images / "moving.tif")
    expected = apply_transform(moving, MATRIX, shape=SHAPE)
    np.testing.assert_allclose(read_image(tmp_path / "x.tif"), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("image", "words", "says"),
    [
        ("fixed.png", "-o {t}/x.png", "40 x 50 pixels, but the transform is for a moving image"),
        ("moving.tif", "-o {t}/x.png", "float32"),
        ("moving.tif", "-o {t}/t.json", "is an input"),
        ("moving.tif", "-o {t}/x.tif --like {f}/labels.png", "for a fixed image of 40 x 50"),
        ("labels.png", "-o {t}/x.png --labels --order cubic", "would mix them"),
        ("labels.png", "-o {t}/x.png --fill 300", "fill 300"),
        ("labels.png", "-o {t}/x.png --pixel-size-fixed 1 1", "is in pixels"),
        ("no.png", "-o {t}/x.png", "no such file"),
    ],
)
def test_apply_refuses_wrong_input(run, images, tmp_path, transform, image, words, says):
    words = words.format(t=tmp_path, f=images).split()
    code, lines, errors = run("apply", transform, images / image, *words)
    assert (code, lines, len(errors)) == (2, [], 1)
    assert says in errors[0]
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def test_apply_refuses_an_extent_without_end(run, images, tmp_path):
    tiny = save_transform(tmp_path / "t.json", np.diag([1e-5, 1e-5, 1]))
    code, _, errors = run("apply", tiny, images / "moving.tif", "-o", tmp_path / "x.tif",
                          "--extent", "moving")  # fmt: skip
    assert code == 2
    assert "too much" in errors[0]


def test_apply_refuses_colour_labels(run, images, tmp_path):
    bare = save_transform(tmp_path / "t.json", MATRIX)
    code, _, errors = run("apply", bare, images / "fixed.png", "-o", tmp_path / "x.png", "--labels",
                          "--like", images / "fixed.png")  # fmt: skip
    assert code == 2
    assert "labels have one" in errors[0]


# --- the picture


def test_checkerboard_shows_both_in_turn():
    first, second = np.zeros((64, 64)), np.full((64, 64, 3), 7.0)
    second[0, 0] = np.nan
    first[0, 0], second[5, 5] = 1, 8
    picture = checkerboard(first, second, 16)
    assert picture.dtype == np.uint8
    assert picture.shape == (64, 64, 3)
    assert picture[0, 0].tolist() == [255, 255, 255]  # of the first, stretched
    assert picture[40, 40].tolist() == picture[3, 30].tolist() == [0, 0, 0]


def test_checkerboard_knows_what_is_unknown():
    hole = np.full((40, 40), np.nan)
    hole[20:] = np.linspace(0, 1, 40)
    picture = checkerboard(hole, hole[:, ::-1])
    assert not picture[:20].any()
    assert picture[20:].max() == 255


def test_what_is_not_known_is_null_in_the_record(run, register, images, tmp_path):
    register["answer"] = replace(Found(MATRIX), residual=np.full((8, 8), np.nan, np.float32))
    run("register", images / "fixed.png", images / "moving.tif", "-o", tmp_path / "t.json")
    residual = json.loads((tmp_path / "t.json").read_text())["details"]["residual"]
    assert residual == [[None] * 8] * 8


# --- all of it, without a stand-in


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A scene's guide, the negative of its green channel, moved, and noise."""
    folder = tmp_path_factory.mktemp("pair")
    scene = make_scene(WIDE, 3)
    truth = np.array([[0.995, -0.1, 6.0], [0.1, 0.995, -9.0], [0, 0, 1]])
    truth[:2, :2] /= np.sqrt(np.linalg.det(truth[:2, :2]))
    negative = 1 - scene.guide[..., 1].astype(np.float32) / 255
    moving = apply_transform(negative, np.linalg.inv(truth), order="cubic")
    write_image(folder / "fixed.png", scene.guide)
    write_image(folder / "moving.tif", moving)
    noise = np.random.default_rng(0).random(WIDE).astype(np.float32)
    write_image(folder / "noise.tif", noise)
    return folder, truth


def test_a_moved_scene_is_found(run, pair, tmp_path):
    folder, truth = pair
    code, lines, errors = run("register", folder / "fixed.png", folder / "moving.tif", "-o",
                              tmp_path / "t.json", "--resampled", tmp_path / "r.tif",
                              "--threads", "1", "--measure", "mutual")  # fmt: skip
    assert (code, errors) == (0, [])
    assert any(line.startswith("trusted") for line in lines)
    found = load_transform(tmp_path / "t.json")
    assert corner_error(truth, found.matrix, WIDE) < 1
    assert found.fixed_shape == WIDE
    assert read_image(tmp_path / "r.tif").shape == WIDE


def test_noise_is_not_trusted(run, pair, tmp_path):  # R07
    folder, _ = pair
    code, _, errors = run("register", folder / "fixed.png", folder / "noise.tif", "-o",
                          tmp_path / "t.json", "--resampled", tmp_path / "r.tif",
                          "--measure", "mutual")  # fmt: skip
    assert (code, len(errors)) == (3, 1)
    assert errors[0].startswith("napari-cosparse: not trusted: ")
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]
