"""The cost of a motion at one pyramid level: sums over tiles of sampled blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair

from ._frame import Frame, Matrix
from ._measures import Evaluation, Vector, coupled, mutual
from ._mutual import NU, CoSparsity
from ._part import Part
from ._pyramid import Level
from ._samples import Samples, choose_samples
from ._warped import Moving

TILE = 96  # blocks: about 6000 patches; fewer spend more time on calls than on numbers
CURVATURE_TILE, CURVATURE_EVERY = 32, 4  # blocks, tiles: the curvature only shapes the first step
PIXELS = 15_000  # a level: notes on numerics, section 6


class Cost(Protocol):
    """What a solver needs to know of a measure at one level.

    Attributes
    ----------
    scale : float
        Pixels of the finest level per pixel of this one.
    frame : Frame
        Centres and unit of length.
    basis : ndarray, shape (d, 3, 3)
        Basis of the group's algebra.
    """

    scale: float
    frame: Frame
    basis: NDArray[np.float64]

    def __call__(self, tau: Matrix, most: float = np.inf) -> Evaluation:
        """Evaluate a motion.

        Parameters
        ----------
        tau : ndarray, shape (3, 3)
            Group element in normalised coordinates.
        most : float
            Where the cost exceeds this, its slope may be left out: it takes half of the time, and
            a line search needs none where it turns back.

        Returns
        -------
        Evaluation
            With slopes along the basis.
        """

    def curvature(self, tau: Matrix) -> NDArray[np.float64]:
        """Positive semidefinite model of the second derivatives.

        Parameters
        ----------
        tau : ndarray, shape (3, 3)
            Group element in normalised coordinates.

        Returns
        -------
        ndarray, shape (d, d)
        """

    def without_each(self, tau: Matrix, size: int, *, slopes: bool = True) -> list[Evaluation]:
        """Evaluate a motion with each part of the image left out in turn: for the jackknife.

        Parameters
        ----------
        tau : ndarray, shape (3, 3)
            Group element in normalised coordinates.
        size : int
            Blocks to a part, for the co-sparsity measures.
        slopes : bool
            With their slopes; they may be left out otherwise.

        Returns
        -------
        list of Evaluation
        """


class CoSparsityCost:
    """Mutual or coupled co-sparsity.

    Parameters
    ----------
    levels : tuple of Level
        Fixed and moving image.
    frame : Frame
        Centres and unit of length.
    basis : ndarray, shape (d, 3, 3)
        Basis of the group's algebra.
    pair : OperatorPair
        Operators.
    coupling : {"mutual", "coupled"}
        Which of the two.
    pixels : int
        Number of pixels that suffices.
    seed : int
        For the choice of the pixels.
    map_ : Map
        Applies a function to each tile.
    dtype : dtype-like
        Arithmetic; float64 serves checks.
    tile : int
        Blocks to a tile.
    nu : float
        Parameter of the sparsity.
    between : bool
        Read both images between their pixels; see `choose_samples`.
    """

    def __init__(
        self,
        levels: tuple[Level, Level],
        frame: Frame,
        basis: NDArray[np.float64],
        pair: OperatorPair,
        coupling: str = "mutual",
        pixels: int = PIXELS,
        seed: int = 0,
        map_: Map = map,
        dtype: type[np.floating] = np.float32,
        tile: int = TILE,
        *,
        nu: float = NU,
        between: bool = False,
    ) -> None:
        self.scale, self.frame, self.basis = levels[0].scale, frame, basis
        self._measure = mutual if coupling == "mutual" else coupled
        self._sparsity = CoSparsity(pair, dtype, nu)
        samples = choose_samples(levels[0], pair.radius, pixels, seed, between=between)
        self._samples = samples
        self._tiles = samples.parts(tile)
        self._fixed = [self._sparsity.prepare(part) for part in self._tiles]
        self._total = max(float(samples.weight.sum(dtype=np.float64)), 1.0)
        self._moving = Moving(levels[1], frame, pair.radius, dtype)
        self._map = map_
        self._seen: dict[bytes, Evaluation] = {}

    def __call__(self, tau: Matrix, most: float = np.inf) -> Evaluation:
        """Evaluate a motion; see `Cost`."""
        # the solver, the curvature and the jackknife ask for the same motion in turn
        key = tau.tobytes()
        if key not in self._seen or self._seen[key].lacks_slope(most):
            self._seen[key] = self._measured(self._parts(tau), most)
        return self._seen[key]

    def _measured(self, parts: list[Part], most: float) -> Evaluation:
        """Cost of the pixels of some tiles, and its slope if it is at most a limit."""
        values = sum((part.values for part in parts), np.zeros(3))
        cost, factors, scale = self._measure(values, self._total)
        slope = np.full(len(self.basis), np.nan)
        if cost <= most:
            slopes = self._map(lambda part: part.slopes(factors[None])[0], parts)
            slope = along_basis(sum(slopes, np.zeros((2, 3))), self.basis)
        return Evaluation(cost, slope, scale, sum(p.weight for p in parts) / self._total)

    def without_each(self, tau: Matrix, size: int, *, slopes: bool = True) -> list[Evaluation]:
        """Evaluate a motion with each part left out in turn; see `Cost`."""
        parts = self._parts(tau)
        sums = [part.each() for part in parts]
        values, weights = (_joined((pair[i] for pair in sums), size) for i in range(2))
        found = np.full((len(values), 3, 2, 3), np.nan)
        if slopes:
            each = self._map(lambda part: part.slopes(np.eye(3), each=True), parts)
            found = _joined(each, size)
        return [
            self._left(*(np.delete(s, i, 0).sum(0) for s in (values, weights, found)))
            for i in range(len(values))
        ]

    def _left(self, values: Vector, weight: float, slopes: Vector) -> Evaluation:
        """Evaluate what is left from its sums and their slopes."""
        cost, factors, scale = self._measure(values, self._total)
        slope = along_basis(np.tensordot(factors, slopes, 1), self.basis)
        return Evaluation(cost, slope, scale, weight / self._total)

    def _parts(self, tau: Matrix) -> list[Part]:
        """Sum over each tile, in a fixed order."""

        def one(number: int) -> Part:
            warped = self._moving.warp(tau, self._tiles[number])
            return self._sparsity.measure(self._fixed[number], warped)

        return list(self._map(one, range(len(self._tiles))))

    def curvature(self, tau: Matrix) -> NDArray[np.float64]:
        """Majorised second derivatives from every fourth tile; see `Cost`."""

        def one(tile: Samples) -> NDArray[np.float64]:
            fixed, warped = self._sparsity.prepare(tile), self._moving.warp(tau, tile)
            return self._sparsity.curvature(fixed, warped, self.basis)

        tiles = self._samples.parts(CURVATURE_TILE)
        parts = list(self._map(one, tiles[::CURVATURE_EVERY]))
        share = len(tiles) / max(len(parts), 1)
        return share * self(tau).scale * sum(parts, np.zeros((len(self.basis),) * 2))


def _joined(parts: Iterable[Vector], size: int) -> Vector:
    """Put sums over single blocks together to sums over some."""
    each = np.concatenate(list(parts))
    return np.asarray(np.add.reduceat(each, np.arange(0, len(each), size)))


def along_basis(slope: NDArray[np.float64], basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Directional derivatives from the derivative with respect to [A b].

    Parameters
    ----------
    slope : ndarray, shape (2, 3)
        Derivative with respect to the upper two rows of the algebra element.
    basis : ndarray, shape (d, 3, 3)
        Directions.

    Returns
    -------
    ndarray, shape (d,)
    """
    out: NDArray[np.float64] = np.tensordot(basis[:, :2], slope, 2)
    return out
