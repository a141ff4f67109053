"""Wrong arguments of runs into a store are refused before anything is written."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import zarr

from napari_cosparse import (
    degrade,
    learn_operators,
    make_scene,
    register,
    upsample,
    upsample_steps,
    upsample_to_store,
    upsample_to_store_steps,
)
from napari_cosparse.core.errors import InputError, OccupiedError

SCENE = make_scene((48, 64), 0)
TARGET = degrade(SCENE.depth, 4)
TURN = np.array([[0.2, 0.1, 0], [-0.1, 0.2, 6], [0, 0, 1]])


RULE = ".*must be a registration or a matrix of 3 x 3 real numbers.*load_transform"
NO_TRANSFORMS = [
    (TURN + 1j, r"transform of shape \(3, 3\) and type complex128" + RULE),
    ((TURN + 1j).tolist(), r"transform \[\[\(0\.2\+1j\)" + RULE),
    (TURN[:2], r"transform of shape \(2, 3\) and type float64" + RULE),
    ([1, 0, 0], r"transform \[1, 0, 0\]" + RULE),
    ([[1, 0, 0], [0, 1]], r"transform \[\[1, 0, 0\], \[0, 1\]\]" + RULE),
    ("move.json", "transform 'move.json'" + RULE),
    (np.array([["a"] * 3] * 3, object), r"transform of shape \(3, 3\) and type object" + RULE),
]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"level": 9}, r"level 9 must be two values, for target and guide, such as \(0, 0\)"),
        ({"level": (0, 9)}, "guide has no level 9; choose one of 0 to 0"),
        ({"level": (1, 0)}, "target has no level 1"),
        ({"level": (0, 0.5)}, "guide has no level 0.5"),
        ({"level": (-1, 0)}, "target has no level -1"),
        ({"block": 2.5}, r"block 2\.5 must be a whole number of at least 1 \(pixels"),
        ({"block": 0}, "block 0 must be"),
        ({"block": "64"}, "block '64' must be"),
        ({"threads": 0}, r"threads 0 must be a whole number of at least 1.*leave it out"),
        ({"threads": 1.5}, r"threads 1\.5 must be"),
        ({"threads": True}, "threads True must be"),
        ({"memory": 0}, "memory 0 must be a positive number of bytes"),
        ({"memory": ""}, "memory '' must be a positive number of bytes"),
        ({"memory": "GB"}, "memory 'GB' must be a positive number of bytes"),
        ({"memory": float("inf")}, "memory inf must be a positive number of bytes"),
        ({"memory": 1000}, r"memory of 1 kB is too little for a block; give at least \d+ MB"),
        ({"memory": 12}, "memory of 12 bytes is too little"),
        (
            {"memory": "1MB", "scheduler": "processes", "threads": 2},
            r"memory of 1 MB is too little for blocks in 2 processes at once; give at least \d+ MB",
        ),
        ({"scheduler": "thread"}, "scheduler 'thread' is unknown; choose 'threads', 'processes'"),
        ({"scheduler": 3}, "scheduler 3 is unknown"),
        ({"colour": True}, "colour True must be two values"),
        ({"colour": ("yes", None)}, "colour 'yes' of the target"),
        ({"pixel_size": (0, 1)}, r"pixel_size \(0, 1\) must be positive numbers"),
        ({"pixel_size": "ab"}, "pixel_size 'ab' must be positive numbers"),
        ({"pixel_size": (1, 1, 1)}, "must be those of the target's 2 axes"),
        ({"units": "mm"}, "units 'mm' must be a name or None for each axis"),
        ({"units": ("meter", 3)}, r"units \('meter', 3\) must be a name"),
        ({"position": "ab"}, "position 'ab' must be a number for each axis"),
        ({"position": (1, 2, 3)}, "must be those of the target's 2 axes"),
        ({"cancelled": 3}, "cancelled 3 must be a function"),
        ({"axes": "zyx"}, "must be those of the target's 2 axes"),
        (
            {"weights": [[1, 2]]},
            r"weights have shape \(1, 2\); it must be the target's, \(12, 16\)",
        ),
        ({"transform": TURN, "phase": "corner"}, "phase 'corner' beside a transform"),
        ({"transform": TURN, "origin": (0, 0)}, r"origin \(0\.0, 0\.0\) beside a transform"),
        ({"transform": np.diag([1e-6, 1e-6, 1])}, r"would be 1e\+06 x 1e\+06 guide pixels, more"),
        ({"transform": TURN * [[1e-6], [1e-6], [1]]}, r"more than the whole guide \(48 x 64\)"),
        ({"transform": np.diag([1e6, 1e6, 1])}, "finer than the guide.*the other way round"),
        ({"factor": 1e6, "origin": (0, 0)}, "more than the whole guide"),
        *[({"transform": value}, message) for value, message in NO_TRANSFORMS],
    ],
)
def test_wrong_values(tmp_path, given, message):
    options = {"operators": "differences", "threads": 1} | given
    with pytest.raises(InputError, match=message):
        upsample_to_store(TARGET, SCENE.guide, tmp_path / "o.zarr", **options)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(("value", "message"), NO_TRANSFORMS)
def test_transforms_in_memory(value, message):
    for call in (upsample, upsample_steps):
        with pytest.raises(InputError, match=message):
            call(TARGET, SCENE.guide, "differences", transform=value)


def test_a_transform_of_objects_that_are_numbers(tmp_path):
    found = upsample(TARGET, SCENE.guide, "differences", transform=TURN.astype(object))
    expected = upsample(TARGET, SCENE.guide, "differences", transform=TURN)
    assert np.array_equal(found.image, expected.image, equal_nan=True)


@pytest.mark.parametrize("place", [None, 3, b"o.zarr", ["o.zarr"]])
def test_what_is_no_path_is_refused(place):
    with pytest.raises(InputError, match=r"output .* must be a path that ends in \.zarr"):
        upsample_to_store(TARGET, SCENE.guide, place, "differences")


IMAGES = [
    (None, "None has type object; it must hold real numbers"),
    (TARGET + 1j, r"has type complex\d+; it must hold real numbers: give its real part"),
    (np.full(TARGET.shape, "a", object), r"has type object.*\.astype\(float\)"),
    ([[1, 2], [3]], "has rows of different lengths; make it an array"),
    (5, r"has shape \(\); it must have at least rows and columns"),
    (TARGET[0], r"has shape \(16,\); it must have at least rows"),
    (TARGET[:0], r"has shape \(0, 16\); it must have at least rows"),
]


@pytest.mark.parametrize(("image", "message"), IMAGES)
def test_what_is_no_image_is_refused(tmp_path, image, message):
    for name, pair in (("target", (image, SCENE.guide)), ("guide", (TARGET, image))):
        with pytest.raises(InputError, match=f"{name} {message}"):
            upsample_to_store(*pair, tmp_path / "o.zarr", "differences")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out", "out.tif", "out.zarr.old", ".zip"])
def test_names_that_are_no_store_are_refused(tmp_path, name):
    with pytest.raises(InputError, match=rf"{name}' must end in \.zarr.*call it {name}\.zarr"):
        upsample_to_store(TARGET, SCENE.guide, tmp_path / name, "differences")
    assert not any(tmp_path.iterdir())


def test_paths_and_groups_are_no_arrays(tmp_path):
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    for image in ("t.zarr", tmp_path / "t.zarr", group):
        with pytest.raises(InputError, match=r"target '.*' is no array; open it first"):
            upsample_to_store(image, SCENE.guide, tmp_path / "o.zarr", "differences")


def test_capital_endings_count(tmp_path):
    stored = upsample_to_store(TARGET, SCENE.guide, tmp_path / "A.OME.ZARR", "differences")
    assert (stored.path / "0").is_dir()


@pytest.mark.parametrize("call", [upsample_to_store, upsample_to_store_steps])
def test_unknown_keywords_of_a_store(tmp_path, call):
    name = call.__name__
    with pytest.raises(
        TypeError, match=rf"{name}\(\) got an unexpected.*'blok'; did you mean block"
    ):
        call(TARGET, SCENE.guide, tmp_path / "o.zarr", "differences", blok=64)
    assert not any(tmp_path.iterdir())


def test_unknown_keywords_elsewhere():
    for call in (upsample, upsample_steps):
        with pytest.raises(TypeError, match=rf"{call.__name__}\(\).*'nois'; did you mean noise"):
            call(TARGET, SCENE.guide, nois=0)
    with pytest.raises(TypeError, match=r"register\(\).*'grup'; did you mean group"):
        register(SCENE.guide, SCENE.depth, grup="SE")
    with pytest.raises(TypeError, match=r"learn_operators\(\).*'zzz'; it has atoms, "):
        learn_operators([(SCENE.guide, SCENE.depth)], zzz=1)


@pytest.mark.parametrize("threads", [0, -1, 1.5])
def test_threads_elsewhere(threads):
    calls = (
        lambda: upsample(TARGET, SCENE.guide, threads=threads),
        lambda: register(SCENE.guide, SCENE.depth, threads=threads),
        lambda: learn_operators([(SCENE.guide, SCENE.depth)], threads=threads),
    )
    for call in calls:
        with pytest.raises(InputError, match=f"threads {threads} must be"):
            call()


def test_options_are_spelled_as_the_caller_knows_them():
    error = OccupiedError("it is there", {"resume": "goes on", "overwrite": "replaces it"}, "leave")
    assert str(error) == "it is there; resume=True goes on, overwrite=True replaces it, or leave"
    assert error.spelled("--{}".format) == (
        "it is there; --resume goes on, --overwrite replaces it, or leave"
    )


def test_whole_planes_are_not_counted(tmp_path):
    run = upsample_to_store_steps(TARGET, SCENE.guide, tmp_path / "o.zarr", "differences")
    assert "of memory, each plane as a whole" in next(run).stage
    run.close()
    run = upsample_to_store_steps(TARGET, SCENE.guide, tmp_path / "o.zarr", "differences", block=32)
    assert "MB of memory, 4 blocks a plane" in next(run).stage
    run.close()


def test_an_array_that_does_not_know_its_shape_is_refused(tmp_path):
    lazy = da.from_array(TARGET, chunks=4)
    unsure = lazy[lazy[:, 0] > 0]
    for pair in ((unsure, SCENE.guide), (TARGET, unsure), ([unsure, lazy], SCENE.guide)):
        with pytest.raises(InputError, match=r"(target|guide) has the shape .*compute_chunk_sizes"):
            upsample_to_store(*pair, tmp_path / "o.zarr")
    assert not any(tmp_path.iterdir())
