"""Settings that break a rule: each message names the culprit."""

from __future__ import annotations

import json

import numpy as np
import pytest

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import RegisterSettings
from support.moved_pair import motion, moved_pair, run

TWO = np.zeros((2, 2))
LINE = np.array([[0.0, 1], [2, 5], [3, 7]])


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"group": "se"}, "group 'se' must be one of SO, SE, similarity, SA, A"),
        ({"group": "similar"}, "group 'similar'.*did you mean 'similarity'"),
        ({"group": "rigid"}, "group 'rigid'"),
        ({"measure": "mutal"}, "measure 'mutal'.*did you mean 'mutual'"),
        ({"solver": "newton"}, "solver 'newton'.*did you mean 'gauss-newton'"),
        ({"max_rotation": -1}, "max_rotation -1 must be a number from 0 to 180 degrees"),
        ({"max_rotation": 200}, "max_rotation 200"),
        ({"max_rotation": float("nan")}, "max_rotation nan"),
        ({"max_rotation": "30"}, "max_rotation '30'"),
        ({"max_scale": 0.5}, "max_scale 0.5 must be a number from 1 to 4 times"),
        ({"max_scale": 9}, "max_scale 9"),
        ({"seed": -1}, "seed -1 must be a whole number"),
        ({"seed": 1.5}, "seed 1.5"),
        ({"max_rotation": True}, "max_rotation True must be a number"),
        ({"max_scale": 1.6}, "max_scale 1.6: the group SE has no scale.*take similarity or A"),
        ({"max_scale": 2, "group": "SA"}, "max_scale 2: the group SA has no scale"),
        ({"verdict": "no"}, "verdict 'no' must be True or False"),
        ({"search": "yes"}, "search 'yes' must be True, False or None"),
        ({"allow_reflection": 1}, "allow_reflection 1 must be True or False"),
        ({"invalid": (1, 2, 3)}, "invalid .* must be two numbers"),
        ({"invalid": 0}, r"invalid 0 must be two numbers.*such as invalid=\(0, None\)"),
        ({"invalid": "ab"}, "invalid 'ab' must be two numbers"),
        ({"invalid": "12"}, "invalid '12' must be two numbers"),
        ({"invalid": ([0], None)}, r"invalid \(\[0\], None\) must be two numbers"),
        ({"initial": np.eye(2)}, r"initial has shape \(2, 2\).*\(3, 3\)"),
        ({"initial": np.full((3, 3), np.nan)}, "initial has values that are not finite"),
        ({"initial": "identity"}, "initial is no matrix"),
        ({"initial": np.diag([1.0, 0, 1])}, "initial .*invertible"),
        ({"initial": np.array([[1, 0, 0], [0, 1, 0], [5, 5, 1.0]])}, "initial .*last row"),
        ({"initial": np.eye(3), "points": (TWO, TWO)}, "initial and points"),
        ({"points": 3}, "points must be two arrays"),
        ({"points": (TWO, np.zeros((3, 2)))}, r"points have shapes \(2, 2\) and \(3, 2\)"),
        ({"points": (TWO.ravel(), TWO.ravel())}, "points have shapes"),
        ({"points": (TWO[:1], TWO[:1])}, "1 pair of points; the group SE needs at least 2"),
        ({"points": (TWO, TWO[[0, 0]])}, "of the fixed image lie in one place; the group SE"),
        ({"points": (LINE, LINE), "group": "A"}, "fixed image lie on one line; the group A needs"),
        ({"points": (TWO, TWO), "group": "A"}, "2 pairs of points; the group A needs at least 3"),
        ({"points": (TWO, TWO * np.nan)}, "point number 1 of the moving image is not finite"),
        ({"points": (TWO * [[1], [np.nan]], TWO)}, "point number 2 of the fixed.*set it again"),
    ],
)
def test_message_names_the_culprit(keywords, says):
    with pytest.raises(InputError, match=says):
        RegisterSettings(**keywords)
    with pytest.raises(InputError, match=says):
        run(np.zeros((20, 20)), np.zeros((20, 20)), **keywords)


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"region": (0, 0, 100)}, r"region \(0, 0, 100\) must be four whole numbers"),
        ({"region": (0, 0, 50.5, 50)}, "region .* must be four whole numbers"),
        ({"region": (0, 0, 5, 5)}, "region .* has 5 x 5 pixels; registration needs at least 16"),
        ({"fixed": np.zeros(40)}, r"the fixed image has shape \(40,\); it must be"),
        ({"moving": [[1, 2], [3]]}, "the moving image cannot be made an array of numbers"),
        ({"moving": None}, r"the moving image has shape \(\); it must be"),
        ({"mask_fixed": np.full((112, 160), "a")}, "mask of the fixed image has type <U1"),
    ],
)
def test_images_masks_and_regions_of_a_wrong_kind_are_refused(keywords, says):
    fixed, moving = moved_pair()
    images = [keywords.get("fixed", fixed), keywords.get("moving", moving)]
    others = {name: value for name, value in keywords.items() if name not in ("fixed", "moving")}
    with pytest.raises(InputError, match=says):
        run(*images, **others)


def test_start_that_mirrors_is_refused():
    fixed, moving = moved_pair()
    with pytest.raises(InputError, match="initial has determinant -1; a start must not mirror"):
        run(fixed, moving, initial=np.diag([1.0, -1, 1]))


@pytest.mark.parametrize(
    ("keywords", "searched"),
    [
        ({}, True),
        ({"initial": np.eye(3)}, False),
        ({"points": (LINE, LINE)}, False),
        ({"initial": np.eye(3), "search": True}, True),
        ({"search": False}, False),
    ],
)
def test_start_is_searched_unless_one_is_given(keywords, searched):
    assert RegisterSettings(**keywords).searched is searched


def test_matrix_of_the_caller_is_copied():
    matrix = np.eye(3)
    kept = RegisterSettings(initial=matrix)
    matrix[0, 2] = 9
    assert kept.initial[0, 2] == 0


def test_parameters_are_kept_as_json():
    start = motion(2, (1, 1))
    found = run(*moved_pair(), initial=start, invalid=(None, np.float32(-1)), region=(0, 0, 90, 90))
    kept = json.loads(json.dumps(found.parameters))
    assert kept["initial"] == start.tolist()
    assert kept["invalid"] == [None, -1.0]
    assert kept["region"] == [0, 0, 90, 90]
    assert kept["solver"] == "gauss-newton"
    assert kept["masked"] == [False, False]
