"""Mutual information of a motion at one pyramid level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._cost import along_basis
from ._frame import Frame, Matrix
from ._measures import Evaluation
from ._nmi import Information, evaluate_information, information_curvature
from ._pyramid import Level
from ._samples import choose_samples
from ._warped import Moving, Warped

PIXELS_NMI = 20_000
STRIPS = 16  # parts of the image for the jackknife


class InformationCost:
    """Normalised mutual information.

    Parameters
    ----------
    levels : tuple of Level
        Fixed and moving image.
    frame : Frame
        Centres and unit of length.
    basis : ndarray, shape (d, 3, 3)
        Basis of the group's algebra.
    pixels : int
        Number of pixels that suffices.
    seed : int
        For the choice of the pixels.
    dtype : dtype-like
        Arithmetic; float64 serves checks.
    between : bool
        Read both images between their pixels; see `choose_samples`.
    """

    def __init__(
        self,
        levels: tuple[Level, Level],
        frame: Frame,
        basis: NDArray[np.float64],
        pixels: int = PIXELS_NMI,
        seed: int = 0,
        dtype: type[np.floating] = np.float32,
        *,
        between: bool = False,
    ) -> None:
        self.scale, self.frame, self.basis = levels[0].scale, frame, basis
        self._samples = choose_samples(levels[0], 0, pixels, seed, 1, between=between)
        self._total = max(float(self._samples.weight.sum(dtype=np.float64)), 1.0)
        self._information = Information(*levels, int(self._total))
        self._fixed = self._information.prepare(self._samples)
        self._moving = Moving(levels[1], frame, 0, dtype)
        self._seen: dict[bytes, Evaluation] = {}

    def __call__(self, tau: Matrix, most: float = np.inf) -> Evaluation:  # noqa: ARG002
        """Evaluate a motion, always with its slope; see `Cost`."""
        key = tau.tobytes()
        if key not in self._seen:
            self._seen[key] = self._evaluate(self._moving.warp(tau, self._samples))
        return self._seen[key]

    def _evaluate(self, warped: Warped) -> Evaluation:
        found = evaluate_information(self._information, self._fixed, warped, self._total)
        return found._replace(slope=along_basis(found.slope, self.basis))

    def curvature(self, tau: Matrix) -> NDArray[np.float64]:
        """Second derivatives of a Gaussian model; see `Cost`."""
        warped = self._moving.warp(tau, self._samples)
        total = information_curvature(self._information, self._fixed, warped, self.basis)
        return total / max(float(warped.weight.sum(dtype=np.float64)), 1e-12)

    def without_each(
        self,
        tau: Matrix,
        size: int,  # noqa: ARG002
        *,
        slopes: bool = True,  # noqa: ARG002
    ) -> list[Evaluation]:
        """Evaluate a motion with each strip left out in turn; see `Cost`."""
        whole = self._moving.warp(tau, self._samples)
        out = []
        for edges in np.array_split(np.arange(len(self._samples)), STRIPS):
            kept = np.ones_like(whole.weight)
            kept[edges] = 0
            out.append(self._evaluate(whole.masked(kept)))
        return out
