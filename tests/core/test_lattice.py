"""Lattices of integer data, found whatever unit the data were given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from napari_cosparse.core.reconstruction import _lattice
from napari_cosparse.core.reconstruction._lattice import find_lattice
from napari_cosparse.core.reconstruction._scale import scale_target

COUNTS = st.lists(st.integers(0, 4000), min_size=2, max_size=60).filter(lambda c: len(set(c)) > 1)


@given(counts=COUNTS, scale=st.floats(1e-6, 1e6), offset=st.integers(-100, 100))
def test_integers_are_counted_in_any_unit(counts, scale, offset):
    whole = np.array([0, 1, *counts], float)
    lattice = find_lattice(scale * (whole + offset))
    assert lattice is not None
    assert lattice.step == pytest.approx(scale, rel=1e-6)
    np.testing.assert_array_equal(lattice.count(scale * (whole + offset)), whole)


@given(counts=COUNTS, scale=st.sampled_from([1e-3, 0.5, 1.0, 3.0, 1e4]))
def test_scaled_target_is_the_same_bit_for_bit(counts, scale):
    whole = np.array([[0, 1, *counts]])
    plain = scale_target(whole.astype(np.uint16))
    other = scale_target((scale * whole + 5 * scale).astype(np.float32))
    np.testing.assert_array_equal(plain.samples, other.samples)
    assert other.span == pytest.approx(scale * plain.span, rel=1e-5)


def test_other_values_are_left_as_they_are():
    rng = np.random.default_rng(0)
    assert find_lattice(rng.random(500)) is None
    assert find_lattice(np.full(5, 3.0)) is None
    assert find_lattice(np.array([0.0, 1.0, 1.3, 2.0])) is None


def test_counting_moves_no_sample_noticeably():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 200, (20, 20)) + rng.normal(0, 1e-3, (20, 20))
    scaled = scale_target(values)
    assert np.abs(scaled.restore(scaled.samples) - values).max() < 1e-4 * scaled.span


def test_levels_that_nearly_coincide_are_no_lattice():
    assert find_lattice(np.array([0.0, 1.0, np.nextafter(1.0, 2.0), 3.0])) is None


def test_levels_are_looked_for_in_parts(monkeypatch):
    monkeypatch.setattr(_lattice, "PART", 7)
    whole = np.arange(100.0) % 31
    assert find_lattice(2.5 * whole) == _lattice.Lattice(0.0, 2.5)
    seen = []
    unique = np.unique
    monkeypatch.setattr(np, "unique", lambda values: seen.append(len(values)) or unique(values))
    monkeypatch.setattr(_lattice, "MOST", 10)
    assert find_lattice(np.sqrt(np.arange(100.0))) is None
    assert seen == [7, 14]  # the others need not be looked at
