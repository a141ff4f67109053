"""Operators without training, and the bank."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import (
    OperatorPair,
    bank,
    first_differences,
    join,
    random_frame,
    second_differences,
    turned,
)


def respond(group, image, row, column):
    """Responses of a group's atoms at one pixel."""
    values = np.array([image[row + r, column + c] for r, c in group.offsets])
    return group.coefficients_u @ values


@pytest.mark.parametrize("distance", [1, 2, 4, 8])
def test_first_differences_measure_slopes(distance):
    (group,) = first_differences((distance,), weight=2.0)
    rows, columns = np.indices((30, 30)).astype(float)
    image = 3 * rows + 5 * columns
    expected = np.array([5, 3, 8, -2]) * distance / np.sqrt(2)
    assert np.allclose(respond(group, image, 12, 12), expected)
    assert (group.weight, group.radius, len(group.offsets)) == (2.0, distance, 5)


@pytest.mark.parametrize("distance", [1, 4])
def test_second_differences_measure_curvature(distance):
    group = second_differences(distance, weight=0.5)
    rows, columns = np.indices((30, 30)).astype(float)
    assert np.allclose(respond(group, 3 * rows - columns, 12, 12), 0)
    expected = np.array([2, 0, 2, 2]) * distance**2 / np.sqrt(6)
    assert np.allclose(respond(group, columns**2, 12, 12), expected)
    assert (group.weight, group.radius, len(group.offsets)) == (0.5, distance, 9)


@pytest.mark.parametrize("group", [*first_differences((1, 3)), second_differences(2)])
def test_differences_are_unit_without_mean_and_the_same_for_both(group):
    assert np.array_equal(group.coefficients_u, group.coefficients_v)
    assert np.allclose(np.linalg.norm(group.coefficients_u, axis=1), 1)
    assert np.allclose(group.coefficients_u.sum(axis=1), 0)


def test_distance_of_nothing_is_refused():
    with pytest.raises(InputError, match="distance 0"):
        first_differences((1, 0))


@pytest.mark.parametrize(("side", "atoms"), [(2, 3), (2, 8), (3, 18), (3, 9), (5, 50)])
def test_random_frame_is_tight_unit_and_without_mean(side, atoms):
    frame = random_frame(side, atoms).groups[0].coefficients_u
    n = side**2
    assert frame.shape == (atoms, n)
    assert np.allclose(np.linalg.norm(frame, axis=1), 1, rtol=0, atol=1e-12)
    assert np.abs(frame.sum(axis=1)).max() < 1e-12
    centred = np.eye(n) - 1 / n
    assert np.allclose(frame.T @ frame, atoms / (n - 1) * centred, rtol=0, atol=1e-8)


def test_random_frame_repeats_with_its_seed_only():
    frames = [random_frame(seed=seed).groups[0].coefficients_u for seed in (3, 3, 4)]
    assert np.array_equal(frames[0], frames[1])
    assert not np.allclose(frames[0], frames[2])


def test_frame_with_too_few_atoms_is_refused():
    with pytest.raises(InputError, match="8 atoms"):
        random_frame(3, 7)


def test_bank_joins_learned_atoms_and_differences():
    learned = random_frame(3, 18)
    whole = bank(learned)
    assert [len(group.coefficients_u) for group in whole.groups] == [36] + 7 * [4]
    assert [group.weight for group in whole.groups] == [1.0] + 4 * [4.0] + 3 * [0.5]
    assert [group.radius for group in whole.groups] == [1, 2, 4, 8, 16, 2, 4, 8]
    assert whole.atoms == 64
    assert whole.weight_sum == 36 + 64 + 6
    assert whole.metadata["learned"] == learned.metadata


def test_turned_atoms_respond_to_the_turned_image():
    pair = turned(random_frame(3, 9))
    atoms, copies = np.split(pair.groups[0].coefficients_v, 2)
    patch = np.random.default_rng(0).standard_normal((3, 3))
    np.testing.assert_allclose(copies @ np.rot90(patch).ravel(), atoms @ patch.ravel(), atol=1e-12)


def test_differences_do_not_turn():
    with pytest.raises(InputError, match="5 offsets"):
        turned(OperatorPair(first_differences()))


def test_join_keeps_order_and_says_where_it_comes_from():
    frame, group = random_frame(), second_differences(2)
    joined = join(group, frame, metadata={"kind": "test"})
    assert joined.groups == (group, *frame.groups)
    assert joined.metadata == {"kind": "test"}
