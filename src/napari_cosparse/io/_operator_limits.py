"""Limits that a pair must keep to be written to a file and read back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import OperatorPair

MAX_BYTES = 64 * 2**20
MAX_GROUPS = 64
MAX_ATOMS = 4096
MAX_RADIUS = 256  # pixels; an atom that reaches further would make every halo as large
MEAN_TOLERANCE = 1e-6  # of the atom's length
SMALLEST, LARGEST = 1e-6, 1e6  # length of an atom: learned ones have length 1


def check_pair(pair: OperatorPair) -> None:
    """Refuse a pair that breaks a limit of the format or of the model.

    Parameters
    ----------
    pair : OperatorPair
        The pair to look at.

    Raises
    ------
    InputError
        If there are too many groups or atoms, an atom reaches too far, is all but zero or huge, an
        offset comes twice, or
        an atom's coefficients do not add up to zero (constants would then cost something).
    """
    if len(pair.groups) > MAX_GROUPS:
        raise InputError(
            f"the pair has {len(pair.groups)} groups; at most {MAX_GROUPS} are allowed"
        )
    if pair.atoms > MAX_ATOMS:
        raise InputError(f"the pair has {pair.atoms} atoms; at most {MAX_ATOMS} are allowed")
    for index, group in enumerate(pair.groups):
        # bounds one by one: the absolute value of the smallest integer overflows
        if group.offsets.min() < -MAX_RADIUS or group.offsets.max() > MAX_RADIUS:
            raise InputError(f"group {index} reaches further than {MAX_RADIUS} pixels, the limit")
        if len(np.unique(group.offsets, axis=0)) < len(group.offsets):
            raise InputError(f"group {index} has the same offset more than once")
        _check_length(group.coefficients_u, f"atom {{}} of U in group {index}")
        _check_length(group.coefficients_v, f"atom {{}} of V in group {index}")
        _check_mean(group.coefficients_u, f"atom {{}} of U in group {index}")
        _check_mean(group.coefficients_v, f"atom {{}} of V in group {index}")


def _check_length(atoms: NDArray[np.float64], name: str) -> None:
    """Refuse atoms that say nothing, or that float32 arithmetic cannot carry."""
    largest = np.abs(atoms).max(1)
    off = (largest < SMALLEST) | (largest > LARGEST)
    if off.any():
        worst = int(np.flatnonzero(off)[0])
        raise InputError(
            f"{name.format(worst)} has coefficients up to {largest[worst]:.3g}; they must lie "
            f"between {SMALLEST:g} and {LARGEST:g}, as those of learned atoms (length 1) do"
        )


def _check_mean(atoms: NDArray[np.float64], name: str) -> None:
    """Refuse atoms whose coefficients do not add up to zero."""
    # scaled first: squares of very large or small coefficients leave the range of float64
    scale = np.maximum(np.abs(atoms).max(1), np.finfo(float).tiny)
    scaled = atoms / scale[:, None]
    off = np.abs(scaled.sum(1)) > MEAN_TOLERANCE * np.sqrt((scaled**2).sum(1))
    if off.any():
        worst = int(np.flatnonzero(off)[0])
        raise InputError(
            f"{name.format(worst)} has coefficients that add up to {atoms[worst].sum():.3g}; "
            "an analysis atom must add up to 0"
        )
