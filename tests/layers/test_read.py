"""Pixels of layers: kinds of arrays, colour, types, stacks (M04, M05, M06)."""

import dask.array as da
import numpy as np
import pytest
from napari.layers import Image, Labels

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import Source, levels_of, read

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["int16", "uint16", "uint8", "int64", "float32", "float64", "?"])
def test_numeric_types_stay_as_they_are(dtype):
    pixels = (2 * RNG.random((6, 7))).astype(dtype)
    image = read(Image(pixels)).load()
    assert image.dtype == pixels.dtype
    np.testing.assert_array_equal(image, pixels)


def test_unknown_samples_stay_unknown():
    pixels = RNG.random((6, 7))
    pixels[2, 3] = np.nan
    assert np.isnan(read(Image(pixels)).load()[2, 3])


def test_dask_is_read_but_not_by_choosing_it():
    computed = []

    def note(block):
        computed.append(block.shape)
        return block

    lazy = da.from_array(RNG.random((8, 8)), chunks=4).map_blocks(note, meta=np.empty((0, 0)))
    layer = Image(lazy, contrast_limits=(0, 1))
    computed.clear()  # napari itself looks at new layers
    source = read(layer)
    assert not computed
    np.testing.assert_array_equal(source.load(), lazy.compute())


def test_multiscale_gives_the_finest_level_unless_told_otherwise():
    fine, coarse = RNG.random((16, 18)), RNG.random((8, 9))
    layer = Image([fine, coarse], contrast_limits=(0, 1))
    np.testing.assert_array_equal(read(layer).load(), fine)
    np.testing.assert_array_equal(read(layer, level=1).load(), coarse)
    with pytest.raises(InputError, match=r"no level 2.*0 to 1"):
        read(layer, level=2)


@pytest.mark.parametrize("channels", [3, 4])
def test_colour_keeps_three_channels_and_gray_is_luminance(channels):
    pixels = RNG.integers(0, 255, (40, 41, channels), np.uint8)
    source = read(Image(pixels, rgb=True))
    np.testing.assert_array_equal(source.load(), pixels[..., :3])
    expected = 0.299 * pixels[..., 0] + 0.587 * pixels[..., 1] + 0.114 * pixels[..., 2]
    np.testing.assert_allclose(source.load_gray(), expected, rtol=1e-6)


def test_three_columns_are_not_colour():
    pixels = RNG.random((40, 3))
    assert read(Image(pixels, rgb=False)).load().shape == (40, 3)


@pytest.mark.parametrize("shape", [(1, 6, 7), (1, 1, 6, 7)])
def test_leading_axes_of_length_one_are_dropped(shape):
    assert read(Image(np.zeros(shape))).load().shape == (6, 7)


def test_stack_gives_the_plane_that_is_named():
    """M06."""
    stack = RNG.random((5, 2, 6, 7))
    source = read(Image(stack, name="cells"))
    np.testing.assert_array_equal(source.load((3, 1)), stack[3, 1])
    for wrong in ((), (5, 0), (1,)):
        with pytest.raises(InputError, match="'cells' is a stack of 5 x 2 planes"):
            source.load(wrong)


def test_complex_values_are_refused():
    source = Source("waves", np.zeros((6, 7), complex), rgb=False)
    with pytest.raises(InputError, match=r"'waves' holds complex128"):
        source.load()


def test_holes_of_labels_and_shapes_of_levels():
    labels = Labels(np.ones((3, 8, 6), int))
    assert read(labels).leading == (3,)
    pyramid = Image([np.zeros((16, 18, 3)), np.zeros((8, 9, 3))], rgb=True, contrast_limits=(0, 1))
    assert levels_of(pyramid) == [(16, 18), (8, 9)]
    assert levels_of(labels) == [(8, 6)]


class Counted:
    """An array that reads whatever it is indexed with, as Zarr's do, and notes how much."""

    def __init__(self, pixels):
        self.pixels, self.read = pixels, 0
        self.shape, self.ndim, self.dtype = pixels.shape, pixels.ndim, pixels.dtype

    def __getitem__(self, part):
        found = self.pixels[part]
        self.read += found.size
        return found


@pytest.mark.parametrize("rgb", [False, True])
def test_plane_of_a_stored_stack_is_not_read_before_it_is_needed(rgb):
    whole = np.arange(3 * 40 * 50 * (4 if rgb else 1)).reshape(3, 40, 50, *([4] if rgb else []))
    stack = Counted(whole)
    plane = Source("stack", stack, rgb, ("t", "y", "x")).lazy((2,))
    assert stack.read == 0
    assert (plane.shape, plane.ndim, plane.chunks) == (
        whole.shape[1:],
        whole.ndim - 1,
        whole.shape[1:],
    )
    np.testing.assert_array_equal(plane[5:7, 8:9], whole[2, 5:7, 8:9])
    assert stack.read == whole[2, 5:7, 8:9].size
    np.testing.assert_array_equal(np.asarray(plane), whole[2])
    loaded = Source("stack", stack, rgb, ("t", "y", "x")).load((1,), np.s_[3:5, 6:9])
    np.testing.assert_array_equal(
        loaded, whole[1, 3:5, 6:9, ..., :3] if rgb else whole[1, 3:5, 6:9]
    )


def test_values_that_are_no_real_numbers_are_refused_without_reading():
    stack = Counted(np.zeros((2, 4, 4), complex))
    source = Source("waves", stack, rgb=False, axis_labels=("t", "y", "x"))
    with pytest.raises(InputError, match=r"'waves' holds complex128"):
        source.check_numbers()
    assert stack.read == 0
