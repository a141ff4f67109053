"""What a training image is: one plane or colours, known and unknown pixels, grey values."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
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


class Chunked:
    """An image of Dask, Zarr or the like, of which parts are read when they are needed.

    Parameters
    ----------
    array : array_like, shape (H, W) or (H, W, 3 or 4)
        Anything with a shape, a type and slices; opacity is dropped.

    Attributes
    ----------
    room : int
        Bytes of parts that were read which may still be kept, so that they are not read again.
    """

    def __init__(self, array: Any) -> None:  # noqa: ANN401 - duck-typed
        self.array = array
        self.shape = tuple(int(n) for n in array.shape)
        self.ndim = len(self.shape)
        self.room = 0
        self._kept: list[tuple[slice, slice, NDArray[Any]]] = []

    def __reduce__(self) -> tuple[type[Chunked], tuple[Any]]:
        """Travel to other processes without the parts that are kept."""
        return Chunked, (self.array,)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole image."""
        return prod(self.shape) * int(np.dtype(self.array.dtype).itemsize)

    def __getitem__(self, where: slice | tuple[slice, slice]) -> NDArray[Any]:
        """Read rows, or rows and columns."""
        rows, columns = where if isinstance(where, tuple) else (where, slice(0, self.shape[1]))
        for down, right, part in self._kept:
            if _holds(down, rows) and _holds(right, columns):
                return part[_shift(rows, down), _shift(columns, right)]
        part = self._read(rows, columns)
        if part.nbytes <= self.room:
            self.room -= part.nbytes
            self._kept.append((rows, columns, part))
        return part

    def _read(self, rows: slice, columns: slice) -> NDArray[Any]:
        part = np.asarray(self.array[rows, columns])
        if part.dtype.kind == "b":
            part = part.astype(np.uint8)
        return part[..., :3] if self.ndim == 3 else part


def _holds(outer: slice, inner: slice) -> bool:
    return bool(outer.start <= inner.start and inner.stop <= outer.stop)


def _shift(part: slice, outer: slice) -> slice:
    return slice(part.start - outer.start, part.stop - outer.start)


def within(image: Image, room: int, *, whole: bool) -> Image:
    """Let an image keep what was read of it; read it once, band by band, if all is needed.

    Parameters
    ----------
    image : ndarray, shape (H, W) or (H, W, 3)
        See `as_image`.
    room : int
        Bytes that may be kept of it.
    whole : bool
        Whether all of it is needed.

    Returns
    -------
    ndarray, shape (H, W) or (H, W, 3)
        The pixels, or the image as it was, which then keeps what it can.
    """
    source: Any = image
    if not isinstance(source, Chunked):
        return image
    if not whole or source.nbytes > room:
        source.room = room
        return image
    return np.concatenate([source[rows] for rows in bands(source.shape[0], 1)])


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
        masked = np.ma.is_masked(array)
        array = np.ma.filled(array.astype(np.float64), np.nan) if masked else np.ma.getdata(array)
    lazy = hasattr(array, "chunks") and hasattr(array, "dtype")  # Dask or Zarr: not read yet
    try:
        image: Any = array if lazy else np.asarray(array)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths; it must be an array") from None
    if np.dtype(image.dtype).kind not in "buif":
        raise InputError(f"{name} has type {image.dtype}; an image needs real numbers")
    if lazy and len(image.shape) in (2, 3):
        image = Chunked(image)
    elif image.dtype.kind == "b":
        image = image.astype(np.uint8)
    shown: Image = image
    if image.ndim == 2:
        return shown
    if image.ndim == 3 and image.shape[2] in (3, 4):
        return shown if lazy else shown[:, :, :3]
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


def known_values(image: Image, invalid: float | None) -> NDArray[Any]:
    """Copy the grey values of the known pixels, band by band.

    Parameters
    ----------
    image : ndarray, shape (H, W) or (H, W, 3)
        The image.
    invalid : float or None
        Value that means unknown.

    Returns
    -------
    ndarray, shape (n,)
        Their values, in float32 for colours of small types, which saves memory.
    """
    parts = []
    for rows in bands(image.shape[0], 1):
        part = image[rows]
        values = part[valid_pixels(part, invalid)]
        if image.ndim == 3:
            kind = np.result_type(part.dtype, np.float32)
            values = luminance(values, colour=True).astype(kind)
        parts.append(values)
    return np.concatenate(parts)
