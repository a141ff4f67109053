"""Scattered unknown pixels: coarse levels bear them, and too many are a reason, not a crash."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from napari_cosparse import register
from napari_cosparse.core.registration._pyramid import pyramid
from napari_cosparse.core.registration._sides import make_side
from napari_cosparse.io import make_scene

TRUTH = (-10, -20)


@cache
def cut():
    """Parts of one scene that lie 10 rows and 20 columns apart."""
    whole = make_scene()
    return whole.guide[60:316, 100:420], whole.depth[70:300, 120:400]


def scattered(image, share):
    holed = image.copy()
    holed[np.random.default_rng(0).random(image.shape) < share] = np.nan
    return holed


def test_coarse_levels_bear_scattered_holes():
    image = scattered(cut()[1], 0.05)
    finest, *coarse = pyramid(make_side(image, "image"), 4)
    np.testing.assert_array_equal(finest.usable, np.isfinite(image))
    assert all(level.usable.mean() > 0.95 for level in coarse)


def test_coarse_levels_leave_out_a_large_hole_among_scattered_ones():
    image = scattered(cut()[1], 0.05)
    image[80:120, 100:160] = np.nan
    for level in pyramid(make_side(image, "image"), 4):
        rows, columns = (np.arange(n) * level.scale for n in level.usable.shape)
        hole = ((rows >= 80) & (rows < 120))[:, None] & ((columns >= 100) & (columns < 160))
        assert not level.usable[hole].any()


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_scattered_holes_leave_the_answer(share):
    fixed, moving = cut()
    found = register(fixed, scattered(moving, share))
    assert np.hypot(*(found.matrix[:2, 2] - TRUTH)) < 0.5
    assert found.trusted == (share < 0.05)
    assert found.trusted or "fill scattered holes" in found.because


@pytest.mark.parametrize("share", [0.3, 0.8])
@pytest.mark.parametrize("measure", ["auto", "mutual", "nmi"])
def test_too_many_holes_are_a_reason(share, measure):
    fixed, moving = cut()
    found = register(fixed, scattered(moving, share), measure=measure)
    assert not found.trusted
    assert found.because
    assert np.isfinite(found.matrix).all()


def test_start_is_kept_where_no_other_is_found():
    fixed, moving = cut()
    start = np.eye(3)
    start[:2, 2] = -3, -5
    found = register(fixed, scattered(moving, 0.8), initial=start, search=True, measure="mutual")
    assert "no start was found" in found.because
    np.testing.assert_allclose(found.matrix, start, atol=1e-9)
