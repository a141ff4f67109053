"""The cost of a motion at one pyramid level: sums over tiles of sampled blocks."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair

from ._frame import Frame, Matrix
from ._mutual import NU, CoSparsity, Evaluation, Fixed, Sums, coupled, mutual
from ._pyramid import Level
from ._samples import Samples, choose_samples
from ._warped import Moving

TILE = 32  # blocks: about 2000 patches, whose responses fit the cache
CURVATURE_EVERY = 4  # tiles: the curvature only shapes the first step
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

    def __call__(self, tau: Matrix) -> Evaluation:
        """Evaluate a motion.

        Parameters
        ----------
        tau : ndarray, shape (3, 3)
            Group element in normalised coordinates.

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

    def without_each(self, tau: Matrix, size: int) -> list[Evaluation]:
        """Evaluate a motion with each part of the image left out in turn: for the jackknife.

        Parameters
        ----------
        tau : ndarray, shape (3, 3)
            Group element in normalised coordinates.
        size : int
            Blocks to a part, for the co-sparsity measures.

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
        self._tiles, self._fixed = self._cut(tile)
        self._total = max(float(samples.weight.sum(dtype=np.float64)), 1.0)
        self._moving = Moving(levels[1], frame, pair.radius, dtype)
        self._map = map_
        self._seen: dict[bytes, Evaluation] = {}

    def __call__(self, tau: Matrix) -> Evaluation:
        """Evaluate a motion; see `Cost`."""
        # the solver, the curvature and the jackknife ask for the same motion in turn
        key = tau.tobytes()
        if key not in self._seen:
            self._seen[key] = self.measure(self.sums(tau))
        return self._seen[key]

    def measure(self, parts: list[Sums]) -> Evaluation:
        """Cost of the pixels of some tiles.

        Parameters
        ----------
        parts : list of Sums
            Of the tiles.

        Returns
        -------
        Evaluation
        """
        values = np.zeros(3)
        slopes = np.zeros((3, 2, 3))
        weight = 0.0
        for part in parts:
            values, slopes, weight = (
                values + part.values,
                slopes + part.slopes,
                weight + part.weight,
            )
        found = self._measure(Sums(values, slopes, weight), self._total)
        return found._replace(slope=along_basis(found.slope, self.basis))

    def _cut(self, size: int) -> tuple[list[Samples], list[Fixed]]:
        """Divide the blocks into tiles."""
        whole = self._samples
        tiles = [whole.part(i, i + size) for i in range(0, len(whole), size)]
        return tiles, [self._sparsity.prepare(tile) for tile in tiles]

    def without_each(self, tau: Matrix, size: int) -> list[Evaluation]:
        """Evaluate a motion with each part left out in turn; see `Cost`."""
        parts = self._sums(tau, *self._cut(size))
        return [self.measure(parts[:i] + parts[i + 1 :]) for i in range(len(parts))]

    def sums(self, tau: Matrix) -> list[Sums]:
        """Sum over each tile, in a fixed order.

        Parameters
        ----------
        tau : ndarray, shape (3, 3)
            Group element.

        Returns
        -------
        list of Sums
        """
        return self._sums(tau, self._tiles, self._fixed)

    def _sums(self, tau: Matrix, tiles: list[Samples], fixed: list[Fixed]) -> list[Sums]:
        def one(number: int) -> Sums:
            warped = self._moving.warp(tau, tiles[number])
            return self._sparsity.sum(fixed[number], warped)

        return list(self._map(one, range(len(tiles))))

    def curvature(self, tau: Matrix) -> NDArray[np.float64]:
        """Majorised second derivatives from every fourth tile; see `Cost`."""

        def one(number: int) -> NDArray[np.float64]:
            warped = self._moving.warp(tau, self._tiles[number])
            return self._sparsity.curvature(self._fixed[number], warped, self.basis)

        some = range(0, len(self._tiles), CURVATURE_EVERY)
        parts = list(self._map(one, some))
        share = len(self._tiles) / max(len(parts), 1)
        return share * self(tau).scale * sum(parts, np.zeros((len(self.basis),) * 2))


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
