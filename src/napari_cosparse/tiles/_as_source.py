"""Whether something is an image that can be read part by part."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from napari_cosparse.core.errors import InputError

from ._levels import level_of
from ._on_disk import absolute
from ._sources import COLOURS, Colour, Source


def as_source(image: Any, name: str, *, colour: Colour = None, level: int = 0) -> Source:  # noqa: ANN401 - array-likes
    """Look at an image without reading it.

    Parameters
    ----------
    image : array-like, or sequence of array-likes
        A sequence is the levels of a multiscale image, the finest first.
    name : str
        What to call it in errors.
    colour : bool or "first", optional
        Whether the last axis holds channels, or the one before the rows; if None, the last one
        does if it has length 3 or 4 and there are at least three axes.
    level : int
        Level of a multiscale image.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        If it is no image, or has no such level.
    """
    given = _array_of(level_of(image, name, level), name)
    image = unmasked(given)
    shape = tuple(image.shape)
    if colour not in (True, False, None, "first"):
        raise InputError(
            f"colour {colour!r} of the {name} must be True, False, 'first' or None (by its shape)"
        )
    if colour is None:
        colour = len(shape) > 2 and shape[-1] in COLOURS
    if len(shape) < 2 + bool(colour) or 0 in shape:
        raise InputError(f"{name} has shape {shape}; it must have at least rows and columns")
    return Source(absolute(image), name, bool(colour), colour == "first", np.dtype(given.dtype))


def _array_of(image: Any, name: str) -> Any:  # noqa: ANN401 - array-likes
    """Make an array of what is none; refuse what holds no real numbers."""
    if not (hasattr(image, "shape") and hasattr(image, "dtype")):
        try:
            image = np.asarray(image)
        except ValueError:
            raise InputError(f"{name} has rows of different lengths; make it an array") from None
    if np.dtype(image.dtype).kind not in "buif":
        value = f"{name} {image.item()!r}" if image.shape == () else name
        ways = {"c": "give its real part or its magnitude (abs)"}
        way = ways.get(np.dtype(image.dtype).kind, "convert it, such as with .astype(float)")
        raise InputError(f"{value} has type {image.dtype}; it must hold real numbers: {way}")
    return image


def unmasked(image: Any) -> Any:  # noqa: ANN401 - array-likes
    """Turn masked pixels into NaN: what reads an array by parts would lose the mask.

    Parameters
    ----------
    image : array-like
        Any array.

    Returns
    -------
    array-like
        The same, unless it is a masked array of NumPy or Dask. Integers become floating point
        numbers that hold them, unless it is sure that nothing is masked.
    """
    if not isinstance(getattr(image, "_meta", image), np.ma.MaskedArray):
        return image
    numpy = isinstance(image, np.ma.MaskedArray)
    if numpy and not np.ma.is_masked(image):
        return np.ma.getdata(image)
    if image.dtype.kind != "f":
        image = image.astype(np.result_type(image.dtype, np.float32))
    return image.filled(np.nan) if numpy else da.ma.filled(image, np.nan)
