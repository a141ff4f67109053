"""What a training image is: one plane or colours, known and unknown pixels, grey values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError

LUMINANCE = (0.299, 0.587, 0.114)
"""Weights of red, green and blue after Rec. 601."""
BAND = 256
"""Rows of patch positions that are looked at together; bounds the memory, changes no result."""

Image = NDArray[Any]
Plane = NDArray[np.float64]
Mask = NDArray[np.bool_]


def as_image(array: ArrayLike, name: str) -> Image:
    """Check that an array is an image of one plane or of colours.

    Parameters
    ----------
    array : array_like, shape (H, W) or (H, W, 3 or 4)
        The image; masked entries become NaN.
    name : str
        What to call it in messages.

    Returns
    -------
    ndarray, shape (H, W) or (H, W, 3)
        The image; a fourth channel (opacity) is dropped.

    Raises
    ------
    InputError
        If the shape is another one or the values are no real numbers.
    """
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    image = np.asarray(array)
    if image.dtype.kind not in "buif":
        raise InputError(f"{name} has type {image.dtype}; an image needs real numbers")
    if image.dtype.kind == "b":
        image = image.astype(np.uint8)
    if image.ndim == 2:
        return image
    if image.ndim == 3 and image.shape[2] in (3, 4):
        return image[:, :, :3]
    raise InputError(
        f"{name} has shape {image.shape}; it must be (H, W), or (H, W, 3) or (H, W, 4) for "
        "colours. Choose one plane of a stack"
    )


def luminance(values: Image, *, colour: bool) -> Plane:
    """Grey values in float64: the values themselves, or Rec. 601 of colours in the last axis."""
    if not colour:
        return values.astype(np.float64)
    red, green, blue = (
        weight * values[..., channel].astype(np.float64) for channel, weight in enumerate(LUMINANCE)
    )
    return np.asarray(red + green + blue)


def valid_pixels(image: Image, invalid: float | None) -> Mask:
    """Pixels that are known.

    Parameters
    ----------
    image : ndarray, shape (H, W) or (H, W, 3)
        The image.
    invalid : float or None
        Value that means unknown (in all channels); NaN and infinity always do.

    Returns
    -------
    ndarray, shape (H, W), bool
        True where the pixel is known.
    """
    known = np.asarray(np.atleast_3d(np.isfinite(image)).all(axis=2))
    if invalid is not None and np.isfinite(invalid):
        known &= ~np.atleast_3d(image == float(invalid)).all(axis=2)
    return known


def bands(height: int, side: int) -> Iterator[slice]:
    """Cut an image into bands of rows that hold `BAND` rows of patch positions each.

    Parameters
    ----------
    height : int
        Rows of the image, in pixels.
    side : int
        Side of the patches; neighbouring bands share ``side - 1`` rows.

    Yields
    ------
    slice
        Rows of one band.
    """
    for start in range(0, height - side + 1, BAND):
        yield slice(start, min(start + BAND + side - 1, height))


def known_values(image: Image, valid: Mask) -> NDArray[Any]:
    """Copy the grey values of the known pixels.

    Parameters
    ----------
    image : ndarray, shape (H, W) or (H, W, 3)
        The image.
    valid : ndarray, shape (H, W), bool
        Known pixels.

    Returns
    -------
    ndarray, shape (n,)
        Their values, in float32 for colours of small types, which saves memory.
    """
    if image.ndim == 2:
        return image[valid]
    kind = np.result_type(image.dtype, np.float32)
    parts = [
        luminance(image[rows][valid[rows]], colour=True).astype(kind)
        for rows in bands(image.shape[0], 1)
    ]
    return np.concatenate(parts)
