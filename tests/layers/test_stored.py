"""Results in stores as layers: what is read to show them, and what the store says of its place."""

from types import SimpleNamespace

import numpy as np
import pytest
from napari.layers import Image, Layer

from napari_cosparse.layers import METADATA_KEY, destination, store_place, stored_data

TOLD = SimpleNamespace(
    path="out.ome.zarr",
    parameters={"seed": 0},
    blocks=2,
    misfit=0.1,
    disagreement=(0.0, 0.2),
    blank=((1,),),
)


class Unread:
    """A finest level that must not be read."""

    def __init__(self, shape):
        self.shape, self.ndim, self.dtype = shape, len(shape), np.dtype(np.float32)

    def __getitem__(self, part):
        raise AssertionError(part)

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("all of it was read")


def where_of(rgb=False, **place):
    colour = (4, 5, 3) if rgb else (4, 5)
    target = Image(np.zeros(colour, np.float32), name="low", rgb=rgb, contrast_limits=(0, 2))
    return destination(target, Image(np.zeros((8, 10)), name="fine", **place), operators="mine")


@pytest.mark.parametrize("rgb", [False, True])
def test_only_the_coarsest_level_is_read(rgb):
    coarse = np.linspace(3, 7, 20, dtype=np.float32).reshape(4, 5)
    data, state, kind = stored_data([Unread((8, 10)), coarse], TOLD, where_of(rgb, units="um"))
    assert (len(data), kind, state["multiscale"]) == (2, "image", True)
    assert tuple(state["contrast_limits"]) == ((3, 7) if rgb else (0, 2))
    record = state["metadata"][METADATA_KEY]
    assert (record["store"], record["inputs"]["operators"]) == ("out.ome.zarr", "mine")
    assert record["parameters"] == {"seed": 0}
    assert record["blank"] == [[1]]
    assert Layer.create(coarse, {**state, "multiscale": False}, kind).units[0] == "micrometer"


def test_place_is_told_as_ome_zarr_knows_it():
    place = {"scale": (0.5, 0.25), "translate": (3, -4), "units": ("mm", "um")}
    assert store_place(where_of(**place)) == {
        "pixel_size": (0.5, 0.25),
        "units": ("millimeter", "micrometer"),
        "position": (3.0, -4.0),
    }
    assert store_place(where_of())["units"] == (None, None)


@pytest.mark.parametrize("place", [{"rotate": 5}, {"scale": (1, -1)}, {"rotate": 180}])
def test_of_places_that_ome_zarr_does_not_know_the_pixel_size_is_kept(place):
    where = where_of(units="um", **{"scale": (0.5, 0.25), **place})
    size = np.abs(place.get("scale", (0.5, 0.25)))
    told = store_place(where)
    assert told["pixel_size"] == pytest.approx(tuple(size))
    assert told["units"] == ("micrometer", "micrometer")
    assert "position" not in told


def test_of_axes_that_are_mixed_and_have_different_units_nothing_is_told():
    assert store_place(where_of(rotate=5, units=("mm", "um"))) == {}
