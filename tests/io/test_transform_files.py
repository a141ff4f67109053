"""Transforms in files: they come back, and other programs understand them."""

from __future__ import annotations

import json
import locale
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import apply_to_points, apply_transform
from napari_cosparse.io import Transform, load_transform, save_transform

ENDINGS = [".json", ".txt", ".csv", ".tfm"]
SIZES = {"pixel_size_fixed": (0.5, 0.25), "pixel_size_moving": (2.0, 1.5)}
numbers = st.floats(-1e6, 1e6)
entries = st.floats(-3, 3)


def turned(angle, shift=(0.0, 0.0), scale=1.0):
    c, s = scale * np.cos(np.radians(angle)), scale * np.sin(np.radians(angle))
    return np.array([[c, -s, shift[0]], [s, c, shift[1]], [0, 0, 1]])


SKEW = np.array([[0.9, -0.2, 5.25], [0.35, 1.1, -3.337], [0, 0, 1]])


class Reason(Enum):
    SMALL = "change small"


@dataclass(frozen=True)
class Found:
    """What a registration looks like."""

    matrix: np.ndarray
    trusted: bool = True
    because: str = "both ways agree"
    fixed_shape: tuple = (30, 40)
    moving_shape: tuple = (35, 45)
    pixel_size_fixed: tuple = (1.0, 1.0)
    pixel_size_moving: tuple = (1.0, 1.0)
    group: str = "SE"
    stop: Reason = Reason.SMALL
    margin: float = float("nan")
    residual: np.ndarray | None = None


@given(st.lists(entries, min_size=4, max_size=4), numbers, numbers, st.sampled_from(ENDINGS))
@settings(
    deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_round_trip(tmp_path, linear, down, right, ending):
    matrix = np.eye(3)
    matrix[:2, :2] = np.reshape(linear, (2, 2))
    matrix[:2, 2] = down, right
    if abs(np.linalg.det(matrix[:2, :2])) < 1e-2:
        matrix[:2, :2] = np.eye(2)
    path = save_transform(tmp_path / f"t{ending}", matrix, **SIZES)
    found = load_transform(path, **SIZES)
    if ending == ".json":
        np.testing.assert_array_equal(found.matrix, matrix)
    else:
        np.testing.assert_allclose(found.matrix, matrix, rtol=1e-9, atol=1e-6)
    assert found.pixel_size_fixed == SIZES["pixel_size_fixed"]
    assert found.pixel_size_moving == SIZES["pixel_size_moving"]


def test_json_says_what_it_means(tmp_path):
    path = save_transform(tmp_path / "t.json", Found(SKEW, residual=np.zeros((99, 99))))
    record = json.loads(path.read_text())
    assert "\n    [0.9, -0.2, 5.25],\n" in path.read_text()  # a row a line
    assert record["matrix"] == SKEW.tolist()
    assert record["direction"] == "fixed pixel (row, column, 1) -> moving pixel (row, column, 1)"
    assert record["axis_order"] == ["row", "column"]
    assert record["units"] == "pixel"
    assert (record["fixed_shape"], record["moving_shape"]) == ([30, 40], [35, 45])
    assert record["trusted"] is True
    assert record["because"] == "both ways agree"
    assert record["details"] == {"group": "SE", "stop": "SMALL", "margin": None}
    assert {"napari-cosparse", "numpy", "scipy", "python"} <= set(record["versions"])


def test_json_keeps_everything_twice(tmp_path):
    first = save_transform(tmp_path / "a.json", Found(SKEW))
    again = save_transform(tmp_path / "b.json", load_transform(first))
    assert first.read_bytes() == again.read_bytes()


def test_words_with_brackets_stay_as_they_are(tmp_path):
    words = "[\n1, 2\n] and [ 3 ]"
    path = save_transform(tmp_path / "t.json", Found(SKEW, because=words))
    assert load_transform(path).because == words


def test_bare_matrix_is_enough(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"matrix": SKEW.tolist()}))
    found = load_transform(path)
    np.testing.assert_array_equal(found.matrix, SKEW)
    assert found.trusted
    assert found.fixed_shape is None


def test_transform_takes_the_place_of_a_registration(tmp_path):
    path = save_transform(tmp_path / "t.json", Found(SKEW))
    image = np.random.default_rng(0).random((35, 45))
    found = load_transform(path)
    expected = apply_transform(image, SKEW, shape=(30, 40))
    np.testing.assert_array_equal(apply_transform(image, found), expected)


