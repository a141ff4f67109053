"""The operator pair: a bank of coupled atoms for two modalities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError

MODALITY_COLUMNS = ("coefficients_u", "coefficients_v")


@dataclass(frozen=True, eq=False)
class AtomGroup:
    """Atoms that share one pattern of offsets and one weight.

    Attributes
    ----------
    offsets : ndarray, shape (n, 2), int
        Row and column of each coefficient relative to the pixel, in pixels.
    coefficients_u : ndarray, shape (k, n), float64
        Atoms (rows) of modality U: guide or fixed image. No unit.
    coefficients_v : ndarray, shape (k, n), float64
        Atoms (rows) of modality V: target or moving image. No unit.
    weight : float
        Weight of the group's atoms in the cost.
    """

    offsets: NDArray[np.int64]
    coefficients_u: NDArray[np.float64]
    coefficients_v: NDArray[np.float64]
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Freeze the arrays and refuse shapes that do not fit together."""
        offsets = np.array(self.offsets, np.int64)
        if offsets.ndim != 2 or offsets.shape[1] != 2 or not len(offsets):
            raise InputError(f"offsets have shape {offsets.shape}; an atom group needs (n, 2)")
        for name in MODALITY_COLUMNS:
            atoms = np.array(getattr(self, name), np.float64)
            if atoms.ndim != 2 or atoms.shape[1] != len(offsets) or not len(atoms):
                raise InputError(
                    f"{name} has shape {atoms.shape}; with {len(offsets)} offsets it must be "
                    f"(k, {len(offsets)})"
                )
            if not np.isfinite(atoms).all():
                raise InputError(f"{name} has values that are not finite; learn the pair again")
            atoms.setflags(write=False)
            object.__setattr__(self, name, atoms)
        if self.coefficients_u.shape != self.coefficients_v.shape:
            raise InputError(
                f"{len(self.coefficients_u)} atoms for U but {len(self.coefficients_v)} for V; "
                "atoms come in pairs"
            )
        if not (np.isfinite(self.weight) and self.weight > 0):
            raise InputError(f"weight {self.weight} of an atom group must be positive and finite")
        offsets.setflags(write=False)
        object.__setattr__(self, "offsets", offsets)

    @property
    def radius(self) -> int:
        """Largest distance that an atom reaches along an axis, in pixels."""
        return int(np.abs(self.offsets).max())

    @property
    def dense(self) -> bool:
        """Whether the atoms compare neighbouring pixels (else pixels at a distance)."""
        steps = np.abs(self.offsets - self.offsets[0]).max(axis=1)
        return int(steps[steps > 0].min(initial=1 << 30)) == 1

    @property
    def side_and_dilation(self) -> tuple[int, int] | None:
        """Side of the square patch and distance of its pixels, or None for any other pattern."""
        side = isqrt(len(self.offsets))
        if side < 2 or side**2 != len(self.offsets):
            return None
        dilation = int(self.offsets[1, 1] - self.offsets[0, 1])
        if dilation < 1:
            return None
        same = np.array_equal(self.offsets, square_offsets(side, dilation))
        return (side, dilation) if same else None


def square_offsets(side: int, dilation: int = 1) -> NDArray[np.int64]:
    """Offsets of a square patch in row-major order.

    Parameters
    ----------
    side : int
        Pixels along one side of the patch. An even side reaches one step further down and right.
    dilation : int
        Distance of neighbouring coefficients, in pixels.

    Returns
    -------
    ndarray, shape (side**2, 2), int
        Row and column offsets, in pixels.
    """
    line = (np.arange(side) - (side - 1) // 2) * dilation
    return np.stack(np.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class OperatorPair:
    """A coupled pair of analysis operators: a bank of atoms for the modalities U and V.

    Attributes
    ----------
    groups : tuple of AtomGroup
        The parts of the bank. A plain learned pair has one.
    metadata : mapping
        Provenance as JSON values: modalities, training images, parameters, seed, diagnostics.
    """

    groups: tuple[AtomGroup, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an empty bank."""
        if not self.groups:
            raise InputError("an operator pair needs at least one group of atoms; got none")

    @classmethod
    def from_patches(
        cls, u: ArrayLike, v: ArrayLike, metadata: Mapping[str, Any] | None = None
    ) -> OperatorPair:
        """Make a plain pair from two matrices over square patches.

        Parameters
        ----------
        u, v : array_like, shape (k, side**2)
            Atoms of the modalities U and V, coefficients in row-major order.
        metadata : mapping, optional
            Provenance.

        Returns
        -------
        OperatorPair
            A bank with one group of weight 1.

        Raises
        ------
        InputError
            If the number of columns is not a square or the shapes differ.
        """
        matrix = np.asarray(u, np.float64)
        side = isqrt(matrix.shape[-1]) if matrix.ndim == 2 else 0
        if side < 2 or side**2 != matrix.shape[-1]:
            raise InputError(
                f"operator has shape {matrix.shape}; a square patch needs (k, side**2) columns"
            )
        group = AtomGroup(square_offsets(side), matrix, np.asarray(v, np.float64))
        return cls((group,), dict(metadata or {}))

    @property
    def atoms(self) -> int:
        """Number of atoms in all groups."""
        return sum(len(group.coefficients_u) for group in self.groups)

    @property
    def weight_sum(self) -> float:
        """Sum of the weights of all atoms (the K of the contract, per pixel)."""
        return sum(group.weight * len(group.coefficients_u) for group in self.groups)

    @property
    def radius(self) -> int:
        """Largest distance that any atom reaches along an axis, in pixels: the operator's halo."""
        return max(group.radius for group in self.groups)
