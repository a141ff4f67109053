"""Which layers are suggested as target and guide."""

import numpy as np
from napari.layers import Image

from napari_cosparse.io import load_operators
from napari_cosparse.layers import METADATA_KEY, atom_layers, partner, suggest

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


def test_previews_results_atoms_and_checkerboards_are_no_inputs():
    """A preview is the smallest image of all, and was once taken for the target of the run."""
    kinds = [
        {"action": "upsample", "preview": [0, 0]},
        {"action": "register", "checkerboard": True},
    ]
    made = [Image(np.zeros((4, 4)), metadata={METADATA_KEY: kind}) for kind in kinds]
    made += [
        Image(data, **told) for data, told, _ in atom_layers(load_operators("differences"), "a")
    ]
    layers = [Image(LARGE), Image(SMALL)]
    assert suggest([*made, *layers]) == (layers[1], layers[0])
    assert suggest([*made, layers[0]]) is None


def test_registered_layer_goes_before_the_one_that_it_was_made_from():
    record = {METADATA_KEY: {"action": "register"}}
    layers = [Image(SMALL), Image(LARGE), Image(SMALL, metadata=record)]
    assert suggest(layers) == (layers[2], layers[1])


def test_one_layer_is_no_pair():
    assert suggest([Image(LARGE)]) is None


def test_partner_of_a_layer_is_another_one_and_no_result():
    preview = Image(np.zeros((4, 4)), metadata={METADATA_KEY: {"action": "upsample"}})
    layers = [Image(LARGE), Image(SMALL), Image(np.zeros((16, 16)))]
    offered = [None, preview, *layers]
    assert partner(offered, layers[0], coarse=True) is layers[1]
    assert partner(offered, layers[1], coarse=False) is layers[0]
    assert partner(offered, layers[0], coarse=False) is layers[2]
    assert partner([preview, layers[0]], layers[0], coarse=True) is None
