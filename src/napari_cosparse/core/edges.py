"""Directions of edges, whichever side is brighter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import minimum_filter

from napari_cosparse.core.types import Mask, Plane


def edge_directions(image: Plane, usable: Mask, floor: float, reach: int) -> NDArray[Any]:
    """Doubled gradient angle of each pixel as a complex number, weighted towards clear edges.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        At least two pixels a side; finite.
    usable : ndarray, shape (h, w), bool
        Pixels that are known.
    floor : float
        Gradients below count little; in the image's unit, per pixel.
    reach : int
        Side of the square around a pixel, in pixels, that must be usable; the field is 0 elsewhere.

    Returns
    -------
    ndarray, shape (h, w), complex
        Of modulus below 1 and the image's precision.
    """
    rows, columns = np.gradient(image)
    field: NDArray[Any] = np.asarray((columns + 1j * rows) ** 2)
    field /= rows**2 + columns**2 + image.dtype.type(floor**2)
    field[~minimum_filter(usable, reach, mode="nearest")] = 0
    return field
