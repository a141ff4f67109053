"""The learning cost: coupled sparsity of the patches plus penalties on both operators."""

from __future__ import annotations

from functools import partial
from threading import local

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.mapping import Map

from ._penalties import CoherencePenalty, Matrix, RankPenalty
from ._products import ONE_THREAD

Block = NDArray[np.float32]
BLOCKS_AT_ONCE = 8
"""Blocks in one call of the map: long enough for threads to be worth it."""
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
    map_ : callable
        Like the built-in `map`; runs the blocks, perhaps in threads. Changes no bit.
    """

    def __init__(
        self, patches_u: Block, patches_v: Block, nu: float, atoms: int, map_: Map = map
    ) -> None:
        self._samples = patches_u.shape[1]
        self._root = float(np.sqrt(nu))
        width = _block_width(atoms, max(len(patches_u), len(patches_v)), self._samples)
        self._blocks = list(zip(_cut(patches_u, width), _cut(patches_v, width), strict=True))
        # the gradient's product is half again as fast with its right factor stored row by row
        self._turned = [(_turn(u), _turn(v)) for u, v in self._blocks]
        self._factors = _factors_of_a_product(nu * (_square(patches_u) + _square(patches_v)))
        self._map, self._own = map_, local()
        self._size = atoms, width
        self._parts = [
            slice(first, first + BLOCKS_AT_ONCE)
            for first in range(0, len(self._blocks), BLOCKS_AT_ONCE)
        ]

    def value(self, u: Matrix, v: Matrix) -> float:
        """Cost of the operators u (k, n_u) and v (k, n_v), rows of unit length."""
        work = partial(self._values, self._scaled(u), self._scaled(v))
        total = 0.0
        for part in self._map(work, self._parts):
            for value in part:  # block by block: whoever works, the sum has the same bits
                total += value
        return float(total / self._samples)

    def gradient(self, u: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """Gradients by both operators, (k, n_u) and (k, n_v)."""
        work = partial(self._gradients, self._scaled(u), self._scaled(v))
        total_u, total_v = np.zeros(u.shape), np.zeros(v.shape)
        for part in self._map(work, self._parts):
            for block_u, block_v in part:
                total_u += block_u
                total_v += block_v
        scale = 2 * self._root / self._samples
        return scale * total_u, scale * total_v

    def _values(self, u: Block, v: Block, part: slice) -> list[float]:
        found = []
        for blocks in self._blocks[part]:
            *_, ratio, _ = self._respond(u, v, *blocks)
            product = np.multiply.reduce(ratio.reshape(self._factors, -1), axis=0)
            found.append(float(np.log(product, out=product).sum(dtype=np.float64)))
        return found

    def _gradients(self, u: Block, v: Block, part: slice) -> list[tuple[Block, Block]]:
        found = []
        for blocks, (turned_u, turned_v) in zip(
            self._blocks[part], self._turned[part], strict=True
        ):
            a, b, ratio, _ = self._respond(u, v, *blocks)
            np.divide(a, ratio, out=a)
            np.divide(b, ratio, out=b)
            found.append((a @ turned_u, b @ turned_v))
        return found

    def _scaled(self, operator: Matrix) -> Block:
        return (self._root * operator).astype(np.float32)

    def _respond(self, u: Block, v: Block, block_u: Block, block_v: Block) -> Block:
        """Fill this thread's buffers: both responses, the ratios 1 + nu (a^2 + b^2), a rest."""
        if not hasattr(self._own, "buffers"):
            self._own.buffers = np.empty((4, *self._size), np.float32)
        buffers: Block = self._own.buffers
        a, b, ratio, square = buffers
        np.matmul(u, block_u, out=a)
        np.matmul(v, block_v, out=b)
        np.multiply(a, a, out=ratio)
        np.multiply(b, b, out=square)
        ratio += square
        ratio += 1
        return buffers


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
    map_ : callable
        Like the built-in `map`; see `CoupledSparsity`.
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
        map_: Map = map,
    ) -> None:
        self._columns = len(patches_u)
        self._sparsity = CoupledSparsity(patches_u, patches_v, nu, atoms, map_)
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
