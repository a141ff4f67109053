"""The learning cost: coupled sparsity of the patches plus penalties on both operators."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._penalties import CoherencePenalty, Matrix, RankPenalty
from ._products import ONE_THREAD

Block = NDArray[np.float32]
LOG_MAX = 80.0
"""Logarithm of the largest product of ratios that float32 is asked to hold (it holds 88)."""


class CoupledSparsity:
    """Mean over the patches of g, eq. (coupling): sum_j log(1 + nu (a_j^2 + b_j^2)).

    Patches are kept in blocks that fit the processor's cache; products and ratios are float32,
    sums over blocks float64 and in a fixed order.

    Parameters
    ----------
    patches_u : ndarray, shape (n_u, M), float32
        Patches of modality U, one a column.
    patches_v : ndarray, shape (n_v, M), float32
        Patches of modality V.
    nu : float
        Weight of the squares, positive.
    atoms : int
        Number of rows k of the operators that will be evaluated.
    """

    def __init__(self, patches_u: Block, patches_v: Block, nu: float, atoms: int) -> None:
        self._samples = patches_u.shape[1]
        self._root = float(np.sqrt(nu))
        width = _block_width(atoms, max(len(patches_u), len(patches_v)), self._samples)
        self._blocks = list(zip(_cut(patches_u, width), _cut(patches_v, width), strict=True))
        # the gradient's product is half again as fast with its right factor stored row by row
        self._turned = [(_turn(u), _turn(v)) for u, v in self._blocks]
        self._factors = _factors_of_a_product(nu * (_square(patches_u) + _square(patches_v)))
        self._u, self._v, self._ratio, self._square = np.empty((4, atoms, width), np.float32)

    def value(self, u: Matrix, v: Matrix) -> float:
        """Cost of the operators u (k, n_u) and v (k, n_v), rows of unit length."""
        scaled_u, scaled_v = self._scaled(u), self._scaled(v)
        total = 0.0
        for block_u, block_v in self._blocks:
            self._respond(scaled_u, scaled_v, block_u, block_v)
            product = np.multiply.reduce(self._ratio.reshape(self._factors, -1), axis=0)
            total += float(np.log(product, out=product).sum(dtype=np.float64))
        return float(total / self._samples)

    def gradient(self, u: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """Gradients by both operators, (k, n_u) and (k, n_v)."""
        scaled_u, scaled_v = self._scaled(u), self._scaled(v)
        total_u, total_v = np.zeros(u.shape), np.zeros(v.shape)
        for (block_u, block_v), (turned_u, turned_v) in zip(
            self._blocks, self._turned, strict=True
        ):
            self._respond(scaled_u, scaled_v, block_u, block_v)
            np.divide(self._u, self._ratio, out=self._u)
            np.divide(self._v, self._ratio, out=self._v)
            total_u += self._u @ turned_u
            total_v += self._v @ turned_v
        scale = 2 * self._root / self._samples
        return scale * total_u, scale * total_v

    def _scaled(self, operator: Matrix) -> Block:
        return (self._root * operator).astype(np.float32)

    def _respond(self, u: Block, v: Block, block_u: Block, block_v: Block) -> None:
        """Fill the buffers with the responses and the ratios 1 + nu (a^2 + b^2)."""
        np.matmul(u, block_u, out=self._u)
        np.matmul(v, block_v, out=self._v)
        np.multiply(self._u, self._u, out=self._ratio)
        np.multiply(self._v, self._v, out=self._square)
        self._ratio += self._square
        self._ratio += 1


def _block_width(atoms: int, coefficients: int, samples: int) -> int:
    """Patches in a block: a multiple of 8 whose products BLAS does not divide among threads."""
    most = ONE_THREAD // (atoms * coefficients) // 8 * 8
    return max(8, min(most, -(-samples // 8) * 8))


def _cut(patches: Block, width: int) -> list[Block]:
    """Blocks of columns; the last is filled up with zeros, which add nothing to the cost."""
    n, samples = patches.shape
    padded = np.zeros((n, -(-samples // width) * width), np.float32)
    padded[:, :samples] = patches
    return [
        np.ascontiguousarray(padded[:, start : start + width])
        for start in range(0, padded.shape[1], width)
    ]


def _turn(block: Block) -> Block:
    return np.ascontiguousarray(block.T)


def _square(patches: Block) -> float:
    """Largest squared length of a patch, the bound of a unit row's squared response."""
    return float(np.einsum("ij,ij->j", patches, patches).max())


def _factors_of_a_product(bound: float) -> int:
    """How many ratios up to 1 + bound may be multiplied before one log: 8, 4, 2 or 1."""
    fit = LOG_MAX / np.log1p(bound)
    return next((count for count in (8, 4, 2) if count <= fit), 1)


class LearningCost:
    """Eq. (learning_func): coupled sparsity plus rank and coherence penalties of both operators.

    A point is the (k, n_u + n_v) array of both operators side by side.

    Parameters
    ----------
    patches_u : ndarray, shape (n_u, M), float32
        Patches of modality U, one a column, without mean.
    patches_v : ndarray, shape (n_v, M), float32
        Patches of modality V.
    atoms : int
        Number of rows k of both operators.
    nu : float
        Weight of the squared responses.
    kappa : tuple of float
        Weights of the rank penalty for U and V.
    mu : tuple of float
        Weights of the coherence penalty for U and V.
    """

    def __init__(
        self,
        patches_u: Block,
        patches_v: Block,
        *,
        atoms: int,
        nu: float,
        kappa: tuple[float, float],
        mu: tuple[float, float],
    ) -> None:
        self._columns = len(patches_u)
        self._sparsity = CoupledSparsity(patches_u, patches_v, nu, atoms)
        self._ranks = (RankPenalty(len(patches_u)), RankPenalty(len(patches_v)))
        self._coherence = CoherencePenalty()
        self._kappa, self._mu = kappa, mu

    def value(self, point: Matrix) -> float:
        """Cost at a point; infinite if an operator loses rank or two of its rows coincide."""
        operators = self._split(point)
        penalty = 0.0
        for operator, rank, kappa, mu in zip(
            operators, self._ranks, self._kappa, self._mu, strict=True
        ):
            penalty += kappa * rank.value(operator) + mu * self._coherence.value(operator)
        if not np.isfinite(penalty):
            return float("inf")
        return penalty + self._sparsity.value(*operators)

    def gradient(self, point: Matrix) -> Matrix:
        """Gradient in the space of all matrices, same shape as the point."""
        operators = self._split(point)
        parts = [
            data + kappa * rank.gradient(operator) + mu * self._coherence.gradient(operator)
            for data, operator, rank, kappa, mu in zip(
                self._sparsity.gradient(*operators),
                operators,
                self._ranks,
                self._kappa,
                self._mu,
                strict=True,
            )
        ]
        return np.concatenate(parts, axis=1)

    def _split(self, point: Matrix) -> tuple[Matrix, Matrix]:
        return point[:, : self._columns], point[:, self._columns :]
