"""Conjugate gradients for the normal equations of the samples, ``Phi Phi^T z = residual``.

SciPy's `cg` takes the same steps, as exactly and as fast. But its sums are dot products of the
BLAS, whose last bits may change with its number of threads (seen in float64 with OpenBLAS).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from napari_cosparse.core.bands import inner
from napari_cosparse.core.types import Plane


def conjugate_gradients(
    apply: Callable[[Plane], Plane],
    precondition: Callable[[Plane], Plane],
    right: Plane,
    tolerance: float,
    steps: int,
) -> Plane:
    """Solve a symmetric positive system from zero, with sums in a fixed order.

    Parameters
    ----------
    apply : callable
        Multiplies a plane by the matrix.
    precondition : callable
        Multiplies a plane by something like the matrix's inverse, symmetric and positive.
    right : ndarray, shape (m1, m2)
        Right side. All planes have its type.
    tolerance : float
        Length of the residual to stop at, as a share of the right side's.
    steps : int
        Stop after so many.

    Returns
    -------
    ndarray, shape (m1, m2)
        Solution, or what is known of it after the last step.
    """
    residual, solution, direction = right.copy(), np.zeros_like(right), np.zeros_like(right)
    goal, before = tolerance**2 * inner(residual, residual), 1.0
    for _ in range(steps):
        if inner(residual, residual) <= goal:
            break
        better = precondition(residual)
        now = inner(residual, better)
        direction *= now / before
        direction += better
        image = apply(direction)
        length = now / inner(direction, image)
        solution += length * direction
        residual -= length * image
        before = now
    return solution
