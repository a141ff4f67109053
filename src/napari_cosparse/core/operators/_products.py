"""Matrix products that give the same bits for any number of BLAS threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ONE_THREAD = 262_144
"""Multiplications up to which OpenBLAS computes a product in one thread.

Beyond it the work is divided by the number of threads, which changes the rounding; for the small
products of the learning, waking the threads also costs far more than it brings.
"""


def steady_product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Product ``a @ b``, computed in blocks of rows that BLAS does not divide.

    Parameters
    ----------
    a : ndarray, shape (p, q)
        Left factor.
    b : ndarray, shape (q, r)
        Right factor.

    Returns
    -------
    ndarray, shape (p, r)
        The product.
    """
    out = np.empty((len(a), b.shape[1]), np.result_type(a, b))
    # a copy, since NumPy hands `a @ a.T` to another routine with a threshold of its own
    right = np.array(b, out.dtype, order="C")
    rows = max(1, ONE_THREAD // max(1, right.size))
    for start in range(0, len(a), rows):
        np.matmul(a[start : start + rows], right, out=out[start : start + rows])
    return out