def test_what_is_not_trusted_stays_so(tmp_path):
    doubtful = Found(SKEW, trusted=False, because="only 11 % overlap")
    path = save_transform(tmp_path / "t.json", doubtful)
    found = load_transform(path)
    assert (found.trusted, found.because) == (False, "only 11 % overlap")
    with pytest.raises(InputError, match="only 11 % overlap"):
        apply_transform(np.zeros((35, 45)), found)
    for ending in (".txt", ".tfm"):
        with pytest.raises(InputError, match=r"only \.json can say"):
            save_transform(tmp_path / f"t{ending}", doubtful)
        assert not (tmp_path / f"t{ending}").exists()


# --- other programs


def test_text_is_the_affine_of_the_moving_layer(tmp_path):
    """As affinder does it: ``layer.affine = numpy.loadtxt(path, delimiter=",")``."""
    napari_layers = pytest.importorskip("napari.layers")
    path = save_transform(tmp_path / "t.txt", SKEW, **SIZES)
    moving = napari_layers.Image(np.zeros((20, 20)), scale=SIZES["pixel_size_moving"])
    fixed = napari_layers.Image(np.zeros((20, 20)), scale=SIZES["pixel_size_fixed"])
    moving.affine = np.loadtxt(path, delimiter=",")
    for point in ([0, 0], [3, 11], [17, 5]):
        here = moving.data_to_world((SKEW @ [*point, 1])[:2])
        np.testing.assert_allclose(here, fixed.data_to_world(point), atol=1e-9)


@pytest.mark.parametrize("sizes", [{}, SIZES])
@pytest.mark.parametrize("matrix", [SKEW, turned(25, (4, -7), 0.8)], ids=["skew", "similarity"])
def test_simpleitk_resamples_to_the_same_picture(tmp_path, sizes, matrix):  # G02, G04, G10
    itk = pytest.importorskip("SimpleITK")
    image = np.random.default_rng(1).random((35, 45))
    path = save_transform(tmp_path / "t.tfm", matrix, **sizes)
    fixed, moving = (itk.GetImageFromArray(a) for a in (np.zeros((30, 40)), image))
    if sizes:
        fixed.SetSpacing(sizes["pixel_size_fixed"][::-1])
        moving.SetSpacing(sizes["pixel_size_moving"][::-1])
    read = itk.ReadTransform(str(path))
    theirs = itk.GetArrayFromImage(itk.Resample(moving, fixed, read, itk.sitkLinear, -1.0))
    ours = apply_transform(image, matrix, shape=(30, 40), fill=-1)
    assert (ours != -1).mean() > 0.2
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def itk_transforms(itk):
    affine = itk.AffineTransform(2)
    affine.SetMatrix([0.9, 0.1, -0.2, 1.1])
    affine.SetTranslation([3, 4.5])
    affine.SetCenter([10, 20])
    return {
        "affine": affine,
        "Euler": itk.Euler2DTransform((10, 20), 0.3, (4, 5)),
        "similarity": itk.Similarity2DTransform(1.1, 0.2, (1, 2), (3, 4)),
        "translation": itk.TranslationTransform(2, (1.5, -2)),
        "identity": itk.Transform(2, itk.sitkIdentity),
    }


@pytest.mark.parametrize("kind", ["affine", "Euler", "similarity", "translation", "identity"])
def test_itk_transforms_are_read(tmp_path, kind):  # G09, G10
    itk = pytest.importorskip("SimpleITK")
    theirs = itk_transforms(itk)[kind]
    itk.WriteTransform(theirs, str(tmp_path / "t.tfm"))
    found = load_transform(tmp_path / "t.tfm", **SIZES)
    for row, column in ([0, 0], [7, 3], [20, 33]):
        x, y = theirs.TransformPoint((column * 0.25, row * 0.5))
        mapped = apply_to_points([[row, column]], found, direction="fixed to moving")
        np.testing.assert_allclose(mapped, [[y / 2.0, x / 1.5]], atol=1e-12)


