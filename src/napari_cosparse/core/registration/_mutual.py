"""Coupled and mutual co-sparsity of two images as sums over pixels, with derivatives.

With a, b the responses of both operators, w the overlap weight and nu the sparsity's parameter:
J = sum w log(1 + nu (a^2 + b^2)), MU = sum w log(1 + nu a^2), MV = sum w log(1 + nu b^2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from napari_cosparse.core.operators import AtomGroup, OperatorPair
from napari_cosparse.core.types import Plane

from ._measures import Vector
from ._part import Part, blocks_last, patches
from ._samples import Samples
from ._warped import Warped

NU = 10.0  # in units of the images' contrasts; see decision 10
PRODUCT = 5  # factors 1 + nu (a^2 + b^2) whose product float32 holds with room to spare


@dataclass(frozen=True)
class Fixed:
    """What a tile needs to know of the fixed image.

    Attributes
    ----------
    energy : ndarray, shape (k, centres)
        nu a^2.
    sparsity : ndarray, shape (centres,)
        sum over atoms of log(1 + nu a^2).
    """

    energy: Plane
    sparsity: Plane


class CoSparsity:
    """Sums of co-sparsity measures over tiles of sampled pixels.

    Parameters
    ----------
    pair : OperatorPair
        A bank; all groups are used with their weights.
    dtype : dtype-like
        Arithmetic.
    nu : float
        Parameter of the sparsity, in units of the images' contrasts.
    """

    def __init__(
        self, pair: OperatorPair, dtype: type[np.floating] = np.float32, nu: float = NU
    ) -> None:
        self.radius = pair.radius
        self.dtype = np.dtype(dtype)
        root = np.sqrt(nu)  # the responses are only ever squared times nu
        self._atoms = [_matrices(pair, side, self.radius, self.dtype, root) for side in "uv"]
        weights = np.concatenate([np.full(len(g.coefficients_u), g.weight) for g in pair.groups])
        self._weights = weights.astype(self.dtype)
        self._back = np.ascontiguousarray((self._atoms[1] * (2 * self._weights)[:, None]).T)
        self._equal = bool((weights == weights[0]).all())

    def prepare(self, samples: Samples) -> Fixed:
        """Responses of the fixed image.

        Parameters
        ----------
        samples : Samples
            Blocks of the fixed image.

        Returns
        -------
        Fixed
        """
        a = self._atoms[0] @ patches(samples.values.astype(self.dtype, copy=False), self.radius)
        energy = a * a
        return Fixed(energy, self._sparsity(1 + energy))

    def measure(self, fixed: Fixed, warped: Warped) -> Part:
        """Sum over some blocks.

        Parameters
        ----------
        fixed : Fixed
            Of the same blocks.
        warped : Warped
            The moving image there.

        Returns
        -------
        Part
            Its values are in float64.
        """
        w = blocks_last(warped.weight).reshape(-1).astype(np.float64)
        b = self._atoms[1] @ patches(warped.values, self.radius)
        own = b * b
        own += 1
        both = fixed.energy + own
        logarithms = np.stack([self._sparsity(both), fixed.sparsity, self._sparsity(own)])
        values = logarithms.astype(np.float64) @ w
        return Part(values, float(w.sum()), warped, logarithms, b, (both, own), self._back)

    def curvature(self, fixed: Fixed, warped: Warped, basis: Vector) -> Vector:
        """Majorised second derivatives of J over some blocks.

        Parameters
        ----------
        fixed : Fixed
            Of the same blocks.
        warped : Warped
            The moving image there.
        basis : ndarray, shape (d, 3, 3)
            Directions.

        Returns
        -------
        ndarray, shape (d, d)
            In float64.
        """
        b = self._atoms[1] @ patches(warped.values, self.radius)
        w = blocks_last(warped.weight).reshape(-1)
        pull = 2 * self._weights[:, None] * w / (1 + fixed.energy + b * b)
        root = np.sqrt(pull)
        steps = [
            (root * (self._atoms[1] @ patches(step, self.radius))).reshape(-1)
            for step in warped.along(basis)
        ]
        rows = np.stack(steps)
        return np.asarray(rows @ rows.T, np.float64)

    def _sparsity(self, energy: Plane) -> Plane:
        """Weighted sum over the atoms of log(energy): few logarithms of products where it can."""
        if not self._equal or len(energy) % PRODUCT:
            return self._weights @ np.log(energy)
        product = energy[: len(energy) // PRODUCT].copy()
        for start in range(len(product), len(energy), len(product)):
            product *= energy[start : start + len(product)]
        out: Plane = self._weights[0] * np.log(product).sum(0)
        return out


def _matrices(
    pair: OperatorPair, side: str, radius: int, dtype: np.dtype[np.floating], size: float
) -> Plane:
    """All atoms of a bank over one square of pixels, times a number: shape (k, pixels)."""
    width = 2 * radius + 1
    rows = []
    for group in pair.groups:
        atoms = getattr(group, f"coefficients_{side}")
        full = np.zeros((len(atoms), width, width))
        full[:, group.offsets[:, 0] + radius, group.offsets[:, 1] + radius] = atoms
        rows.append(full.reshape(len(atoms), -1))
    return np.ascontiguousarray(size * np.concatenate(rows), dtype)


def swapped_pair(pair: OperatorPair) -> OperatorPair:
    """Exchange the modalities of a pair.

    Parameters
    ----------
    pair : OperatorPair
        Any bank.

    Returns
    -------
    OperatorPair
    """
    groups = tuple(
        AtomGroup(group.offsets, group.coefficients_v, group.coefficients_u, group.weight)
        for group in pair.groups
    )
    return OperatorPair(groups, pair.metadata)
