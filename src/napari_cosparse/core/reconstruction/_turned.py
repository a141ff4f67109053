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

from napari_cosparse.core.bands import each_band, inner
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.types import Plane

from ._kernels import Blur, keys
from ._turned_kernels import Matrix, pixel_kernels, positions

LEAST_SHARE = 0.75  # of a sample's kernel that must lie on the grid
SOLVE_TOLERANCE = 1e-7  # of the residual's length
SOLVE_STEPS = 60
MARGIN = 5  # samples that interpolation continues beyond the target, straight


@dataclass(frozen=True)
class _Band:
    """Some rows of pixels, and their weights in the rows of samples that they touch."""

    rows: slice
    reach: slice
    weights: csr_array  # one row for each pixel


class TurnedSampling:
    """Blur and sub-sample an image along axes that are not its own.

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
        return _Band(rows, slice(first, last), part)

    def _full_weight(self) -> float:
        """Weight of a sample that lies wholly on the grid."""
        around = 2 + int(np.ceil(2 * max(self.factor)))
        matrix, side = self.matrix.copy(), 2 * around + 1
        matrix[:2, 2] = -matrix[:2, :2] @ (around, around)
        return float(pixel_kernels(matrix, slice(0, side), side, (1, 1), self._blur).sum())

    def forward(self, image: Plane) -> Plane:
        """Sample an image.

        Parameters
        ----------
        image : ndarray, shape (N1, N2)

        Returns
        -------
        ndarray, shape (m1, m2)
        """
        out = np.zeros(self.samples)

        def work(band: _Band) -> NDArray[np.float64]:
            part: NDArray[np.float64] = band.weights.T @ image[band.rows].ravel()
            return part

        for band, part in zip(self._bands, self.map_(work, self._bands), strict=True):
            out[band.reach] += part.reshape(-1, self.samples[1])
        return out.astype(np.result_type(image, np.float32))

    def adjoint(self, samples: Plane) -> Plane:
        """Apply the exact adjoint of `forward`.

        Parameters
        ----------
        samples : ndarray, shape (m1, m2)

        Returns
        -------
        ndarray, shape (N1, N2)
        """
        out = np.zeros(self.shape, np.result_type(samples, np.float32))
        self.add_adjoint(out, samples)
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

        def work(band: _Band) -> None:
            spread = band.weights @ samples[band.reach].ravel()
            image[band.rows] += scale * spread.reshape(-1, self.shape[1])

        list(self.map_(work, self._bands))

    @cached_property
    def _gram(self) -> csr_array:
        """``Phi Phi^T``; one on the diagonal of samples without pixels."""
        size, width = self.samples[0] * self.samples[1], self.samples[1]
        total = csr_array((size, size))
        for band in self._bands:
            exact = band.weights.astype(np.float64)
            part = (exact.T @ exact).tocoo()
            rows, columns = part.coords
            first = band.reach.start * width
            total = total + csr_array((part.data, (rows + first, columns + first)), (size, size))
        empty = total.diagonal() == 0
        return (total + diags_array(empty.astype(np.float64))).tocsr().astype(np.float32)

    def gram(self, samples: Plane) -> Plane:
        """Apply ``Phi Phi^T``; a sample without pixels keeps its value.

        Parameters
        ----------
        samples : ndarray, shape (m1, m2)

        Returns
        -------
        ndarray, shape (m1, m2)
        """
        product: Plane = (self._gram @ samples.ravel()).reshape(self.samples)
        return product

    def solve(self, samples: Plane) -> Plane:
        """Apply ``(Phi Phi^T)^-1`` by conjugate gradients: kernels hardly touch their neighbours.

        Parameters
        ----------
        samples : ndarray, shape (m1, m2)

        Returns
        -------
        ndarray, shape (m1, m2)
        """
        residual = samples.astype(np.float64)
        solution, direction = np.zeros_like(residual), np.zeros_like(residual)
        goal, before = SOLVE_TOLERANCE**2 * inner(residual, residual), 1.0
        for _ in range(SOLVE_STEPS):
            if inner(residual, residual) <= goal:
                break
            better = self.precondition(residual)
            now = inner(residual, better)
            direction = better + now / before * direction
            image = self.gram(direction)
            length = now / inner(direction, image)
            solution += length * direction
            residual -= length * image
            before = now
        return solution.astype(np.result_type(samples, np.float32))

    def precondition(self, samples: Plane) -> Plane:
        """Divide by the diagonal of ``Phi Phi^T``.

        Parameters
        ----------
        samples : ndarray, shape (m1, m2)

        Returns
        -------
        ndarray, shape (m1, m2)
        """
        quotient: Plane = samples / self._gram.diagonal().reshape(self.samples)
        return quotient

    def diagonal(self, weights: Plane) -> Plane:
        """Diagonal of ``Phi^T diag(weights) Phi``.

        Parameters
        ----------
        weights : ndarray, shape (m1, m2)

        Returns
        -------
        ndarray, shape (N1, N2)
        """
        out = np.empty(self.shape, np.result_type(weights, np.float32))

        def work(band: _Band) -> None:
            spread = band.weights.power(2) @ weights[band.reach].ravel()
            out[band.rows] = spread.reshape(-1, self.shape[1])

        list(self.map_(work, self._bands))
        return out

    def interpolate(self, samples: Plane) -> Plane:
        """Interpolate samples at every pixel of the fine grid by cubic convolution.

        Parameters
        ----------
        samples : ndarray, shape (m1, m2), float32
            Any unit, all known; beyond them they go on straight.

        Returns
        -------
        ndarray, shape (N1, N2), float32
            Same unit.
        """
        padded = _continued(samples, MARGIN)
        out = np.empty(self.shape, np.float32)

        def work(rows: slice) -> None:
            places = positions(self.matrix, rows, self.shape[1])
            out[rows] = _cubic(padded, places, self.samples).reshape(-1, self.shape[1])

        each_band(work, self.shape, self.map_)
        return out


def _continued(samples: Plane, margin: int) -> Plane:
    """Continue samples straight on all sides."""
    for axis in (0, 1):
        line = np.moveaxis(samples, axis, 0)
        steps = np.arange(1, margin + 1, dtype=samples.dtype)[:, None]
        second = min(1, len(line) - 1)  # one sample has no slope
        before = line[0] + steps[::-1] * (line[0] - line[second])
        after = line[-1] + steps * (line[-1] - line[-1 - second])
        samples = np.moveaxis(np.concatenate([before, line, after]), 0, axis)
    return samples


def _cubic(padded: Plane, places: NDArray[np.float64], samples: tuple[int, int]) -> Plane:
    """Cubic convolution of continued samples at some places."""
    limits = zip(places, samples, strict=True)
    down, right = (np.clip(line, 2 - MARGIN, m - 3 + MARGIN) for line, m in limits)
    row, column = np.floor(down).astype(np.int64), np.floor(right).astype(np.int64)
    flat, width = padded.ravel(), padded.shape[1]
    out = np.zeros(len(down))
    across = [keys(np.abs(right - column - step)) for step in range(-1, 3)]
    for step in range(-1, 3):
        start = (row + step + MARGIN) * width + column + MARGIN
        line = sum(weight * flat[start + k] for k, weight in zip(range(-1, 3), across, strict=True))
        out += keys(np.abs(down - row - step)) * line
    return out
