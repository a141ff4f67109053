"""What a run into a store must never destroy."""

from __future__ import annotations

import numpy as np
import pytest
import zarr

from napari_cosparse import degrade, make_scene, upsample_to_store
from napari_cosparse.core.errors import InputError

SCENE = make_scene((48, 64), 0)
TARGET = degrade(SCENE.depth, 4)


@pytest.fixture
def inputs(tmp_path):
    """Target and guide as Zarr arrays in a folder."""
    found = []
    for name, image in (("t.zarr", TARGET), ("g.zarr", SCENE.guide)):
        array = zarr.create_array(tmp_path / name, shape=image.shape, dtype=image.dtype)
        array[:] = image
        found.append(array)
    return found


def go(inputs, out, **options):
    return upsample_to_store(*inputs, out, "differences", **options)


@pytest.mark.parametrize("name", ["t.zarr", "g.zarr", "g.zarr/inner.zarr"])
def test_inputs_are_never_replaced(inputs, tmp_path, name):
    with pytest.raises(InputError, match="lies on the input"):
        go(inputs, tmp_path / name, overwrite=True)
    np.testing.assert_array_equal(inputs[0][:], TARGET)
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize("name", ["out.zarr", "out.zarr.partial"])
def test_folders_of_others_are_never_deleted(inputs, tmp_path, name):
    (tmp_path / name).mkdir()
    precious = tmp_path / name / "thesis.txt"
    precious.write_text("years of work")
    with pytest.raises(InputError, match=r"is no Zarr store|holds thesis\.txt"):
        go(inputs, tmp_path / "out.zarr", overwrite=True)
    assert precious.read_text() == "years of work"


def test_a_store_is_overwritten_when_asked(inputs, tmp_path):
    first = go(inputs, tmp_path / "out.zarr")
    assert go(inputs, tmp_path / "out.zarr", overwrite=True).shape == first.shape


def test_a_colour_target_is_not_taken_for_a_stack(tmp_path):
    target = np.stack([TARGET] * 3, -1)
    with pytest.raises(InputError, match=r"colour=\(True, None\)"):
        upsample_to_store(target, SCENE.guide, tmp_path / "out.zarr", "differences")
    assert not list(tmp_path.iterdir())
    found = upsample_to_store(
        target, SCENE.guide, tmp_path / "out.zarr", "differences", colour=(True, None)
    )
    assert found.shape == (48, 64, 3)
