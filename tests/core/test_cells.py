"""Planes in cells: scalars of their own, on one grid for a whole and its parts."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse.core.descent import lbfgs
from napari_cosparse.core.descent._cells import SIDE, Cells
from napari_cosparse.tiles import threaded_map

SIZES = st.tuples(st.integers(1, 300), st.integers(1, 300))
CORNERS = st.tuples(st.integers(0, 500), st.integers(0, 500))


def planes(shape, count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(np.float32) for _ in range(count)]


@given(SIZES, CORNERS)
@settings(max_examples=40, deadline=None)
def test_cells_cover_the_plane_once_and_none_is_a_sliver(shape, corner):
    ones = np.ones(shape, np.float32)
    pixels = Cells(shape, map, corner).products(ones, ones)
    assert pixels.sum() == shape[0] * shape[1]
    sides = [min(size, SIDE // 2) for size in shape], [1.5 * SIDE] * 2
    assert pixels.min() >= sides[0][0] * sides[0][1]
    assert pixels.max() < sides[1][0] * sides[1][1] or min(shape) < SIDE


@given(SIZES)
@settings(max_examples=20, deadline=None)
def test_products_of_cells_are_those_of_their_pixels(shape):
    a, b = planes(shape, 2)
    cells = Cells(shape)
    found = cells.products(a, b)
    expected = np.vdot(a.astype(float), b)
    assert found.shape == cells.shape
    assert found.sum() == pytest.approx(expected, abs=1e-4 * np.sqrt(a.size))


def test_part_meets_the_cells_of_the_whole():
    a, b = planes((300, 400), 2)
    whole = Cells(a.shape).products(a, b)
    rows, columns = slice(96, 288), slice(32, 352)
    part = Cells((192, 320), map, (96, 32)).products(a[rows, columns], b[rows, columns])
    # rows from 96: half a cell, then those of the whole; columns from 32 likewise
    assert np.array_equal(part[1:-1, 1:-1], whole[2:4, 1:5])


def test_each_cell_has_its_own_factor():
    a, b, weights = planes((130, 200), 3)
    cells = Cells(a.shape)
    factors = np.arange(1.0, 1 + np.prod(cells.shape)).reshape(cells.shape)
    wide = np.ones(a.shape)
    for i, j in np.ndindex(*cells.shape):
        rows = slice(i * SIDE, None if i + 1 == cells.shape[0] else (i + 1) * SIDE)
        wide[rows, j * SIDE : None if j + 1 == cells.shape[1] else (j + 1) * SIDE] = factors[i, j]
    added, weighed = a.copy(), a.copy()
    products = cells.add(added, factors, b, weights)
    assert np.allclose(added, a + wide * b, rtol=1e-5, atol=1e-5)
    assert np.allclose(products, cells.products(added, weights))
    cells.weigh(weighed, weights, factors)
    assert np.allclose(weighed, a * weights * wide, rtol=1e-5)


def test_change_gives_all_four_products():
    a, b, step, weights = planes((70, 150), 4)
    cells, before = Cells(a.shape), b.copy()
    found = cells.take_from(a, b, step, weights)
    assert np.array_equal(b, a - before)
    pairs = (b, step), (b, b), (b, weights * b), (step, step)
    for product, pair in zip(found, pairs, strict=True):
        assert np.allclose(product, cells.products(*pair), rtol=1e-6)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_no_bit(threads):
    a, b, c = planes((900, 700), 3)
    plain, mapped = Cells(a.shape), Cells(a.shape, threaded_map(threads))
    factors = plain.products(a, c) / 1e3
    results = []
    for cells in (plain, mapped):
        target = a.copy()
        results.append((cells.add(target, factors, b, c), target, *cells.negative(b, c)))
    assert all(np.array_equal(x, y) for x, y in zip(*results, strict=True))


def tilted(scales):
    """A cost without terms between neighbours; convex, and harder where scales differ more."""

    def cost(image):
        slope = scales * image + image**3
        return float(
            (scales * image.astype(float) ** 2 / 2 + image.astype(float) ** 4 / 4).sum()
        ), slope

    return cost


def descend(cost, start, steps=6, corner=(0, 0)):
    inverse = np.full(start.shape, 0.2, np.float32)  # short enough that no step is shortened
    found = lbfgs(cost, start, project=lambda d: d, inverse=inverse, corner=corner)
    return [step.point for step in islice(found, steps)]


def test_a_cell_is_solved_in_a_large_image_as_alone():
    shape = (SIDE, 3 * SIDE)
    scales = np.repeat([1.0, 2.0, 4.0], SIDE)[None, :] * np.ones((SIDE, 1))
    scales = (scales * np.random.default_rng(1).uniform(0.7, 1, shape)).astype(np.float32)
    start = planes(shape, 1, 2)[0] / 4
    whole = descend(tilted(scales), start)
    for number in range(3):
        part = slice(number * SIDE, (number + 1) * SIDE)
        corner = (0, number * SIDE)
        alone = descend(tilted(scales[:, part]), start[:, part], corner=corner)
        for ours, theirs in zip(whole, alone, strict=True):
            assert np.allclose(ours[:, part], theirs, rtol=0, atol=1e-6)


def test_direction_that_rounding_turned_upwards_is_replaced():
    calls = []

    def project(plane):
        """Turn the first direction that has a pair behind it: the fourth plane to be projected."""
        calls.append(plane)
        return -plane if len(calls) == 4 else plane

    start = planes((SIDE, SIDE), 1)[0]
    scales = np.linspace(1, 4, start.size, dtype=np.float32).reshape(start.shape)
    inverse = np.full(start.shape, 0.2, np.float32)
    steps = list(islice(lbfgs(tilted(scales), start, project=project, inverse=inverse), 6))
    assert len(steps) == 6
    assert all(step.slope < 0 for step in steps)
