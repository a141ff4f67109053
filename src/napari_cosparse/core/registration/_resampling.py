"""Images at other pixels: larger ones, or square ones in place of parallelograms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import affine_transform, gaussian_filter

from napari_cosparse.core.types import Mask, Plane

from ._frame import Matrix
from ._pixel import SAME, Axes
from ._sides import Side


def extent(shape: tuple[int, int], axes: Axes) -> NDArray[np.float64]:
    """Height and width of the upright rectangle around an image.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of the image.
    axes : ndarray, shape (2, 2)
        Pixel steps to steps in the world.

    Returns
    -------
    ndarray, shape (2,)
        In units of the world.
    """
    return np.asarray(np.abs(axes) @ shape)


def straightened(side: Side, axes: Axes) -> tuple[Side, Matrix]:
    """Resample a sheared image to square pixels; the middles of both coincide.

    Parameters
    ----------
    side : Side
        The image.
    axes : ndarray, shape (2, 2)
        Steps of its pixels to steps of the new ones.

    Returns
    -------
    side : Side
        The upright rectangle around it; the corners that the image does not reach are not usable.
    matrix : ndarray, shape (3, 3)
        Old pixel to new pixel.
    """
    shape = np.array(side.image.shape)
    size = np.floor(extent((shape[0] - 1, shape[1] - 1), axes) + SAME).astype(int) + 1
    back = np.asarray(np.linalg.inv(axes), np.float64)
    offset = (shape - 1) / 2 - back @ (size - 1) / 2
    image, usable = sampled(side.image, side.usable, back, offset, (int(size[0]), int(size[1])))
    matrix = np.eye(3)
    matrix[:2, :2] = axes
    matrix[:2, 2] = -axes @ offset
    return replace(side, image=image, usable=usable), matrix


def sampled(
    image: Plane,
    usable: Mask,
    back: NDArray[np.float64],
    offset: NDArray[np.float64],
    shape: tuple[int, int],
) -> tuple[Plane, Mask]:
    """Resample to pixels that lie in any way.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        Without holes.
    usable : ndarray, shape (h, w), bool
        Pixels that may be used.
    back : ndarray, shape (2, 2)
        Steps of the new pixels to steps of the old ones.
    offset : ndarray, shape (2,)
        Where the first new pixel lies, in old ones.
    shape : tuple of int
        Rows and columns of the result.

    Returns
    -------
    image : ndarray, of the given shape
        Beyond the old image: its border.
    usable : ndarray, of the given shape, bool
        False beyond the old image.
    """
    blur = 0.5 * np.sqrt(np.maximum((back**2).sum(1) - 1, 0))
    smooth = gaussian_filter(image, blur, mode="nearest")
    found: Plane = affine_transform(smooth, back, offset, shape, order=3, mode="nearest")
    share = affine_transform(usable.astype(np.float32), back, offset, shape, order=1)
    return found, np.asarray(share > 1 - 1e-3)


def resampled(image: Plane, usable: Mask, ratio: NDArray[np.float64]) -> tuple[Plane, Mask]:
    """Resample to larger pixels.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        Without holes.
    usable : ndarray, shape (h, w), bool
        Pixels that may be used.
    ratio : ndarray, shape (2,)
        New pixels are this many times as large along each axis; the first ones coincide.

    Returns
    -------
    image : ndarray, shape (h2, w2)
    usable : ndarray, shape (h2, w2), bool
    """
    shape = tuple(np.floor((np.array(image.shape) - 1) / ratio + 1e-6).astype(int) + 1)
    blur = 0.5 * np.sqrt(np.maximum(ratio**2 - 1, 0))
    smooth = gaussian_filter(image, blur, mode="nearest")
    found: Plane = affine_transform(smooth, ratio, 0.0, shape, order=3, mode="nearest")
    share = affine_transform(usable.astype(np.float32), ratio, 0.0, shape, order=1)
    return found, np.asarray(share > 1 - 1e-3)
