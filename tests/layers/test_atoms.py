"""Operator pairs as layers."""

import numpy as np
import pytest
from napari.components import ViewerModel
from napari.layers import Image, Layer, Points

from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.io import load_operators, shipped_operators
from napari_cosparse.layers import atom_layers, mosaic, pair_of, pairs_in

RNG = np.random.default_rng(0)
PAIR = OperatorPair.from_patches(RNG.normal(size=(6, 4)), RNG.normal(size=(6, 4)))


def test_tiles_are_the_atoms_scaled_to_their_largest_coefficient():
    sheet = mosaic(PAIR, "v")
    atom = PAIR.groups[0].coefficients_v[0]
    np.testing.assert_allclose(sheet[1:3, 1:3].ravel(), atom / np.abs(atom).max(), rtol=1e-6)
    assert np.isfinite(sheet).sum() == 24
    assert np.isnan(sheet[0]).all()


@pytest.mark.parametrize("name", shipped_operators())
def test_every_shipped_pair_can_be_drawn(name):
    pair = load_operators(name)
    sheet = mosaic(pair, "u")
    sizes = sum(group.coefficients_u.size for group in pair.groups)
    assert np.isfinite(sheet).sum() == sizes
    assert np.nanmax(np.abs(sheet)) == 1


def test_two_layers_side_by_side_keep_the_pair():
    viewer = ViewerModel()
    for data in atom_layers(PAIR, "mine", {"action": "learn"}):
        viewer.add_layer(Layer.create(*data))
    left, right = viewer.layers
    assert left.extent.world[1, 1] < right.extent.world[0, 1]
    assert pairs_in(viewer.layers) == {"mine": PAIR}
    assert pair_of(left.metadata) == ("mine", PAIR)
    assert pair_of(Image(np.zeros((3, 3))).metadata) is None


def test_atoms_beside_a_layer_are_as_high_as_it_is_and_in_its_units():
    image = Image(np.zeros((50, 80)), scale=(0.5, 0.5), translate=(3, 4), units="um")
    left, right = (Layer.create(*data) for data in atom_layers(PAIR, "mine", beside=image))
    np.testing.assert_allclose(left.extent.world[:, 0], image.extent.world[:, 0])
    assert image.extent.world[1, 1] < left.extent.world[0, 1]
    assert left.extent.world[1, 1] < right.extent.world[0, 1]
    assert left.units == right.units == image.units


@pytest.mark.parametrize(
    ("units", "scale"), [("um", 1), ("nm", 1000), (("pixel", "pixel"), 1), (None, 1)]
)
def test_atoms_lie_beside_all_layers_wherever_these_are(units, scale):
    """Also in other units, or without: then napari draws the numbers of all layers."""
    image = Image(np.zeros((50, 80)), scale=(0.5, 0.5), translate=(3, 4), units="um")
    place = {} if units is None else {"units": units}
    third = Image(np.zeros((5, 400)), scale=(scale, scale), **place)
    empty, line = Points(np.zeros((0, 2)), units="um"), Points(np.full((1, 1), 9e9))
    made = atom_layers(PAIR, "mine", beside=image, among=[image, third, empty, line])
    left, right = (Layer.create(*data) for data in made)
    assert 399.5 < left.extent.world[0, 1] < 450
    assert left.extent.world[1, 1] < right.extent.world[0, 1]
    assert left.units == image.units


@pytest.mark.parametrize("beside", [None, Image(np.zeros((50, 80)))])
def test_atoms_lie_beside_the_edges_of_coarse_layers_and_beside_what_is_there_alone(beside):
    coarse = Image(np.zeros((4, 4)), scale=(40, 40), translate=(19.5, 19.5))
    left, _ = atom_layers(PAIR, "mine", beside=beside, among=[coarse])
    assert left[1]["translate"][1] - left[1]["scale"][1] / 2 > 159.5


def test_atoms_are_framed_since_zero_is_as_white_as_a_light_theme():
    """Else it could not be seen where an atom ends; napari's own map of that name stays."""
    pair = load_operators("differences")
    for data, state, kind in atom_layers(pair, "x"):
        layer = Layer.create(data, state, kind)
        frame, zero = layer.colormap.map(np.array([np.nan, 0.5]))
        assert np.isnan(data[0]).all()
        np.testing.assert_allclose(frame, (0.5, 0.5, 0.5, 1))
        assert zero.min() > 0.9
    assert Image(np.eye(3), colormap="PiYG").colormap.nan_color[3] == 0
