"""Masks that cannot be used are seen before the run."""

import dask.array as da
import numpy as np
import pytest
from napari.layers import Image, Labels, Shapes

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import grid_of, mask_on, region_flaw

GRID = grid_of(Image(np.zeros((40, 60)), name="photo", scale=(2, 2), units="um"))
BOX = np.array([[4, 6], [4, 30], [24, 30], [24, 6]])
ON = {"scale": (2, 2), "units": "um"}


def painted(rows, columns, **place):
    labels = np.zeros((40, 60), int)
    labels[rows, columns] = 3
    return Labels(labels, name="roi", **{**ON, **place})


NONE = {
    "no shape": Shapes(ndim=2, name="roi", **ON),
    "a line": Shapes(BOX[:2], shape_type="line", name="roi", **ON),
    "beside": Shapes(BOX, shape_type="polygon", name="roi", translate=(900, 0), **ON),
    "no label": painted(slice(0), slice(0)),
    "labels beside": painted(slice(9), slice(9), translate=(0, -300)),
}


@pytest.mark.parametrize("case", NONE)
def test_nothing_on_the_image(case):
    with pytest.raises(InputError, match="nothing drawn on 'roi'"):
        mask_on(GRID, NONE[case])
    assert region_flaw(GRID, NONE[case]).startswith("Nothing drawn on 'roi' lies on 'photo'")


SMALL = {
    "shape": Shapes(BOX[:, ::-1] / 10, shape_type="rectangle", name="roi", **ON),
    "label": painted(slice(3), slice(3)),
    "labels far apart": painted([1, 30, 38], [2, 50, 59]),
    "most is beside": painted(slice(0, 40), slice(0, 20), translate=(-76, 0)),
}


@pytest.mark.parametrize("case", SMALL)
def test_too_small(case):
    assert np.count_nonzero(mask_on(GRID, SMALL[case])) < 256
    assert "at least 256 are needed" in region_flaw(GRID, SMALL[case], least=256)


@pytest.mark.parametrize(
    "layer",
    [
        Shapes(BOX, shape_type="polygon", **ON),
        Shapes(BOX, shape_type="ellipse", **ON),
        painted(slice(16), slice(16)),
        painted(slice(16), slice(16), rotate=20),
        Labels(da.zeros((40, 60), dtype=int)),  # not looked at
    ],
)
def test_nothing_wrong(layer):
    assert region_flaw(GRID, layer, least=256) == ""


def test_plane_of_a_stack():
    labels = np.zeros((2, 40, 60), int)
    labels[1, :20, :20] = 1
    layer = Labels(labels, name="roi", scale=(1, 2, 2), units=("um",) * 3)
    assert region_flaw(GRID, layer, (1,), least=256) == ""
    assert "Nothing drawn" in region_flaw(GRID, layer, (0,), least=256)
