"""One axis of the separable sampling operator.

Row i of its sparse (m, N) matrix is a normalised kernel around the position of target sample i, so
that integer, non-integer and anisotropic factors, odd sizes and half-pixel phases are one case.
Pixel centres lie at integers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.sparse import csr_array

from napari_cosparse.core.types import Plane

from ._kernels import Blur, kernel_matrix


class Axis:
    """One axis of the sampling operator.

    Parameters
    ----------
    size : int
        Pixels of the fine grid, N.
    samples : int
        Samples of the target, m.
    factor : float
        Distance of two samples, in pixels of the fine grid.
    origin : float
        Position of sample 0, in pixels of the fine grid.
    blur : {"gaussian", "box", "bicubic", "none"}
        Kernel: the paper's Gaussian (sigma d/3), the box of a sensor pixel, the cubic kernel of
        an antialiased reduction, or plain interpolation.

    Attributes
    ----------
    matrix : csr_array, shape (m, N), float32
        The operator of this axis.
    transposed : csr_array, shape (N, m), float32
        Its transpose.
    inside : ndarray, shape (m,), bool
        Samples whose position lies on the fine grid (half a pixel of the target is allowed).
    """

    def __init__(self, size: int, samples: int, factor: float, origin: float, blur: Blur) -> None:
        self.size, self.samples, self.factor, self.origin = size, samples, factor, origin
        positions = origin + factor * np.arange(samples)
        slack = max(factor / 2, 0.5)
        self.inside = (positions > -slack) & (positions < size - 1 + slack)
        exact = kernel_matrix(np.clip(positions, 0 - slack, size - 1 + slack), size, factor, blur)
        self.matrix: csr_array = exact.astype(np.float32)
        self.transposed: csr_array = self.matrix.T.tocsr()
        self._gram = _banded_cholesky(exact)

    def apply(self, image: Plane) -> Plane:
        """Sample the rows of an image: ``matrix @ image``.

        Parameters
        ----------
        image : ndarray, shape (N, columns)

        Returns
        -------
        ndarray, shape (m, columns)
        """
        return self.matrix @ image

    def spread(self, samples: Plane) -> Plane:
        """Apply the exact adjoint of `apply`.

        Parameters
        ----------
        samples : ndarray, shape (m, columns)

        Returns
        -------
        ndarray, shape (N, columns)
        """
        return self.transposed @ samples

    def solve(self, samples: Plane) -> Plane:
        """Apply ``(matrix matrix^T)^-1`` by its banded Cholesky factor.

        Parameters
        ----------
        samples : ndarray, shape (m, columns)

        Returns
        -------
        ndarray, shape (m, columns)
        """
        if len(self._gram) == 1:
            quotient: Plane = samples / self._gram[0][:, None] ** 2
            return quotient
        solved: Plane = cho_solve_banded((self._gram, True), samples, check_finite=False)
        return solved


def _banded_cholesky(matrix: csr_array) -> NDArray[np.float32]:
    """Lower banded Cholesky factor of ``matrix matrix^T``, shape (bands, m)."""
    gram = (matrix @ matrix.T).tocoo()
    rows, columns = gram.coords
    bands = np.zeros((int(np.abs(rows - columns).max()) + 1, matrix.shape[0]))
    lower = rows >= columns
    bands[(rows - columns)[lower], columns[lower]] = gram.data[lower]
    # Two samples at one place make the matrix singular: a part in a million keeps it regular.
    bands[0] *= 1 + 1e-6
    return np.asarray(cholesky_banded(bands, lower=True), np.float32)