@pytest.mark.parametrize("kind", ["composite", "scale", "three-dimensional"])
def test_other_itk_transforms_are_refused(tmp_path, kind):
    itk = pytest.importorskip("SimpleITK")
    transform, says = {
        "composite": (itk.CompositeTransform([itk.AffineTransform(2)] * 2), "single one is read"),
        "scale": (itk.ScaleTransform(2, (2, 3)), "holds a ScaleTransform_double_2_2"),
        "three-dimensional": (itk.AffineTransform(3), "AffineTransform_double_3_3"),
    }[kind]
    itk.WriteTransform(transform, str(tmp_path / "t.tfm"))
    with pytest.raises(InputError, match=says):
        load_transform(tmp_path / "t.tfm")


def test_another_locale_changes_nothing(tmp_path):
    before = locale.setlocale(locale.LC_ALL)
    for name in ("de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        break
    try:
        for ending in ENDINGS:
            path = save_transform(tmp_path / f"t{ending}", SKEW)
            np.testing.assert_allclose(load_transform(path).matrix, SKEW, atol=1e-12)
            assert "5,25" not in path.read_text()
    finally:
        locale.setlocale(locale.LC_ALL, before)


# --- what is refused


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("t.json", "", "is not JSON"),
        ("t.json", "[1, 2]", 'no key "matrix"'),
        ("t.json", "{}", 'no key "matrix"'),
        ("t.json", "[" * 100_000, "is not JSON"),
        ("t.json", '{"matrix": [[1, 0], [0, 1]]}', r"shape \(2, 2\)"),
        ("t.json", '{"matrix": "abc"}', "3x3 numbers"),
        ("t.json", '{"matrix": [[1, 0, 0], [0, 1], [0, 0, 1]]}', "3x3 numbers"),
        ("t.json", '{"matrix": [[1, 0, 0], [0, NaN, 0], [0, 0, 1]]}', "not finite"),
        ("t.json", '{"matrix": [[1, 0, 0], [0, 0, 0], [0, 0, 1]]}', "singular"),
        ("t.json", '{"matrix": [[1, 0, 0], [0, 1, 0], [1, 0, 1]]}', "last row"),
        ("t.json", '{"matrix": 1, "direction": "moving to fixed"}', "the direction"),
        ("t.json", '{"matrix": 1, "units": "um"}', "the units 'um'"),
        ("t.json", '{"matrix": 1, "axis_order": ["x", "y"]}', "the axis_order"),
        ("t.json", '{"matrix": 1, "format": "other"}', "the format 'other'"),
        ("t.json", '{"matrix": 1, "version": 99}', "Update napari-cosparse"),
        ("t.json", '{"matrix": [[1,0,0],[0,1,0],[0,0,1]], "trusted": "no"}', "trusted 'no'"),
        ("t.json", '{"matrix": [[1,0,0],[0,1,0],[0,0,1]], "fixed_shape": [1.5, 2]}', "fixed_shape"),
        ("t.json", '{"matrix": [[1,0,0],[0,1,0],[0,0,1]], "fixed_shape": 3}', "fixed_shape 3"),
        ("t.json", '{"matrix": [[1,0,0],[0,1,0],[0,0,1]], "pixel_size_fixed": [0, 1]}', "positive"),
        ("t.json", '{"matrix": [[1,0,0],[0,1,0],[0,0,1]], "details": 3}', "details"),
        ("t.txt", "", "is empty"),
        ("t.txt", "1,2,3\n4,5\n", "not a table"),
        ("t.txt", "a,b\n", "not a table"),
        ("t.csv", "1,0\n0,1\n", "2 x 2 numbers"),
        ("t.csv", "1,0,0\n0,0,0\n0,0,1\n", "no inverse"),
        ("t.tfm", "hello", "does not begin"),
        ("t.tfm", "", "does not begin"),
        ("t.tfm", "#Insight Transform File V1.0\n", "holds 0 transforms"),
        (
            "t.tfm",
            "#Insight Transform File V1.0\nTransform: AffineTransform_double_2_2\nParameters: a\n",
            "no numbers",
        ),
        (
            "t.tfm",
            "#Insight Transform File V1.0\nTransform: AffineTransform_double_2_2\nParameters: 1\n",
            "1 parameters instead of 6",
        ),
        (
            "t.tfm",
            (
                "#Insight Transform File V1.0\nTransform: Euler2DTransform_double_2_2\n"
                "Parameters: 0.3 1 2\nFixedParameters: 5 6 0\n"
            ),
            "3 fixed parameters; a transform of two dimensions has the two coordinates",
        ),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, name, text, says):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        load_transform(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 0 0\n0 x1 0\n0 0 1\n", r"\(line 2 has 'x1'\)"),
        ("# affine\n1,0,0\n0,1\n", r"\(line 3 has 2 numbers, those before 3\)"),
    ],
)
def test_text_that_is_no_table_is_told_by_its_line(tmp_path, text, says):
    path = tmp_path / "t.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        load_transform(path)
    assert "three lines of three numbers" in str(caught.value)
    assert "usecols" not in str(caught.value)


