"""Coupled and mutual co-sparsity of two images as sums over pixels, with derivatives.

With a, b the responses of both operators, w the overlap weight and nu the sparsity's parameter:
J = sum w log(1 + nu (a^2 + b^2)), MU = sum w log(1 + nu a^2), MV = sum w log(1 + nu b^2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.operators import AtomGroup, OperatorPair
from napari_cosparse.core.types import Plane

from ._samples import Samples
from ._warped import Warped

NU = 10.0  # in units of the images' contrasts; see decision 10
PRODUCT = 5  # factors 1 + nu (a^2 + b^2) whose product float32 holds with room to spare
Vector = NDArray[np.float64]


class Evaluation(NamedTuple):
    """A cost and its derivatives along the algebra's basis.

    Attributes
    ----------
    cost : float
        No unit.
    slope : ndarray, shape (d,)
        First derivatives.
    scale : float
        Factor from sums over pixels to the cost, for the curvature.
    overlap : float
        Share of the sampled weight that lies inside the moving image.
    """

    cost: float
    slope: Vector
    scale: float
    overlap: float


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


class Sums(NamedTuple):
    """J, MU and MV of some pixels, and their derivatives with respect to [A b] of the motion."""

    values: Vector  # (3,)
    slopes: Vector  # (3, 2, 3)
    weight: float


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
        self._atoms = [_matrices(pair, side, self.radius, self.dtype) for side in "uv"]
        self._nu = self.dtype.type(nu)
        weights = np.concatenate([np.full(len(g.coefficients_u), g.weight) for g in pair.groups])
        self._weights = weights.astype(self.dtype)
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
        a = self._atoms[0] @ self._patches(samples.values)
        energy = self._nu * a * a
        return Fixed(energy, self._sparsity(1 + energy))

    def sum(self, fixed: Fixed, warped: Warped) -> Sums:
        """Sum over some blocks.

        Parameters
        ----------
        fixed : Fixed
            Of the same blocks.
        warped : Warped
            The moving image there.

        Returns
        -------
        Sums
            In float64.
        """
        w = _blocks_last(warped.weight).reshape(-1)
        b = self._atoms[1] @ self._patches(warped.values)
        own = self._nu * b
        own *= b
        own += 1
        both = fixed.energy + own
        parts = np.stack([self._sparsity(both), fixed.sparsity, self._sparsity(own)])
        b *= (2 * self._nu) * self._weights[:, None] * w
        np.divide(b, both, out=both)
        np.divide(b, own, out=own)
        slopes = warped.weight_moments(_blocks_first(parts, warped.weight.shape))
        slopes[[0, 2]] += warped.moments(self._adjoint(both, own, warped.values.shape))
        return Sums(parts.astype(np.float64) @ w.astype(np.float64), slopes, float(w.sum()))

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
        b = self._atoms[1] @ self._patches(warped.values)
        w = _blocks_last(warped.weight).reshape(-1)
        pull = (2 * self._nu) * self._weights[:, None] * w / (1 + fixed.energy + self._nu * b * b)
        root = np.sqrt(pull)
        steps = [
            (root * (self._atoms[1] @ self._patches(step))).reshape(-1)
            for step in warped.along(basis)
        ]
        rows = np.stack(steps)
        return np.asarray(rows @ rows.T, np.float64)

    def _patches(self, blocks: Plane) -> Plane:
        """Patches at the centres of blocks, one per column, shape (pixels, centres)."""
        width, side = 2 * self.radius + 1, blocks.shape[1] - 2 * self.radius
        planes = _blocks_last(blocks)
        out = np.empty((width * width, side, side, len(blocks)), self.dtype)
        for tap in range(width * width):
            row, column = divmod(tap, width)
            out[tap] = planes[row : row + side, column : column + side]
        return out.reshape(width * width, -1)

    def _adjoint(self, joint: Plane, alone: Plane, shape: tuple[int, ...]) -> Plane:
        """Adjoint of the patches' responses for two weights, shape (2, blocks, s, s)."""
        width, side = 2 * self.radius + 1, shape[1] - 2 * self.radius
        out = np.zeros((2, *shape[1:], shape[0]), self.dtype)
        for planes, pull in zip(out, (joint, alone), strict=True):
            back = (self._atoms[1].T @ pull).reshape(width * width, side, side, shape[0])
            for tap in range(width * width):
                row, column = divmod(tap, width)
                part = planes[row : row + side, column : column + side]
                part += back[tap]  # unlike planes[...] += ..., this copies nothing back
        return np.moveaxis(out, -1, 1)

    def _sparsity(self, energy: Plane) -> Plane:
        """Weighted sum over the atoms of log(energy): few logarithms of products where it can."""
        if not self._equal or len(energy) % PRODUCT:
            return self._weights @ np.log(energy)
        product = energy[: len(energy) // PRODUCT].copy()
        for start in range(len(product), len(energy), len(product)):
            product *= energy[start : start + len(product)]
        out: Plane = self._weights[0] * np.log(product).sum(0)
        return out


def _blocks_last(blocks: Plane) -> Plane:
    """Put the same place of all blocks in a row, shape (s, s, blocks): long runs in memory."""
    return np.ascontiguousarray(np.moveaxis(blocks, 0, -1))


def _blocks_first(planes: Plane, shape: tuple[int, ...]) -> Plane:
    """Undo `_blocks_last` for several quantities, shape (n, *shape)."""
    return np.moveaxis(planes.reshape(-1, *shape[1:], shape[0]), -1, 1)


def _matrices(pair: OperatorPair, side: str, radius: int, dtype: np.dtype[np.floating]) -> Plane:
    """All atoms of a bank over one square of pixels, shape (k, pixels)."""
    width = 2 * radius + 1
    rows = []
    for group in pair.groups:
        atoms = getattr(group, f"coefficients_{side}")
        full = np.zeros((len(atoms), width, width))
        full[:, group.offsets[:, 0] + radius, group.offsets[:, 1] + radius] = atoms
        rows.append(full.reshape(len(atoms), -1))
    return np.ascontiguousarray(np.concatenate(rows), dtype)


def mutual(sums: Sums, total: float) -> Evaluation:
    """C = (J - MU - MV) / sqrt(MU MV): normalised mutual co-sparsity, in [-1, 0] in practice.

    Parameters
    ----------
    sums : Sums
        Over all pixels.
    total : float
        Weight of all sampled pixels, for the overlap.

    Returns
    -------
    Evaluation
        Its slope has shape (2, 3).
    """
    joint, fixed, moving = sums.values
    product = fixed * moving
    if product <= 0:
        return Evaluation(0.0, np.zeros((2, 3)), 0.0, sums.weight / total)
    q = float(np.sqrt(product))
    deficit = joint - fixed - moving
    factors = np.array(
        [1 / q, -1 / q - deficit / (2 * q * fixed), -1 / q - deficit / (2 * q * moving)]
    )
    slope = np.tensordot(factors, sums.slopes, 1)
    return Evaluation(deficit / q, slope, 1 / q, sums.weight / total)


def coupled(sums: Sums, total: float) -> Evaluation:
    """J per sampled pixel: the coupled sparsity of the paper, eq. (coupling), over the overlap.

    Parameters
    ----------
    sums : Sums
        Over all pixels.
    total : float
        Weight of all sampled pixels.

    Returns
    -------
    Evaluation
        Its minima are degenerate: little overlap, or a zoom into flat parts, lower it as well.
    """
    share = 1 / total
    return Evaluation(sums.values[0] * share, sums.slopes[0] * share, share, sums.weight * share)


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
