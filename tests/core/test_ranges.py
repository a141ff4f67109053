"""Quantiles of very many values are those of NumPy, found part by part."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from napari_cosparse.core import ranges
from napari_cosparse.core.mapping import once

MANY = np.random.default_rng(0).random(40_000)
KINDS = {
    "random": MANY,
    "sorted": np.sort(MANY),
    "levels": np.floor(200 * MANY) / 3,
    "two": np.where(MANY < 0.3, 5.0, -1.0),
    "rare": np.where(MANY < 0.012, MANY, 1.0),
    "constant": np.ones(40_000),
    "dark": np.where(MANY < 0.5, 0.0, MANY),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(ranges, "LARGE", 1000)
    monkeypatch.setattr(ranges, "PART", 700)
    monkeypatch.setattr(ranges, "SAMPLE", 4000)
    monkeypatch.setattr(ranges, "AROUND", 40)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [40_000, 39_993, 1001])
def test_the_range_is_numpys_to_the_last_bit(kind, count):
    values = KINDS[kind][:count]
    asked = []

    def counting(function, items):
        return ((asked.append(item), function(item))[1] for item in items)

    low, high = np.quantile(values, (ranges.LOW, ranges.HIGH))
    width = (high - low) or np.ptp(values) or 1
    assert ranges.robust_range(values, counting) == (low, width)
    assert len(asked) == 2 * -(-count // 700)


@given(seed=st.integers(0, 2**32 - 1), levels=st.integers(1, 50), around=st.integers(0, 3))
@settings(deadline=None)
def test_samples_that_mislead_change_no_bit(seed, levels, around):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, levels, 1500).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "SAMPLE", 20)
        patch.setattr(ranges, "AROUND", around)
        low, width = ranges.robust_range(values)
    first, last = np.quantile(values, (ranges.LOW, ranges.HIGH))
    assert (low, width) == (first, (last - first) or np.ptp(values) or 1)


def test_a_call_goes_through_the_map():
    def stopping(function, items):
        raise KeyboardInterrupt

    assert once(map, divmod, 7, 3) == (2, 1)
    with pytest.raises(KeyboardInterrupt):
        once(stopping, divmod, 7, 3)
