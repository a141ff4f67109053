"""Reflective borders and their adjoint."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from napari_cosparse.core.borders import fold, pad, reflected
from napari_cosparse.core.checks import adjoint_error

SIDES = st.integers(1, 9)
MARGINS = st.integers(0, 20)


@given(height=SIDES, width=SIDES, margin=MARGINS, seed=st.integers(0, 99))
def test_fold_is_the_adjoint_of_pad(height, width, margin, seed):
    rng = np.random.default_rng(seed)
    image = rng.standard_normal((height, width))
    padded = rng.standard_normal((height + 2 * margin, width + 2 * margin))
    error = adjoint_error(lambda x: pad(x, margin), lambda z: fold(z.copy(), margin), image, padded)
    assert error < 1e-13


@given(size=SIDES, margin=MARGINS)
def test_reflected_names_the_pixels_that_pad_copies(size, margin):
    line = np.arange(size, dtype=float)
    source = reflected(size, margin)
    assert np.array_equal(line[source], np.pad(line, margin, mode="symmetric"))
    square = pad(np.add.outer(10 * line, line), margin)
    assert np.array_equal(square, np.add.outer(10 * line[source], line[source]))


def test_border_pixel_is_repeated():
    assert reflected(3, 2).tolist() == [1, 0, 0, 1, 2, 2, 1]
    assert reflected(1, 3).tolist() == [0] * 7


def test_margin_longer_than_the_image_reflects_again():
    assert reflected(2, 5).tolist() == [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1]


@pytest.mark.parametrize("margin", [0, 1, 7])
def test_fold_counts_how_often_a_pixel_was_copied(margin):
    height, width = 3, 5
    counts = fold(np.ones((height + 2 * margin, width + 2 * margin)), margin)
    rows = np.bincount(reflected(height, margin), minlength=height)
    columns = np.bincount(reflected(width, margin), minlength=width)
    assert np.array_equal(counts, np.outer(rows, columns))
    assert counts.flags.c_contiguous


def test_pad_leaves_the_image_alone_and_keeps_its_type():
    image = np.arange(6, dtype=np.float32).reshape(2, 3)
    padded = pad(image, 2)
    padded[:] = -1
    assert image.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert padded.dtype == np.float32
