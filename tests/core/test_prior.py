"""The coupled prior against its formula in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from napari_cosparse.core.checks import slope_error
from napari_cosparse.core.operators import (
    AtomGroup,
    GlobalOperator,
    Memory,
    OperatorPair,
    Program,
    _tiles,
    bank,
    random_frame,
    record,
    square_offsets,
)
from napari_cosparse.core.reconstruction import _prior
from napari_cosparse.core.reconstruction._band import Terms, add_logarithms
from napari_cosparse.core.reconstruction._prior import Prior, band_edges
from napari_cosparse.tiles import threaded_map

EPS = 0.1


def two_sided_pair():
    """A bank whose atoms of U and V differ, with an irregular group and unequal weights."""
    rng = np.random.default_rng(5)
    square = AtomGroup(square_offsets(3), *rng.standard_normal((2, 6, 9)), weight=0.7)
    loose = AtomGroup([(0, 0), (-2, 1), (3, 0)], *rng.standard_normal((2, 3, 3)), weight=2.0)
    return OperatorPair((square, loose))


def images(shape, channels=2, seed=0):
    rng = np.random.default_rng(seed)
    guide = rng.standard_normal((channels, *shape)).astype(np.float32)
    return rng.standard_normal(shape).astype(np.float32), guide


class Formula:
    """sum_j w_j sum_px log(eps^2 + max c_j^2 + x_j^2) in float64, as the contract prints it."""

    def __init__(self, pair, guide, eps=EPS, floor=0.0):
        self.operator = GlobalOperator(pair, "v", np.float64)
        self.weights = [group.weight for group in pair.groups]
        smoothing = eps**2 + np.square(floor, dtype=float)
        self.floor = [smoothing for _ in pair.groups]
        if guide is not None:
            of_u = GlobalOperator(pair, "u", np.float64)
            squares = [[c**2 for c in of_u.forward(channel)] for channel in guide]
            self.floor = [smoothing + np.max(part, axis=0) for part in zip(*squares, strict=True)]

    def scales(self, image):
        responses = self.operator.forward(image)
        return responses, [f + x**2 for f, x in zip(self.floor, responses, strict=True)]

    def __call__(self, image):
        responses, scales = self.scales(image)
        parts = list(zip(self.weights, responses, scales, strict=True))
        cost = sum(w * np.log(s).sum() for w, _, s in parts)
        return cost, self.operator.adjoint([2 * w * x / s for w, x, s in parts])

    def quadratic(self, image, change):
        """Curvature term of the majorising quadratic, change^T Omega^T W Omega change."""
        weights = [2 * w / s for w, s in zip(self.weights, self.scales(image)[1], strict=True)]
        responses = self.operator.forward(change)
        return sum((w * x**2).sum() for w, x in zip(weights, responses, strict=True))


GUIDES = {"unguided": 0, "gray": 1, "colour": 3}


@pytest.mark.parametrize("channels", GUIDES.values(), ids=GUIDES.keys())
@pytest.mark.parametrize("shape", [(1, 1), (5, 9), (150, 13)])
def test_cost_and_gradient_are_the_formula(shape, channels):
    image, guide = images(shape, channels)
    guide = guide if channels else None
    cost, gradient = Prior(two_sided_pair(), shape, guide, map).evaluate(image, EPS)
    expected, slope = Formula(two_sided_pair(), guide)(image)
    assert cost == pytest.approx(expected, rel=1e-5, abs=1e-4)
    assert np.abs(gradient - slope).max() < 1e-5 * np.abs(slope).max()
    assert gradient.dtype == np.float32


def test_floor_adds_to_the_smoothing_pixel_by_pixel():
    shape = 70, 600  # two bands, two tiles across
    image, guide = images(shape)
    floor = np.random.default_rng(1).uniform(0, 1, shape).astype(np.float32)
    prior = Prior(two_sided_pair(), shape, guide, map, floor)
    formula = Formula(two_sided_pair(), guide, floor=floor)
    cost, gradient = prior.evaluate(image, EPS)
    expected, slope = formula(image)
    assert cost == pytest.approx(expected, rel=1e-5)
    assert np.abs(gradient - slope).max() < 1e-5 * np.abs(slope).max()
    unit = np.zeros(shape)
    unit[30, 299] = 1
    expected = formula.quadratic(image, unit)
    assert prior.curvature(image, EPS)[30, 299] == pytest.approx(expected, rel=1e-4)


def test_formula_has_the_slope_it_claims():
    image, guide = images((7, 8))
    formula, direction = Formula(two_sided_pair(), guide), images((7, 8), seed=1)[0]
    assert slope_error(formula, image.astype(float), direction.astype(float)) < 1e-7


def test_slope_of_the_single_precision_cost():
    # Coarse smoothing and a long step: the difference of two float32 costs stays exact to 1e-4.
    shape = 20, 24
    prior = Prior(bank(random_frame()), shape, None, map)
    image, direction = images(shape)[0], images(shape, seed=1)[0]
    error = slope_error(
        lambda s: prior.evaluate(s.astype(np.float32), 1.0), image, direction, step=1e-2
    )
    assert error < 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_quadratic_with_this_gradient_majorises_the_cost(seed):
    image, guide = images((9, 7), seed=seed)
    change = images((9, 7), seed=seed + 50)[0].astype(float) * 10.0 ** (seed - 3)
    formula = Formula(two_sided_pair(), guide)
    cost, gradient = formula(image)
    bound = cost + np.vdot(gradient, change) + formula.quadratic(image, change) / 2
    assert formula(image + change)[0] <= bound + 1e-9 * abs(bound)


@pytest.mark.parametrize("channels", GUIDES.values(), ids=GUIDES.keys())
def test_curvature_is_the_diagonal_of_that_quadratic(channels):
    shape = 11, 12
    pair = two_sided_pair()
    image, guide = images(shape, channels)
    guide = guide if channels else None
    curvature = Prior(pair, shape, guide, map).curvature(image, EPS)
    formula = Formula(pair, guide)
    unit = np.zeros(shape)
    for pixel in np.ndindex(shape):
        if min(*pixel, *np.subtract(shape, pixel) - 1) < pair.radius:
            continue  # reflections of a pixel upon itself count one by one there
        unit[pixel] = 1
        assert curvature[pixel] == pytest.approx(formula.quadratic(image, unit), rel=1e-4)
        unit[pixel] = 0


def test_curvature_is_positive_up_to_the_border():
    image, guide = images((6, 5))
    assert Prior(two_sided_pair(), (6, 5), guide, map).curvature(image, EPS).min() > 0


@given(height=st.integers(1, 400), unit=st.integers(1, 180))
def test_bands_are_made_of_whole_units(height, unit):
    edges = band_edges(height, unit)
    assert edges[0] == 0
    assert edges[-1] == height
    rows = np.diff(edges)
    assert rows.min() > 0
    assert not (rows[:-1] % unit).any()
    assert rows.max() <= max(64, unit)


def test_no_more_than_two_units_meet():
    for reach in (1, 16, 40):
        pair = OperatorPair((AtomGroup([(0, 0), (reach, 1)], *np.eye(2).reshape(2, 1, 2)),))
        terms = Terms(pair, 0, finite=True, floor=False)
        assert terms.unit >= 2 * terms.margin == 2 * reach


CUTS = {
    "low bands": (_prior, "BAND_ROWS", 16),
    "high bands": (_prior, "BAND_ROWS", 128),
    "one band": (_prior, "BAND_ROWS", 1 << 20),
    "even bands": (_prior, "LAST_BANDS", 0),
    "low tiles": (_tiles, "TILE_ROWS", 7),
    "small tiles": (_tiles, "TILE_NUMBERS", 1 << 14),
}


@pytest.mark.parametrize("pair", [two_sided_pair(), bank(random_frame())], ids=["loose", "lattice"])
@pytest.mark.parametrize("cut", CUTS)
def test_heights_of_bands_and_tiles_change_no_bit(monkeypatch, cut, pair):
    shape = 333, 2100  # two tiles across
    image, guide = images(shape, 1)
    image[100, 70:90] = 1e12  # products of the responses leave single precision in these rows
    usual = Prior(pair, shape, guide, map)
    monkeypatch.setattr(*CUTS[cut])
    other = Prior(pair, shape, guide, map)
    assert [band.tiles for band in other._bands] != [band.tiles for band in usual._bands]
    for got, expected in zip(other.evaluate(image, EPS), usual.evaluate(image, EPS), strict=True):
        assert np.array_equal(got, expected)
    assert np.array_equal(other.curvature(image, EPS), usual.curvature(image, EPS))


def backwards(function, items):
    """A map that runs its calls in reverse order."""
    return [function(item) for item in list(items)[::-1]][::-1]


@pytest.mark.parametrize("run", [threaded_map(1), threaded_map(2), backwards])
def test_map_changes_no_bit(run):
    shape = 200, 30  # five bands, the last one short
    image, guide = images(shape)
    results = []
    for map_ in (map, run):
        prior = Prior(bank(random_frame()), shape, guide, map_)
        for _ in range(2):  # the second time with the guide's term from the cache
            cost, gradient = prior.evaluate(image, EPS)
            results.append((cost, gradient, prior.curvature(image, EPS)))
    for cost, gradient, curvature in results[1:]:
        assert cost == results[0][0]
        assert np.array_equal(gradient, results[0][1])
        assert np.array_equal(curvature, results[0][2])


def test_guide_that_does_not_fit_the_cache_changes_no_bit(monkeypatch):
    shape = 80, 20
    image, guide = images(shape)
    kept = Prior(two_sided_pair(), shape, guide, map).evaluate(image, EPS)
    monkeypatch.setattr(_prior, "GUIDE_CACHE_BYTES", 0)
    again = Prior(two_sided_pair(), shape, guide, map).evaluate(image, EPS)
    assert kept[0] == again[0]
    assert np.array_equal(kept[1], again[1])


def test_a_part_of_the_guide_that_fits_is_kept_and_changes_no_bit(monkeypatch):
    shape = 200, 20
    image, guide = images(shape)
    pair = two_sided_pair()
    kept = Prior(pair, shape, guide, map).evaluate(image, EPS)
    room = 80 * 200 * 20 + 4 * pair.atoms * 130 * 20
    monkeypatch.setattr(_prior, "GUIDE_CACHE_BYTES", room)
    prior = Prior(pair, shape, guide, map)
    again = [prior.evaluate(image, EPS) for _ in "ab"][-1]
    assert kept[0] == again[0]
    assert np.array_equal(kept[1], again[1])
    assert [bool(band.kept) for band in prior._bands] == [True, True, False, False, False]


def test_unknown_guide_pixels_say_nothing():
    shape = 20, 20
    image, guide = images(shape, 1)
    guide[0, 10, 10] = np.nan
    pair = random_frame()
    cost, gradient = Prior(pair, shape, guide, map).evaluate(image, EPS)
    formula = Formula(pair, np.nan_to_num(guide))
    formula.floor[0][:, 9:12, 9:12] = EPS**2  # no response that touches the pixel counts
    expected, slope = formula(image)
    assert cost == pytest.approx(expected, rel=1e-5)
    assert np.allclose(gradient, slope, rtol=0, atol=1e-5 * np.abs(slope).max())


def test_image_stays_as_it_is():
    image, guide = images((9, 9))
    kept = image.copy(), guide.copy()
    prior = Prior(two_sided_pair(), (9, 9), guide, map)
    prior.evaluate(image, EPS)
    prior.curvature(image, EPS)
    assert np.array_equal(image, kept[0])
    assert np.array_equal(guide, kept[1])


@pytest.mark.parametrize("atoms", [1, 3, 4, 18])
def test_sum_of_logarithms(atoms):
    values = np.random.default_rng(0).uniform(1e-8, 1e3, (4, atoms, 9)).astype(np.float32)
    kept, sums = values.copy(), np.zeros((2, 4))
    program = record(lambda program: add_logarithms(program, values, sums), Memory())
    for _ in "ab":
        program.run()
        expected = np.log(values.astype(float)).sum((1, 2))
        assert sums.sum(0) == pytest.approx(expected, rel=1e-6)
    assert np.array_equal(values, kept)


@pytest.mark.parametrize("extremes", [(1e9,), (1e-12,), (1e9, 1e-15)])
def test_cost_where_products_of_responses_leave_single_precision(extremes):
    image = np.zeros((9, 40), np.float32)
    image[4, 10 : 10 + len(extremes)] = extremes
    pair, eps = bank(random_frame()), min(1e-6, *extremes)
    cost, gradient = Prior(pair, image.shape, None, map).evaluate(image, eps)
    expected, _ = Formula(pair, None, eps)(image)
    assert cost == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(gradient).all()


def test_recorded_lines_leave_no_holes() -> None:
    """A line that grows is cut once, at its largest: what is left unused would count as memory."""
    places = []

    def write(program: Program) -> None:
        for name, size in (("a", 64), ("b", 16), ("a", 128), ("b", 32), ("c", 16)):
            places.append(program.memory.plane(name, (size,), np.dtype(np.float32)))

    record(write, Memory())
    last = {id_: place.ctypes.data for id_, place in zip("abc", places[-3:], strict=True)}
    assert last["b"] - last["a"] == 4 * 128
    assert last["c"] - last["b"] == 4 * 32
