"""Which layers are suggested as target and guide."""

import numpy as np
from napari.layers import Image

from napari_cosparse.layers import suggest

SMALL, LARGE = np.zeros((8, 8)), np.zeros((32, 32))


def test_the_largest_guides_the_smallest():
    layers = [Image(SMALL), Image(LARGE), Image(np.zeros((16, 16)))]
    assert suggest(layers) == (layers[0], layers[1])


def test_colour_guides_first():
    layers = [Image(LARGE), Image(np.zeros((31, 31, 3), np.uint8), rgb=True), Image(SMALL)]
    assert suggest(layers) == (layers[2], layers[1])


def test_result_of_a_run_does_not_take_the_guides_place():
    layers = [Image(LARGE, name="guide"), Image(SMALL), Image(LARGE, name="result")]
    assert suggest(layers) == (layers[1], layers[0])


def test_one_layer_is_no_pair():
    assert suggest([Image(LARGE)]) is None
