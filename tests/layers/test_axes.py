"""Which planes of two stacks belong together."""

import numpy as np
import pytest

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import Source, match_stacks


def stack(shape, labels, *, rgb=False, name="a"):
    return Source(name, np.zeros((*shape, 3) if rgb else shape), rgb, tuple(labels))


def test_two_planes_are_one_pair():
    found = match_stacks(stack((4, 5), "yx"), stack((4, 5), "yx", rgb=True))
    assert found.shape == ()
    assert list(found.pairs()) == [((), ())]


def test_guide_is_repeated_over_the_targets_axis():
    found = match_stacks(stack((3, 4, 5), "tyx"), stack((8, 9), "yx", rgb=True))
    assert (found.labels, found.shape) == (("t",), (3,))
    assert list(found.pairs()) == [((0,), ()), ((1,), ()), ((2,), ())]


def test_labels_not_places_decide():
    found = match_stacks(stack((2, 3, 4, 5), "ctyx"), stack((3, 8, 9), "tyx"))
    assert (found.labels, found.shape) == (("c", "t"), (2, 3))
    assert list(found.pairs())[4] == ((1, 1), (1,))


def test_order_is_the_targets():
    found = match_stacks(stack((2, 3, 4, 5), "tcyx"), stack((2, 8, 9), "tyx"))
    assert (found.labels, found.shape) == (("t", "c"), (2, 3))
    assert list(found.pairs())[1] == ((0, 1), (0,))
    turned = match_stacks(stack((2, 3, 4, 5), "tcyx"), stack((3, 2, 8, 9), "ctyx"))
    assert list(turned.pairs())[1] == ((0, 1), (1, 0))


def test_axis_that_only_the_guide_has_keeps_its_neighbour():
    default = ("-4", "-3", "-2", "-1")
    found = match_stacks(stack((3, 4, 5), default[1:]), stack((2, 3, 8, 9), default))
    assert (found.labels, found.shape) == (("-4", "-3"), (2, 3))
    found = match_stacks(stack((2, 3, 4, 5), "tcyx"), stack((6, 2, 7, 8, 9), "ztwyx"))
    assert (found.labels, found.shape) == (("z", "t", "c", "w"), (6, 2, 3, 7))


def test_different_axes_are_combined():
    found = match_stacks(stack((2, 4, 5), "cyx"), stack((3, 8, 9), "tyx"))
    assert (found.labels, found.shape) == (("c", "t"), (2, 3))
    assert list(found.pairs())[-1] == ((1,), (2,))


def test_axes_of_length_one_are_repeated():
    default = ("-3", "-2", "-1")
    found = match_stacks(stack((1, 4, 5), default), stack((3, 8, 9), default))
    assert list(found.pairs()) == [((0,), (0,)), ((0,), (1,)), ((0,), (2,))]
    assert found.planes == 3


def test_stacks_of_different_length_are_refused():
    with pytest.raises(InputError, match=r"'t' has 3 planes in 'low' and 4 in 'high'"):
        match_stacks(stack((3, 4, 5), "tyx", name="low"), stack((4, 8, 9), "tyx", name="high"))
