"""Operators that need no training, and the bank that joins them with a learned pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._pair import AtomGroup, OperatorPair
from ._penalties import complement_basis

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Row and column steps: horizontal, vertical and both diagonals."""


def first_differences(
    distances: Sequence[int] = (1,), weight: float = 1.0
) -> tuple[AtomGroup, ...]:
    """Differences of two pixels, (-1, 1)/sqrt 2, in 4 directions; the same atoms for U and V.

    Parameters
    ----------
    distances : sequence of int
        Distances of the two pixels along an axis or both axes, in pixels; one group for each.
    weight : float
        Weight of each atom.

    Returns
    -------
    tuple of AtomGroup
        One group of 4 atoms with 5 offsets for each distance.
    """
    steps = np.array(DIRECTIONS)
    atoms = np.hstack([-np.ones((4, 1)), np.eye(4)]) / np.sqrt(2)
    pattern = np.vstack([[(0, 0)], steps])
    return tuple(
        AtomGroup(pattern * _distance(distance), atoms, atoms, weight) for distance in distances
    )


def second_differences(distance: int = 1, weight: float = 1.0) -> AtomGroup:
    """Second differences, (1, -2, 1)/sqrt 6, in 4 directions; the same atoms for U and V.

    Parameters
    ----------
    distance : int
        Distance of neighbouring coefficients along an axis or both axes, in pixels.
    weight : float
        Weight of each atom.

    Returns
    -------
    AtomGroup
        4 atoms with 9 offsets.
    """
    steps = np.array(DIRECTIONS)
    atoms = np.hstack([-2 * np.ones((4, 1)), np.eye(4), np.eye(4)]) / np.sqrt(6)
    pattern = np.vstack([[(0, 0)], steps, -steps])
    return AtomGroup(pattern * _distance(distance), atoms, atoms, weight)


def _distance(distance: int) -> int:
    if distance < 1:
        raise InputError(f"distance {distance} of a difference must be at least 1 pixel")
    return int(distance)


def random_frame(side: int = 3, atoms: int = 18, seed: int = 0) -> OperatorPair:
    """Random tight frame of zero-mean unit rows, the same for U and V: learning's control.

    Alternates between the nearest tight frame and unit rows until both hold.

    Parameters
    ----------
    side : int
        Side of the patches, in pixels; at least 2.
    atoms : int
        Number of rows, at least ``side**2 - 1``.
    seed : int
        Seed of the random start.

    Returns
    -------
    OperatorPair
        The frame as a pair with one group.

    Raises
    ------
    InputError
        If there are too few atoms for a frame.
    """
    dimension = side**2 - 1
    if side < 2 or atoms < dimension:
        raise InputError(
            f"{atoms} atoms for patches of side {side}: a frame needs a side of at least 2 and "
            f"at least side**2 - 1 = {dimension} atoms"
        )
    rows = _unit(np.random.default_rng(seed).standard_normal((atoms, dimension)))
    for _ in range(1000):
        left, values, right = np.linalg.svd(rows, full_matrices=False)
        if np.ptp(values) < 1e-10:
            break
        rows = _unit(left @ right)
    frame = rows @ complement_basis(side**2).T
    metadata = {"kind": "random frame", "side": side, "atoms": atoms, "seed": seed}
    return OperatorPair.from_patches(frame, frame, metadata)


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def join(
    *parts: AtomGroup | OperatorPair, metadata: Mapping[str, Any] | None = None
) -> OperatorPair:
    """Put groups and whole pairs into one bank.

    Parameters
    ----------
    *parts : AtomGroup or OperatorPair
        What to join, in this order.
    metadata : mapping, optional
        Provenance of the bank.

    Returns
    -------
    OperatorPair
        A pair with the groups of all parts.
    """
    groups: list[AtomGroup] = []
    for part in parts:
        groups.extend(part.groups if isinstance(part, OperatorPair) else (part,))
    return OperatorPair(tuple(groups), dict(metadata or {}))


def turned(pair: OperatorPair) -> OperatorPair:
    """Add to each atom its copy turned by 90 degrees: scenes have no preferred direction.

    Parameters
    ----------
    pair : OperatorPair
        Groups over square patches.

    Returns
    -------
    OperatorPair
        Twice as many atoms, U and V turned alike.

    Raises
    ------
    InputError
        If a group is not a square patch.
    """
    groups = []
    for group in pair.groups:
        square = group.side_and_dilation
        if square is None:
            raise InputError(
                f"a group with {len(group.offsets)} offsets is no square patch; only those turn"
            )
        u, v = (
            np.concatenate([atoms, _turn(atoms, square[0])])
            for atoms in (group.coefficients_u, group.coefficients_v)
        )
        groups.append(AtomGroup(group.offsets, u, v, group.weight))
    return OperatorPair(tuple(groups), dict(pair.metadata))


def _turn(atoms: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    return np.rot90(atoms.reshape(-1, side, side), axes=(1, 2)).reshape(len(atoms), -1)


def bank(
    learned: OperatorPair,
    *,
    turn: bool = True,
    first: Sequence[int] = (2, 4, 8, 16),
    second: Sequence[int] = (2, 4, 8),
    weights: tuple[float, float, float] = (1.0, 4.0, 0.5),
) -> OperatorPair:
    """Join a learned pair with differences at a distance, the form that upsamples best.

    The defaults are those of the shipped bank.

    Parameters
    ----------
    learned : OperatorPair
        Learned pair, 3x3 patches for the shipped bank.
    turn : bool
        Add the learned atoms' copies turned by 90 degrees.
    first, second : sequence of int
        Distances of the first and of the second differences, in pixels.
    weights : tuple of float
        Weights of the learned atoms, the first and the second differences.

    Returns
    -------
    OperatorPair
        The bank; its metadata names the parts.

    Raises
    ------
    InputError
        If atoms shall turn that are no square patch.
    """
    pair = turned(learned) if turn else learned
    parts = [replace(group, weight=group.weight * weights[0]) for group in pair.groups]
    parts.extend(first_differences(first, weights[1]))
    parts.extend(second_differences(distance, weights[2]) for distance in second)
    metadata = {
        "kind": "bank",
        "learned": dict(learned.metadata),
        "turned": turn,
        "first_differences": list(first),
        "second_differences": list(second),
        "weights": list(weights),
    }
    return join(*parts, metadata=metadata)
