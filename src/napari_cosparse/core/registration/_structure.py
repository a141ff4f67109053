"""Whether an image shows anything but noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ._frame import Matrix
from ._residual import overlaid
from ._scene import Scene
from ._start import edge_field

LAG = 4  # pixels of the level: beyond the reach of gradients, and of noise blurred by 2 pixels
STRUCTURE = 0.04  # such noise reaches .02 over that lag, leaves and gravel .06 and more
DEVIATIONS = 3.0  # of chance, which counts in small images
PATCH = 9  # pixels within which directions of noise are alike


def structured(scene: Scene, tau: Matrix) -> bool:
    """Say whether one of the images shows more than noise where both are known.

    Directions of the edges of noise are unlike a few pixels on; along an outline they are alike.

    Parameters
    ----------
    scene : Scene
        The pair.
    tau : ndarray, shape (3, 3)
        How they lie.

    Returns
    -------
    bool
    """
    fixed, laid = overlaid(scene, tau)
    usable = fixed.usable & laid.usable
    fields = [edge_field(replace(level, usable=usable)) for level in (fixed, laid)]
    return any(_runs_on(turned) for field in fields for turned in (field, np.rot90(field)))


def _runs_on(field: NDArray[np.complex64]) -> bool:
    """Whether directions are alike a step down or diagonally."""
    pairs = (
        (field[:-LAG], field[LAG:]),
        (field[:-LAG, :-LAG], field[LAG:, LAG:]),
    )
    return any(_alike(first.ravel(), second.ravel()) for first, second in pairs)


def _alike(first: NDArray[np.complex64], second: NDArray[np.complex64]) -> bool:
    """Whether two rows of directions correlate beyond noise, as far as both have any."""
    both = (first != 0) & (second != 0)
    first, second = first[both], second[both]
    energy = np.sqrt(float(np.sum(np.abs(first) ** 2)) * float(np.sum(np.abs(second) ** 2)))
    chance = DEVIATIONS * np.sqrt(PATCH / max(1, len(first)))
    return bool(np.sum((np.conj(first) * second).real) > max(STRUCTURE, chance) * energy)
