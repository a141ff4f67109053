"""Motions of a pair: how far apart two are, and how one reads with the images exchanged."""

from __future__ import annotations

import numpy as np

from ._frame import Matrix, corner_motion
from ._scene import Scene


def distance(scene: Scene, first: Matrix, second: Matrix) -> float:
    """Mean distance of the fixed image's corners under two motions.

    Parameters
    ----------
    scene : Scene
        For the frame.
    first, second : ndarray, shape (3, 3)
        In normalised coordinates.

    Returns
    -------
    float
        In pixels of the moving image.
    """
    pixels = scene.frame.to_pixels
    return corner_motion(pixels(first), pixels(second), scene.frame.shape_fixed)


def exchanged(scene: Scene, other: Scene, tau: Matrix) -> Matrix:
    """Motion of the exchanged images that undoes a motion.

    Parameters
    ----------
    scene : Scene
        The pair.
    other : Scene
        The exchanged pair.
    tau : ndarray, shape (3, 3)
        In normalised coordinates of the first.

    Returns
    -------
    ndarray, shape (3, 3)
        In normalised coordinates of the second.
    """
    return other.frame.from_pixels(np.asarray(np.linalg.inv(scene.frame.to_pixels(tau))))
