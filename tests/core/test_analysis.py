"""The global analysis operator against a brute-force one, and its exact adjoint."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse.core.borders import reflected
from napari_cosparse.core.checks import adjoint_error
from napari_cosparse.core.operators import (
    AtomGroup,
    GlobalOperator,
    OperatorPair,
    Program,
    Tile,
    bank,
    random_frame,
    square_offsets,
    tiles_of,
)
from napari_cosparse.core.operators._windows import Windows

SHAPES = st.tuples(st.integers(1, 24), st.integers(1, 24))


@st.composite
def groups(draw):
    """Atom groups with square or irregular offsets, atoms of U and V apart."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    if draw(st.booleans()):
        offsets = square_offsets(draw(st.integers(2, 5)), draw(st.integers(1, 4)))
    else:
        offsets = rng.integers(-9, 10, (draw(st.integers(1, 6)), 2))
    shape = draw(st.integers(1, 6)), len(offsets)
    return AtomGroup(offsets, rng.standard_normal(shape), rng.standard_normal(shape))


PAIRS = st.lists(groups(), min_size=1, max_size=3).map(lambda g: OperatorPair(tuple(g)))


def brute_force(group, image, modality):
    """Responses by their definition: one look-up per pixel, offset and atom."""
    height, width = image.shape
    reach = group.radius
    rows, columns = (reflected(size, reach) for size in (height, width))
    atoms = getattr(group, f"coefficients_{modality}")
    out = np.zeros((len(atoms), height, width))
    for row, column in np.ndindex(height, width):
        patch = [
            image[rows[row + r + reach], columns[column + c + reach]] for r, c in group.offsets
        ]
        out[:, row, column] = atoms @ np.array(patch)
    return out


@settings(max_examples=25)
@given(
    pair=PAIRS,
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    modality=st.sampled_from("uv"),
)
def test_forward_is_the_definition(pair, shape, modality):
    image = np.random.default_rng(0).standard_normal(shape)
    responses = GlobalOperator(pair, modality, np.float64).forward(image)
    for group, response in zip(pair.groups, responses, strict=True):
        assert np.allclose(response, brute_force(group, image, modality), rtol=0, atol=1e-12)


@settings(max_examples=60)
@given(pair=PAIRS, shape=SHAPES, modality=st.sampled_from("uv"), seed=st.integers(0, 99))
def test_adjoint_is_exact(pair, shape, modality, seed):
    rng = np.random.default_rng(seed)
    operator = GlobalOperator(pair, modality, np.float64)
    sizes = [len(group.coefficients_u) for group in pair.groups]
    ends = np.cumsum(sizes)[:-1]
    error = adjoint_error(
        lambda x: np.concatenate(operator.forward(x)),
        lambda z: operator.adjoint(np.split(z, ends)),
        rng.standard_normal(shape),
        rng.standard_normal((sum(sizes), *shape)),
    )
    assert error < 1e-10


@pytest.mark.parametrize("side", [2, 3, 4, 5])
@pytest.mark.parametrize("dilation", [1, 2, 5])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (2, 3), (40, 33)])
def test_adjoint_of_square_patches_larger_and_smaller_than_the_image(side, dilation, shape):
    rng = np.random.default_rng(side + dilation)
    atoms = rng.standard_normal((2, 7, side**2))
    pair = OperatorPair((AtomGroup(square_offsets(side, dilation), *atoms),))
    operator = GlobalOperator(pair, "v", np.float64)
    image, responses = rng.standard_normal(shape), rng.standard_normal((7, *shape))
    error = adjoint_error(
        lambda x: operator.forward(x)[0], lambda z: operator.adjoint([z]), image, responses
    )
    assert error < 1e-10


def test_image_wider_than_a_tile():
    rng = np.random.default_rng(0)
    shape = 3, 2200
    operator = GlobalOperator(bank(random_frame()), "v", np.float64)
    assert len(list(tiles_of(0, *shape, 18))) == 2
    image = rng.standard_normal(shape)
    responses = [rng.standard_normal((len(a), *shape)) for a in operator.atoms]
    left = sum(np.vdot(a, b) for a, b in zip(operator.forward(image), responses, strict=True))
    right = np.vdot(image, operator.adjoint(responses))
    assert left == pytest.approx(right, rel=1e-10)


