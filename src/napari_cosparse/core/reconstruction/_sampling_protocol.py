"""What the solvers ask of a sampling operator Phi."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.types import Plane


class Sampling(Protocol):
    """Blur and sub-sampling of an image: Phi of the paper (eq. inv_problem).

    Attributes
    ----------
    shape : tuple of int
        Shape (N1, N2) of the fine grid, in pixels.
    samples : tuple of int
        Shape (m1, m2) of the target.
    factor : tuple of float
        Distance of two samples along the target's rows and columns, in pixels of the fine grid.
    origin : tuple of float
        Position of sample (0, 0), in pixels of the fine grid.
    map_ : callable
        Like the built-in `map`; all operations on whole images go through it.
    """

    shape: tuple[int, int]
    samples: tuple[int, int]
    factor: tuple[float, float]
    origin: tuple[float, float]
    map_: Map

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Samples that lie on the fine grid, shape (m1, m2)."""

    def forward(self, image: Plane) -> Plane:
        """Sample an image: (N1, N2) to (m1, m2)."""

    def adjoint(self, samples: Plane) -> Plane:
        """Apply the exact adjoint of `forward`."""

    def add_adjoint(self, image: Plane, samples: Plane, factor: float = 1.0) -> None:
        """Add a multiple of `adjoint` to an image, in place."""

    def gram(self, samples: Plane) -> Plane:
        """Apply ``Phi Phi^T``."""

    def solve(self, samples: Plane) -> Plane:
        """Apply ``(Phi Phi^T)^-1``."""

    def precondition(self, samples: Plane) -> Plane:
        """Come close to `solve` at little cost, by a symmetric positive operator."""

    def diagonal(self, weights: Plane) -> Plane:
        """Diagonal of ``Phi^T diag(weights) Phi``, shape (N1, N2)."""

    def interpolate(self, samples: Plane) -> Plane:
        """Interpolate samples at every pixel of the fine grid."""
