"""Squares of two images in turn: edges that go on from square to square lie on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.ranges import robust_range

SQUARES = 8  # along the shorter side
SMALLEST = 16  # pixels

Picture = NDArray[np.uint8]


def checkerboard(first: NDArray[Any], second: NDArray[Any], side: int | None = None) -> Picture:
    """Show two images of one size in squares.

    Parameters
    ----------
    first, second : ndarray, shape (H, W) or (H, W, 3)
        Images of any type; each is stretched to its own range. What is not finite is black.
    side : int, optional
        Side of the squares, in pixels; an eighth of the shorter side if None.

    Returns
    -------
    ndarray, shape (H, W, 3), uint8
        The picture; the first square at the top left is of the first image.
    """
    side = side or max(min(first.shape[:2]) // SQUARES, SMALLEST)
    rows, columns = (np.arange(size) // side for size in first.shape[:2])
    odd = (np.add.outer(rows, columns) % 2).astype(bool)
    return np.where(odd[..., None], as_picture(second), as_picture(first))


def as_picture(image: NDArray[Any]) -> Picture:
    """Stretch an image to the range of a screen.

    Parameters
    ----------
    image : ndarray, shape (H, W) or (H, W, 3)
        Of any type.

    Returns
    -------
    ndarray, shape (H, W, 3), uint8
        Gray images become colours of equal parts.
    """
    known = np.isfinite(image)
    low, spread = robust_range(image[known])
    shown = np.clip((np.where(known, image, low) - low) / spread, 0, 1)
    picture = np.rint(255 * shown).astype(np.uint8)
    return picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, axis=2)
