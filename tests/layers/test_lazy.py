"""Planes that are read part by part."""

import dask.array as da
import numpy as np
import pytest
from napari.layers import Image, Shapes

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import Blocks, Grid, LazyPlane, grid_of, lazy_plane, mask_on

SHAPE = (96, 80)


def noted(array, read, number):
    def block(part, block_info=None):
        if block_info:
            read.append(number)
        return part

    return da.from_array(array, 16).map_blocks(block, dtype=array.dtype, meta=array[:0, :0])


@pytest.fixture
def pyramid():
    """Levels that are means of blocks, and what of them is computed."""
    fine = np.random.default_rng(0).normal(size=SHAPE)
    read = []
    means = [fine.reshape(96 // n, n, 80 // n, n).mean((1, 3)) for n in (1, 2, 4)]
    return fine, [noted(image, read, n) for n, image in enumerate(means)], read


def means(image, side):
    rows, columns = (n // side for n in image.shape)
    cut = image[: rows * side, : columns * side]
    return cut.reshape(rows, side, columns, side).mean((1, 3))


@pytest.mark.parametrize("mirrored", [False, True])
def test_strips_come_from_a_coarse_level_and_windows_from_the_finest(pyramid, mirrored):
    """K06: block means of strips are those of the finest level."""
    fine, levels, read = pyramid
    if mirrored:
        fine = fine[:, ::-1]
    plane = LazyPlane(levels, step=4, mirrored=mirrored)
    assert plane.shape == SHAPE
    strip = plane[8:24, 0:80]
    np.testing.assert_allclose(means(strip, 4), means(fine[8:24], 4))
    assert set(read) == {2}
    read.clear()
    np.testing.assert_array_equal(plane[3:20, 5:19], fine[3:20, 5:19])
    assert set(read) == {0}


def test_step_between_two_levels_takes_one_that_is_fine_enough(pyramid):
    _, levels, read = pyramid
    LazyPlane(levels, step=3)[0:96, 0:78]  # one and a half pixels of a coarser one would alias
    assert set(read) == {0}
    read.clear()
    LazyPlane(levels, step=5)[0:96, 0:80]
    assert set(read) == {1}


def test_without_a_step_everything_is_exact(pyramid):
    fine, levels, read = pyramid
    np.testing.assert_array_equal(np.asarray(LazyPlane(levels)), fine)
    np.testing.assert_array_equal(np.asarray(LazyPlane(levels, mirrored=True)), fine[:, ::-1])
    assert set(read) == {0}


def test_layer_gives_its_plane_and_its_level(pyramid):
    fine, levels, _ = pyramid
    stack = [da.stack([level * 0, level]) for level in levels]
    layer = Image(stack, contrast_limits=(0, 1), name="stack")
    np.testing.assert_array_equal(np.asarray(lazy_plane(layer, 0, (1,))), fine)
    np.testing.assert_allclose(np.asarray(lazy_plane(layer, 1, (1,))), means(fine, 2))
    with pytest.raises(InputError, match="stack of 2 planes; name one, from 0"):
        lazy_plane(layer, 0, ())


def test_who_asks_can_end_the_reading(pyramid):
    class EndError(Exception):
        pass

    def ask():
        raise EndError

    with pytest.raises(EndError):
        LazyPlane(pyramid[1], ask=ask)[0:4, 0:4]


def test_part_that_cannot_be_read_is_named():
    def fail(block):
        raise ValueError("broken file")

    bad = da.zeros((64, 64), chunks=32).map_blocks(fail, dtype=float, meta=np.zeros((0, 0)))
    with pytest.raises(OSError, match=r"layer 'scan': rows 0:9, columns 3:8 .*broken file"):
        LazyPlane([bad], name="scan")[0:9, 3:8]


@pytest.mark.parametrize("mirrored", [False, True])
def test_mask_of_a_large_image_is_kept_in_blocks(mirrored):
    """M03: 5000 x 3001 pixels in blocks of three."""
    grid = Grid("large", (5000, 3001), np.eye(3), grid_of(Image(np.zeros((4, 4)))).units)
    corners = [[900, 300], [900, 1500], [2100, 1500], [2100, 300]]
    mask = mask_on(grid, Shapes([corners], shape_type="polygon"), mirrored=mirrored)
    assert isinstance(mask, Blocks)
    assert mask.shape == grid.shape
    assert mask.mask.size < 2048**2
    whole = np.asarray(mask)[:, ::-1] if mirrored else np.asarray(mask)
    assert whole.shape == grid.shape
    wanted = np.zeros(grid.shape, bool)
    wanted[900:2101, 300:1501] = True
    inside, outside = wanted[4:-4, 4:-4], ~wanted
    assert whole[904:2097, 304:1497].all()
    assert inside.any()
    assert not whole[outside].sum() > 4 * 3 * 2 * 1200
    np.testing.assert_array_equal(mask[100:2000, 7:2000], np.asarray(mask)[100:2000, 7:2000])
