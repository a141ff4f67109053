"""Where to look at full resolution: windows all over the overlap, with structure in both images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion, uniform_filter

from napari_cosparse.core.types import Mask, Plane

from ._frame import Matrix
from ._residual import warped
from ._scene import Scene

LARGEST = 1024  # pixels: side of the level that shows where structure is
CELLS = 12  # along each side of the overlap: one window in each
COUNT = 100  # windows at most
ROOM = 0.75  # of a window that both images must show


def choose_windows(
    scene: Scene, tau: Matrix, side: float, most: int = COUNT
) -> NDArray[np.float64]:
    """Find the best window in each part of the overlap, and take the best of these.

    Parameters
    ----------
    scene : Scene
        The pair on the working grid.
    tau : ndarray, shape (3, 3)
        How they lie on each other.
    side : float
        Side of a window, in working pixels.
    most : int
        How many windows to take at most.

    Returns
    -------
    ndarray, shape (n, 2)
        Centres in the fixed image, working pixels, row by row; at most 100.
    """
    number = scene.level_within(LARGEST)
    fixed = scene.fixed[number]
    moving = warped(scene, fixed, scene.moving[number], tau)
    box = max(3, round(side / fixed.scale))
    usable = fixed.usable & moving.usable
    room = uniform_filter(usable.astype(float), box, mode="constant") >= ROOM
    inner = binary_erosion(usable)
    energy = np.sqrt(_energy(fixed.image, inner, box) * _energy(moving.image, inner, box)) * room
    places, values = _best_in_cells(energy)
    best = np.sort(np.argsort(-values, kind="stable")[: min(most, COUNT)])
    return places[best] * fixed.scale


def _energy(image: Plane, usable: Mask, box: int) -> Plane:
    """Mean squared gradient around each pixel."""
    rows, columns = np.gradient(image.astype(np.float64))
    square = np.where(usable, rows**2 + columns**2, 0)
    found: Plane = np.maximum(uniform_filter(square, box, mode="constant"), 0)
    return found


def _best_in_cells(energy: Plane) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Place and value of the largest entry of each cell that has any."""
    rows, columns = np.nonzero(energy.any(1))[0], np.nonzero(energy.any(0))[0]
    places, values = [], []
    if len(rows):
        edges = [np.linspace(r[0], r[-1] + 1, CELLS + 1).astype(int) for r in (rows, columns)]
        for top, bottom in zip(edges[0][:-1], edges[0][1:], strict=True):
            for left, right in zip(edges[1][:-1], edges[1][1:], strict=True):
                cell = energy[top:bottom, left:right]
                if cell.size and cell.max() > 0:
                    row, column = divmod(int(cell.argmax()), cell.shape[1])
                    places.append((top + row, left + column))
                    values.append(float(cell.max()))
    return np.array(places, float).reshape(-1, 2), np.array(values)
