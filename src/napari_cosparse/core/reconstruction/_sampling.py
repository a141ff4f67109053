"""The separable sampling operator Phi: blur and sub-sampling on the guide's pixel grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from napari_cosparse.core.bands import PIXELS, bands, each_band
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.types import Plane

from ._axis import Axis
from ._cubic import cubic_matrix


@dataclass(frozen=True)
class _Piece:
    """Some rows of a matrix, and the rows of its operand that they touch."""

    rows: slice
    reach: slice
    matrix: csr_array


def _cut(matrix: csr_array, parts: list[slice]) -> list[_Piece]:
    """Cut a sparse matrix along its rows."""
    pieces = []
    for rows in parts:
        part = matrix[rows]
        first = int(part.indices.min()) if part.nnz else 0
        last = int(part.indices.max()) + 1 if part.nnz else 1
        pieces.append(_Piece(rows, slice(first, last), part[:, first:last]))
    return pieces


class SamplingOperator:
    """Blur and sub-sample an image: Phi of the paper (eq. inv_problem), separable.

    Parameters
    ----------
    rows, columns : Axis
        One operator for each axis.
    map_ : callable
        Like the built-in `map`; all operations on whole images go through it, in bands of rows.
        Changes no bit.
    """

    def __init__(self, rows: Axis, columns: Axis, map_: Map = map) -> None:
        self.rows, self.columns, self.map_ = rows, columns, map_
        self.inside = rows.inside[:, None] & columns.inside
        self.shape = rows.size, columns.size
        self.samples = rows.samples, columns.samples
        self.factor = rows.factor, columns.factor
        self.origin = rows.origin, columns.origin

    @cached_property
    def _down(self) -> list[_Piece]:
        """Pieces that make rows of samples from rows of pixels."""
        share = self.samples[0] * self.samples[1] / (self.shape[0] * self.shape[1])
        return _cut(self.rows.matrix, bands(self.samples, int(PIXELS * share)))

    @cached_property
    def _up(self) -> list[_Piece]:
        """Pieces that make rows of pixels from rows of samples."""
        return _cut(self.rows.transposed, bands(self.shape))

    @cached_property
    def _gram(self) -> tuple[list[_Piece], csr_array]:
        """``matrix matrix^T`` of the rows in pieces, and of the columns."""
        down, across = (
            (axis.matrix.astype(np.float64) @ axis.transposed).tocsr().astype(np.float32)
            for axis in (self.rows, self.columns)
        )
        return _cut(down, [piece.rows for piece in self._down]), across

    def forward(self, image: Plane) -> Plane:
        """Sample an image.

        Parameters
        ----------
        image : ndarray, shape (N1, N2)

        Returns
        -------
        ndarray, shape (m1, m2)
        """
        return self._sample(image, self._down, self.columns.apply)

    def gram(self, samples: Plane) -> Plane:
        """Apply ``Phi Phi^T``: what `forward` makes of `adjoint`, without the image between.

        Parameters
        ----------
        samples : ndarray, shape (m1, m2)

        Returns
        -------
        ndarray, shape (m1, m2)
        """
        pieces, across = self._gram
        return self._sample(samples, pieces, lambda plane: across @ plane)

    def _sample(
        self, image: Plane, pieces: list[_Piece], across: Callable[[Plane], Plane]
    ) -> Plane:
        out = np.empty(self.samples, np.result_type(image, np.float32))

        def work(piece: _Piece) -> None:
            out[piece.rows] = _across(across, piece.matrix @ image[piece.reach])

        list(self.map_(work, pieces))
        return out

    def adjoint(self, samples: Plane) -> Plane:
        """Apply the exact adjoint of `forward`.

        Parameters
        ----------
        samples : ndarray, shape (m1, m2)

        Returns
        -------
        ndarray, shape (N1, N2)
        """
        out = np.empty(self.shape, np.result_type(samples, np.float32))

        def work(piece: _Piece) -> None:
            out[piece.rows] = self._spread(piece, samples)

        list(self.map_(work, self._up))
        return out

    def add_adjoint(self, image: Plane, samples: Plane, factor: float = 1.0) -> None:
        """Add a multiple of `adjoint` to an image, in place.

        Parameters
        ----------
        image : ndarray, shape (N1, N2)
            Changed.
        samples : ndarray, shape (m1, m2)
        factor : float
            Multiple.
        """
        scale = image.dtype.type(factor)

        def work(piece: _Piece) -> None:
            image[piece.rows] += scale * self._spread(piece, samples)

        list(self.map_(work, self._up))

    def _spread(self, piece: _Piece, samples: Plane) -> Plane:
        spread: Plane = piece.matrix @ _across(self.columns.spread, samples[piece.reach])
        return spread

    def solve(self, samples: Plane) -> Plane:
        """Apply ``(Phi Phi^T)^-1``: two small banded solves.

        Parameters
        ----------
        samples : ndarray, shape (m1, m2)

        Returns
        -------
        ndarray, shape (m1, m2)
        """
        down = np.empty(self.samples, np.result_type(samples, np.float32))
        out = np.empty_like(down)

        def along_rows(columns: slice) -> None:
            down[:, columns] = self.rows.solve(samples[:, columns])

        def along_columns(piece: _Piece) -> None:
            out[piece.rows] = _across(self.columns.solve, down[piece.rows])

        list(self.map_(along_rows, bands(self.samples[::-1], PIXELS // 4)))
        list(self.map_(along_columns, self._down))
        return out

    def precondition(self, samples: Plane) -> Plane:
        """Do what `solve` does: the best preconditioner where only some samples count.

        Parameters
        ----------
        samples : ndarray, shape (m1, m2)

        Returns
        -------
        ndarray, shape (m1, m2)
        """
        return self.solve(samples)

    def interpolate(self, samples: Plane) -> Plane:
        """Interpolate samples at every pixel of the fine grid, at their true positions.

        Parameters
        ----------
        samples : ndarray, shape (m1, m2), float32
            Any unit, all known.

        Returns
        -------
        ndarray, shape (N1, N2), float32
            Same unit.
        """
        down, across = cubic_matrix(self.rows), cubic_matrix(self.columns)
        out = np.empty(self.shape, np.float32)

        def work(rows: slice) -> None:
            line = np.ascontiguousarray((down[rows] @ samples).T)
            out[rows] = (across @ line).T

        each_band(work, self.shape, self.map_)
        return out

    def diagonal(self, weights: Plane) -> Plane:
        """Diagonal of ``Phi^T diag(weights) Phi``.

        Parameters
        ----------
        weights : ndarray, shape (m1, m2)

        Returns
        -------
        ndarray, shape (N1, N2)
        """
        squares = self.columns.matrix.power(2).T.tocsr()
        out = np.empty(self.shape, np.result_type(weights, np.float32))

        def work(piece: _Piece) -> None:
            spread = _across(lambda plane: squares @ plane, weights[piece.reach])
            out[piece.rows] = piece.matrix.power(2) @ spread

        list(self.map_(work, self._up))
        return out


def _across(function: Callable[[Plane], Plane], samples: Plane) -> Plane:
    """Apply a function of columns to the rows of an image."""
    return np.ascontiguousarray(function(np.ascontiguousarray(samples.T)).T)
