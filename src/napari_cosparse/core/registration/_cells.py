"""Agreement of edges in each small part of the picture."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ._frame import Matrix
from ._pyramid import Level
from ._residual import overlaid
from ._scene import Scene
from ._start import edge_field

ALONG = 32  # cells along the larger side
LEAST_SIDE = 8  # pixels of the level
LEAST_SHOWN = 0.25  # of a cell that both images show
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Cells:
    """Squares of the fixed image.

    Attributes
    ----------
    agreement, most : ndarray, shape (rows, columns), float64
        Of the edges in each cell: what it is and what it could be.
    shown : ndarray, shape (rows, columns), bool
        Which cells both images show.
    side : float
        Of a cell, in working pixels.
    """

    agreement: NDArray[np.float64]
    most: NDArray[np.float64]
    shown: NDArray[np.bool_]
    side: float

    def best(self, part: float) -> Places:
        """Flat indices of the part of the shown cells that agrees most, one at least."""
        order = np.argsort(-np.where(self.shown, self.agreement, -np.inf), axis=None)
        return order[: max(1, round(part * int(self.shown.sum())))]

    def share(self, places: Places) -> float:
        """Share of the agreement that lies in some cells; 1 if there is none at all."""
        total = float(self.agreement[self.shown].sum())
        return float(self.agreement.flat[places].sum()) / total if total > 0 else 1.0

    def likeness(self, places: Places) -> float:
        """Agreement of some cells as a share of what it could be there."""
        most = float(self.most.flat[places].sum())
        return float(self.agreement.flat[places].sum()) / most if most > 0 else 0.0


def cells_of(scene: Scene, tau: Matrix) -> Cells:
    """Compare the edges of both images cell by cell.

    Parameters
    ----------
    scene : Scene
        The pair.
    tau : ndarray, shape (3, 3)
        How they lie.

    Returns
    -------
    Cells
    """
    fixed, laid = overlaid(scene, tau)
    match = np.conj(edge_field(fixed)) * edge_field(laid)
    side = max(LEAST_SIDE, round(max(match.shape) / ALONG))
    shown = _sums(fixed.usable & laid.usable, side) > LEAST_SHOWN * side**2
    return Cells(_sums(match.real, side), _sums(np.abs(match), side), shown, side * fixed.scale)


def without(scene: Scene, cells: NDArray[np.bool_], side: float) -> Scene:
    """Leave cells of the fixed image out.

    Parameters
    ----------
    scene : Scene
        The pair.
    cells : ndarray, shape (rows, columns), bool
        Which.
    side : float
        Of a cell, in working pixels.

    Returns
    -------
    Scene
    """

    def masked(level: Level) -> Level:
        rows, columns = (
            np.minimum(((np.arange(n) + 0.5) * level.scale / side).astype(int), count - 1)
            for n, count in zip(level.usable.shape, cells.shape, strict=True)
        )
        return replace(level, usable=level.usable & ~cells[rows][:, columns])

    return replace(scene, fixed=tuple(masked(level) for level in scene.fixed))


def _sums(values: NDArray[np.generic], side: int) -> NDArray[np.float64]:
    rows, columns = (-(-size // side) for size in values.shape)
    whole = np.zeros((rows * side, columns * side))
    whole[: values.shape[0], : values.shape[1]] = values
    return np.asarray(whole.reshape(rows, side, columns, side).sum((1, 3)))