def test_each_modality_has_its_own_atoms():
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((2, 4, 9))
    pair = OperatorPair.from_patches(u, v)
    swapped = OperatorPair.from_patches(v, u)
    image = rng.standard_normal((6, 8))
    (of_u,) = GlobalOperator(pair, "u").forward(image)
    (of_v,) = GlobalOperator(pair, "v").forward(image)
    assert np.array_equal(of_u, GlobalOperator(swapped, "v").forward(image)[0])
    assert np.abs(of_u - of_v).max() > 0.1


def test_constant_image_has_no_response_to_atoms_without_mean():
    operator = GlobalOperator(bank(random_frame()), "v", np.float64)
    for response in operator.forward(np.full((5, 6), 7.0)):
        assert np.abs(response).max() < 1e-12


def test_single_precision_agrees_with_double():
    rng = np.random.default_rng(0)
    pair, image = bank(random_frame()), rng.standard_normal((20, 30))
    narrow = GlobalOperator(pair, "v")
    wide = GlobalOperator(pair, "v", np.float64)
    for small, large in zip(narrow.forward(image), wide.forward(image), strict=True):
        assert small.dtype == np.float32
        assert np.allclose(small, large, rtol=0, atol=1e-5)
    back = narrow.adjoint(narrow.forward(image))
    assert back.dtype == np.float32
    assert np.allclose(back, wide.adjoint(wide.forward(image)), rtol=0, atol=1e-4)


def test_inputs_stay_as_they_are():
    rng = np.random.default_rng(0)
    operator = GlobalOperator(bank(random_frame()), "v")
    image = rng.standard_normal((9, 8)).astype(np.float32)
    kept = image.copy()
    responses = operator.forward(image)
    copies = [response.copy() for response in responses]
    operator.adjoint(responses)
    assert np.array_equal(image, kept)
    assert all(np.array_equal(a, b) for a, b in zip(responses, copies, strict=True))


@settings(max_examples=40)
@given(
    first=st.integers(0, 9),
    rows=st.integers(1, 70),
    width=st.integers(1, 3000),
    atoms=st.integers(1, 400),
    taps=st.sampled_from([1, 9, 25]),
)
def test_tiles_cover_every_pixel_once(first, rows, width, atoms, taps):
    seen = np.zeros((first + rows, width), int)
    for tile in tiles_of(first, first + rows, width, atoms, taps):
        assert tile.rows > 0
        assert 0 < tile.width <= 2048
        assert tile.width <= 64 or tile.width * atoms * taps <= 1_000_000
        seen[tile.row : tile.row + tile.rows, tile.column : tile.column + tile.width] += 1
    assert (seen[first:] == 1).all()
    assert not seen[:first].any()


def test_scatter_adds_to_what_is_there():
    group = random_frame(3, 9).groups[0]
    windows = Windows(group, 1)
    (tile,) = tiles_of(0, 4, 5, 9)
    responses = np.ones((4, 9, 5))
    zero, one = np.zeros((6, 7)), np.ones((6, 7))
    program = Program()
    for padded in (zero, one):
        windows.scatter(program, group.coefficients_v, responses, padded, tile)
    program.run()
    assert np.allclose(one - zero, 1)
    assert np.abs(zero).max() > 0.1


@pytest.mark.parametrize("offsets", [square_offsets(3), [(0, 0), (-2, 1), (1, 0), (2, -2)]])
def test_scatter_into_parts_adds_up_to_the_whole(offsets):
    rng = np.random.default_rng(0)
    group = AtomGroup(offsets, *rng.standard_normal((2, 3, len(offsets))))
    windows = Windows(group, 2)
    responses, atoms = rng.standard_normal((11, 3, 6)), windows.embed(group.coefficients_v)
    whole, parts = np.zeros((15, 10)), np.zeros((3, 8, 10))  # of 4, 4 and 3 rows
    program = Program()
    for padded, cuts in ((whole, (0, 11)), (parts, (0, 6, 7, 11))):
        for first, last in pairwise(cuts):
            tile = Tile(first, 0, last - first, 6)
            windows.scatter(program, atoms, responses[first:last], padded, tile)
    program.run()
    added = np.zeros((16, 10))
    for number, part in enumerate(parts):
        added[4 * number : 4 * number + 8] += part
    assert np.allclose(added[:15], whole)
    assert not added[15].any()