def test_binary_missing_and_unknown_files_are_refused(tmp_path):
    (tmp_path / "t.txt").write_bytes(b"\xff\xfe\x00\x81")
    for name, says in (("t.txt", "not text"), ("u.json", "no such file"), ("t.mat", "ending")):
        with pytest.raises(InputError, match=says):
            load_transform(tmp_path / name)
    with pytest.raises(InputError, match="None must be the path of a transform"):
        load_transform(None)


def test_itk_text_under_another_ending_is_read(tmp_path):
    path = save_transform(tmp_path / "t.tfm", SKEW)
    path.rename(tmp_path / "elastix.txt")
    np.testing.assert_allclose(load_transform(tmp_path / "elastix.txt").matrix, SKEW, atol=1e-12)


@pytest.mark.parametrize("name", ["t", "t.mat", "t.json.gz"])
def test_unknown_endings_are_refused_before_writing(tmp_path, name):
    with pytest.raises(InputError, match=r"\.json"):
        save_transform(tmp_path / name, SKEW)
    assert not list(tmp_path.iterdir())


def test_a_bad_matrix_leaves_the_old_file(tmp_path):
    path = save_transform(tmp_path / "t.json", SKEW)
    before = path.read_bytes()
    with pytest.raises(InputError, match="singular"):
        save_transform(path, np.diag([1.0, 0, 1]))
    with pytest.raises(InputError, match="does not exist"):
        save_transform(tmp_path / "nowhere" / "t.json", SKEW)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["t.json"]


def test_record_keeps_its_own_matrix():
    matrix = SKEW.copy()
    record = Transform(matrix)
    matrix[0, 0] = 7
    assert record.matrix[0, 0] == 0.9


def test_the_examples_of_the_documentation_run(tmp_path, monkeypatch):
    """The page says how other programs use the files; so they must get the same picture."""
    pytest.importorskip("SimpleITK")
    layers = pytest.importorskip("napari.layers")
    page = Path(__file__).parents[2] / "docs/transforms.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    moving = np.random.default_rng(0).random((35, 45))
    names = {
        "moving": moving,
        "fixed": np.zeros((30, 40)),
        "labels": (9 * moving).astype(int),
        "stack": np.stack([moving, moving]),
        "coarse_stack": np.stack([moving[:34, :44].reshape(17, 2, 22, 2).mean((1, 3))] * 2),
        "photo": np.random.default_rng(1).random((32, 40)),
        "thermal": moving[:8, :10],
        "found": [[0.25, 0.02, 0], [-0.02, 0.25, 0], [0, 0, 1]],
        "moving_layer": layers.Image(moving, scale=(2, 2)),
    }
    monkeypatch.chdir(tmp_path)
    save_transform("transform.json", Found(SKEW))
    for block in blocks:
        exec(block.replace("(40, 50)", "(30, 40)"), names)  # noqa: S102
    expected = apply_transform(moving, SKEW, shape=(30, 40))
    inside = np.isfinite(names["with_scipy"])
    assert inside.mean() > 0.3
    np.testing.assert_allclose(names["with_scipy"][inside], expected[inside], atol=1e-12)
    np.testing.assert_allclose(names["with_sitk"][inside], expected[inside], atol=1e-9)
    np.testing.assert_array_equal(names["stack_on_fixed"].compute()[1], expected)
    fixed_layer = layers.Image(names["fixed"], scale=(0.5, 0.5))
    here = names["moving_layer"].data_to_world((SKEW @ [3, 11, 1])[:2])
    np.testing.assert_allclose(here, fixed_layer.data_to_world([3, 11]), atol=1e-9)
