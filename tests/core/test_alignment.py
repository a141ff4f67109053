"""The check whether the edges of target and guide coincide."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import check_alignment

SHAPE = 96, 128


@pytest.fixture(scope="module")
def scene():
    """Guide and target of one scene: the same discs, with unrelated gray values."""
    rng = np.random.default_rng(0)
    rows, columns = np.indices(SHAPE)
    guide, target = np.zeros(SHAPE), np.zeros(SHAPE)
    for _ in range(25):
        row, column = rng.uniform(0, SHAPE[0]), rng.uniform(0, SHAPE[1])
        disc = np.hypot(rows - row, columns - column) < rng.uniform(6, 20)
        guide[disc], target[disc] = rng.uniform(0, 255), rng.uniform(1, 5)
    return guide + rng.normal(0, 2, SHAPE), target


def moved(image, shift):
    return np.roll(image, shift, (0, 1))


def test_edges_that_coincide(scene):
    guide, target = scene
    found = check_alignment(target, guide)
    assert found.coincide
    assert found.shift == (0, 0)
    assert found.score == found.score_unshifted > 0.2


@pytest.mark.parametrize("shift", [(0, 9), (0, -9), (7, 0), (-5, 12), (3, 3), (0, 30)])
def test_shift_is_found_with_its_sign(scene, shift):
    guide, target = scene
    found = check_alignment(moved(target, shift), guide)
    assert not found.coincide
    assert found.shift == shift
    assert found.score > found.score_unshifted
    assert f"moved by ({-shift[0]}, {-shift[1]}) pixels" in found.because


def test_moving_the_target_as_told_helps(scene):
    guide, target = scene
    shifted = moved(target, (4, -8))
    found = check_alignment(shifted, guide)
    back = [-int(part) for part in found.shift]
    assert check_alignment(moved(shifted, back), guide).coincide


@pytest.mark.parametrize("change", [lambda t: -t, lambda t: 1000 * t - 7, lambda t: 1 / t.clip(1)])
def test_contrast_does_not_matter(scene, change):
    guide, target = scene
    assert check_alignment(change(target), guide).coincide
    assert check_alignment(change(moved(target, (0, 9))), guide).shift == (0, 9)


def test_small_shifts_are_tolerated(scene):
    guide, target = scene
    assert check_alignment(moved(target, (1, -2)), guide).coincide
    assert not check_alignment(moved(target, (1, -2)), guide, tolerance=1).coincide
    assert check_alignment(moved(target, (0, 9)), guide, tolerance=10).coincide


def test_colour_with_and_without_alpha(scene):
    guide, target = scene
    colour = np.stack([guide, 255 - 0.5 * guide, 0 * guide], -1).astype(np.uint8)
    noise = np.random.default_rng(0).integers(0, 255, (*SHAPE, 1), np.uint8)
    plain = check_alignment(moved(target, (0, 9)), colour)
    assert plain.shift == (0, 9)
    assert check_alignment(moved(target, (0, 9)), np.concatenate([colour, noise], -1)) == plain


def test_holes_and_bands_are_no_edges(scene):
    guide, target = scene
    holed = target.copy()
    holed[:, :20] = np.nan
    holed[30:45, 60:80] = np.nan
    assert check_alignment(holed, guide).coincide
    assert check_alignment(moved(holed, (0, 9)), guide).shift == (0, 9)


NOISE = np.random.default_rng(1).standard_normal((2, *SHAPE))


@pytest.mark.parametrize(
    ("target", "guide"),
    [
        (NOISE[0], NOISE[1]),
        (np.zeros(SHAPE), NOISE[1]),
        (NOISE[0], np.zeros(SHAPE)),
        (np.full(SHAPE, np.nan), NOISE[1]),
        (np.add.outer(np.arange(96), np.arange(128)), NOISE[1]),
        (np.ones((1, 1)), np.ones((1, 1))),
        (NOISE[0, :1], NOISE[1, :1]),
        (NOISE[0, :2, :2], NOISE[1, :2, :2]),
    ],
)
def test_nothing_is_said_in_doubt(target, guide):
    found = check_alignment(target, guide)
    assert found.coincide
    assert "no other shift" in found.because


def test_nothing_to_compare_means_no_shift():
    assert check_alignment(np.zeros(SHAPE), NOISE[0]).shift == (0, 0)


@pytest.mark.parametrize(
    ("target", "guide", "message"),
    [
        (np.ones((4, 4)), np.ones((8, 8)), r"target has shape \(4, 4\) but the guide \(8, 8\)"),
        (np.ones((4, 4, 3)), np.ones((4, 4)), r"target has shape \(4, 4, 3\)"),
        (np.ones((4, 4)), np.ones((2, 4, 4, 3)), r"guide has shape \(2, 4, 4, 3\)"),
        (np.ones((4, 4), complex), np.ones((4, 4)), "target has type complex128"),
    ],
)
def test_wrong_images_are_refused(target, guide, message):
    with pytest.raises(InputError, match=message):
        check_alignment(target, guide)
