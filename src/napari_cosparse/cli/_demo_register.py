"""The demo's registration: its own depth, moved by a known motion."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse import api
from napari_cosparse.core.geometry import motion_of
from napari_cosparse.io import Scene

from ._checkerboard import Picture, checkerboard
from ._terminal import bar, number, say

ANGLE = 6.0  # degrees
SHIFT = (0.03, -0.04)  # of the shorter side

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Placed:
    """A pair of images, how the second was moved, and what was found.

    Attributes
    ----------
    fixed : ndarray, shape (h, w, 3), uint8
        The inner part of the guide.
    moving : ndarray, shape (h, w), float32
        The depth there, moved; in metres.
    truth : ndarray, shape (3, 3)
        Fixed pixel to moving pixel.
    found : Registration
        What `register` says.
    error : float
        Mean distance between truth and answer at the corners of the fixed image, in pixels.
    """

    fixed: NDArray[np.uint8]
    moving: NDArray[np.float32]
    truth: Matrix
    found: Any
    error: float

    def pictures(self) -> dict[str, Picture]:
        """Show both images in squares, as they lie and, if that is trusted, as they were placed."""
        shown = {"checkerboard-before": checkerboard(self.fixed, self.moving)}
        if self.found.trusted:
            placed = api.apply_transform(self.moving, self.found.matrix, shape=self.fixed.shape[:2])
            shown["checkerboard-after"] = checkerboard(self.fixed, placed)
        return shown

    def record(self) -> dict[str, Any]:
        """Return what the demo's JSON says."""
        found = self.found
        return {
            "truth": self.truth,
            "matrix": found.matrix,
            "corner_error": self.error,
            "measure": found.measure,
            "trusted": found.trusted,
            "because": found.because,
        }

    def summarise(self) -> None:
        """Say what was moved and found."""
        shape = self.moving.shape
        say(f"depth moved by {motion_of(self.truth, shape, shape)}")
        say(f"found          {motion_of(self.found.matrix, shape, shape)}")
        say(f"corner error {number(self.error)} px; {self._verdict()}")

    def _verdict(self) -> str:
        return f"{'trusted' if self.found.trusted else 'not trusted'}: {self.found.because}"


def place(scene: Scene, seed: int) -> Placed:
    """Move the depth of a scene and register it to the guide.

    Parameters
    ----------
    scene : Scene
        Guide and depth on one grid.
    seed : int
        Of the registration.

    Returns
    -------
    Placed
        Images, truth, answer.
    """
    shape: tuple[int, int] = scene.depth.shape[:2]
    edge = margin(shape)
    inner = tuple(slice(edge, size - edge) for size in shape)
    fixed = np.ascontiguousarray(scene.guide[inner])
    size = (fixed.shape[0], fixed.shape[1])
    truth = motion(size)
    moved = np.linalg.inv(truth)
    moved[:2, 2] += edge  # from pixels of the moving image to those of the whole scene
    moving = api.apply_transform(scene.depth, moved, shape=size, order="cubic")
    with bar() as report:
        found = api.register(fixed, moving, seed=seed, report=report)
    return Placed(fixed, moving, truth, found, corner_error(truth, found.matrix, size))


def motion(shape: tuple[int, int]) -> Matrix:
    """Return the motion of the demo, about the centre of an image.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns.

    Returns
    -------
    ndarray, shape (3, 3)
        Fixed pixel to moving pixel.
    """
    c, s = cos(radians(ANGLE)), sin(radians(ANGLE))
    centre = (np.array(shape, float) - 1) / 2
    matrix = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    matrix[:2, 2] = centre + min(shape) * np.array(SHIFT) - matrix[:2, :2] @ centre
    return matrix


def margin(shape: tuple[int, int]) -> int:
    """Return the border to leave out, so that no pixel of the moved image lies outside the scene.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of the scene.

    Returns
    -------
    int
        Pixels at each side.
    """
    for edge in range(min(shape) // 4):
        size = (shape[0] - 2 * edge, shape[1] - 2 * edge)
        back = np.linalg.inv(motion(size))
        ends = np.array([[r, c, 1] for r in (0, size[0] - 1) for c in (0, size[1] - 1)], float)
        corners = (ends @ back.T)[:, :2] + edge
        if (corners >= 0).all() and (corners <= np.array(shape) - 1).all():
            return edge
    return min(shape) // 8  # a narrow strip: some of the moved depth is unknown


def corner_error(truth: Matrix, found: Matrix, shape: tuple[int, int]) -> float:
    """Measure the mean distance between two motions at the corners of the fixed image.

    Parameters
    ----------
    truth, found : ndarray, shape (3, 3)
        Fixed pixel to moving pixel.
    shape : tuple of int
        Rows and columns of the fixed image.

    Returns
    -------
    float
        In moving pixels.
    """
    ends = np.array([[r, c, 1] for r in (0, shape[0] - 1) for c in (0, shape[1] - 1)], float)
    return float(np.hypot(*(ends @ (truth - found).T)[:, :2].T).mean())
