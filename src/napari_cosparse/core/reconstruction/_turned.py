"""The sampling operator of a target that is turned, sheared or mirrored against its guide.

Phi is one sparse two-dimensional matrix (contract, "Target that is rotated"). Only its columns are
kept, band by band; sums over bands are taken in a fixed order, so that threads change no bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from napari_cosparse.core.bands import each_band
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.types import Plane

from ._kernels import Blur
from ._linear import conjugate_gradients
from ._sampling_protocol import Sampling
from ._turned_cubic import continued, interpolated
from ._turned_kernels import Matrix, pixel_kernels, positions

LEAST_SHARE = 0.75  # of a sample's kernel that must lie on the grid
SOLVE_TOLERANCE = 1e-7  # of the residual's length
SOLVE_STEPS = 60


@dataclass(frozen=True)
class _Band:
    """Some rows of pixels, and their weights in the rows of samples that they touch."""

    rows: slice
    reach: slice
    weights: csr_array  # one row for each pixel


def _small(matrix: csr_array) -> csr_array:
    """Count in 4 bytes instead of 8, which SciPy keeps once it has them."""
    if max(matrix.nnz, *matrix.shape) > np.iinfo(np.int32).max:
        return matrix
    places = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return csr_array((matrix.data, *places), matrix.shape)


class TurnedSampling(Sampling):
    """Blur and sub-sample an image along axes that are not its own; methods as in `Sampling`.

    Parameters
    ----------
    shape : tuple of int
        Shape (N1, N2) of the fine grid, in pixels.
    samples : tuple of int
        Shape (m1, m2) of the target.
    matrix : ndarray, shape (3, 3)
        Maps pixel (row, column, 1) of the fine grid to sample (row, column, 1).
    blur : {"gaussian", "box", "bicubic", "none"}
        Kernel of a sample.
    map_ : callable
        Like the built-in `map`; all operations on whole images go through it, in bands of rows.
        Changes no bit.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        samples: tuple[int, int],
        matrix: Matrix,
        blur: Blur,
        map_: Map = map,
    ) -> None:
        self.shape, self.samples, self.map_ = shape, samples, map_
        self.matrix, self._blur = matrix, blur
        back = np.linalg.inv(matrix)
        down, right = np.linalg.norm(back[:2, :2], axis=0)
        self.factor = float(down), float(right)
        self.origin = float(back[0, 2]), float(back[1, 2])

    @property
    def _bands(self) -> list[_Band]:
        return self._made[0]

    @cached_property
    def _made(self) -> tuple[list[_Band], NDArray[np.float64]]:
        """Phi band by band with normalised rows, and what its rows added up to before.

        Made when it is first used: where a target lies can be asked without it.
        """
        made = each_band(self._band, self.shape, self.map_)
        weight = np.zeros(self.samples)
        for band in made:
            weight[band.reach] += band.weights.sum(0, dtype=np.float64).reshape(-1, weight.shape[1])
        share = 1 / np.where(weight > 0, weight, 1.0)
        for band in made:
            band.weights.data *= share[band.reach].ravel()[band.weights.indices]
        return made, weight

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Samples whose kernel lies on the grid, at least three quarters of it."""
        whole: NDArray[np.bool_] = self._made[1] > LEAST_SHARE * self._full_weight()
        return whole

    def _band(self, rows: slice) -> _Band:
        """Weights of rows of pixels, not normalised."""
        width = self.samples[1]
        weights = pixel_kernels(self.matrix, rows, self.shape[1], self.samples, self._blur)
        first = int(weights.indices.min()) // width if weights.nnz else 0
        last = int(weights.indices.max()) // width + 1 if weights.nnz else 1
        part = weights[:, first * width : last * width].astype(np.float32)
        return _Band(rows, slice(first, last), _small(part))

    def _full_weight(self) -> float:
        """Weight of a sample that lies wholly on the grid."""
        around = 2 + int(np.ceil(2 * max(self.factor)))
        matrix, side = self.matrix.copy(), 2 * around + 1
        matrix[:2, 2] = -matrix[:2, :2] @ (around, around)
        return float(pixel_kernels(matrix, slice(0, side), side, (1, 1), self._blur).sum())

    def forward(self, image: Plane) -> Plane:
        out = np.zeros(self.samples)

        def work(band: _Band) -> NDArray[np.float64]:
            part: NDArray[np.float64] = band.weights.T @ image[band.rows].ravel()
            return part

        for band, part in zip(self._bands, self.map_(work, self._bands), strict=True):
            out[band.reach] += part.reshape(-1, self.samples[1])
        return out.astype(np.result_type(image, np.float32))

    def adjoint(self, samples: Plane) -> Plane:
        out = np.zeros(self.shape, np.result_type(samples, np.float32))
        self.add_adjoint(out, samples)
        return out

    def add_adjoint(self, image: Plane, samples: Plane, factor: float = 1.0) -> None:
        scale = image.dtype.type(factor)

        def work(band: _Band) -> None:
            spread = band.weights @ samples[band.reach].ravel()
            image[band.rows] += scale * spread.reshape(-1, self.shape[1])

        list(self.map_(work, self._bands))

    @cached_property
    def _gram(self) -> csr_array:
        """``Phi Phi^T``; one on the diagonal of samples without pixels, which keep their value."""
        size, width = self.samples[0] * self.samples[1], self.samples[1]
        total = csr_array((size, size))
        for band in self._bands:
            exact = band.weights.astype(np.float64)
            part = (exact.T @ exact).tocoo()
            rows, columns = part.coords
            first = band.reach.start * width
            total = total + csr_array((part.data, (rows + first, columns + first)), (size, size))
        empty = total.diagonal() == 0
        whole = (total + diags_array(empty.astype(np.float64))).tocsr()
        return _small(whole.astype(np.float32))

    def gram(self, samples: Plane) -> Plane:
        product: Plane = (self._gram @ samples.ravel()).reshape(self.samples)
        return product

    def solve(self, samples: Plane) -> Plane:
        """Apply ``(Phi Phi^T)^-1`` by conjugate gradients: kernels touch only their neighbours."""
        return conjugate_gradients(
            self.gram, self.precondition, samples, SOLVE_TOLERANCE, SOLVE_STEPS
        )

    def precondition(self, samples: Plane) -> Plane:
        """Divide by the diagonal of ``Phi Phi^T``."""
        quotient: Plane = samples / self._gram.diagonal().reshape(self.samples)
        return quotient

    def diagonal(self, weights: Plane) -> Plane:
        out = np.empty(self.shape, np.result_type(weights, np.float32))

        def work(band: _Band) -> None:
            spread = band.weights.power(2) @ weights[band.reach].ravel()
            out[band.rows] = spread.reshape(-1, self.shape[1])

        list(self.map_(work, self._bands))
        return out

    def interpolate(self, samples: Plane) -> Plane:
        """Interpolate samples by cubic convolution; beyond them they go on straight."""
        padded = continued(samples)
        out = np.empty(self.shape, np.float32)

        def work(rows: slice) -> None:
            places = positions(self.matrix, rows, self.shape[1])
            out[rows] = interpolated(padded, places).reshape(-1, self.shape[1])

        each_band(work, self.shape, self.map_)
        return out
