"""Parts of arrays that are read when they are needed: one plane, or the luminance of a colour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LUMINANCE = (0.299, 0.587, 0.114)  # ITU-R BT.601, as Pillow's and OpenCV's conversion to gray


class LazyCut:
    """One plane of an array that reads whatever it is indexed with, as Zarr's do.

    Parameters
    ----------
    pixels : array-like, shape (..., H, W) or (..., H, W, 3 | 4)
        The array.
    index : tuple of int
        Which plane.
    """

    def __init__(self, pixels: Any, index: tuple[int, ...]) -> None:  # noqa: ANN401 Zarr's or like it
        """Read nothing yet."""
        self._pixels, self._index = pixels, index
        self.shape = tuple(int(n) for n in pixels.shape[len(index) :])
        self.ndim, self.dtype = len(self.shape), np.dtype(pixels.dtype)
        self.chunks = _chunks(pixels)[len(index) :]

    def __getitem__(self, part: Any) -> NDArray[Any]:  # noqa: ANN401 ints and slices
        """Read a part of the plane.

        Parameters
        ----------
        part : int, slice or tuple of them
            Rows, or rows and columns.

        Returns
        -------
        ndarray
        """
        parts = part if isinstance(part, tuple) else (part,)
        return np.asarray(self._pixels[(*self._index, *parts)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401
        """Read all of it."""
        return np.array(self[:], dtype, copy=copy)


class LazyLuminance:
    """Luminance of a colour image, for functions that read what can be cut.

    Parameters
    ----------
    pixels : array-like, shape (..., H, W, 3 | 4)
        NumPy, Dask or Zarr array; a fourth channel is opacity and is left out.
    """

    def __init__(self, pixels: Any) -> None:  # noqa: ANN401 NumPy, Dask or Zarr
        """Read nothing yet."""
        self._pixels = pixels
        self.shape = tuple(int(n) for n in pixels.shape[:-1])
        self.ndim, self.dtype = len(self.shape), np.dtype(np.float32)
        self.chunks = _chunks(pixels)[: self.ndim]

    def __getitem__(self, part: Any) -> NDArray[np.float32]:  # noqa: ANN401 ints and slices
        """Read a part.

        Parameters
        ----------
        part : tuple of int or slice
            On the axes without colour.

        Returns
        -------
        ndarray, float32
            In the layer's unit.
        """
        return luminance(np.asarray(self._pixels[part])[..., :3])


def _chunks(pixels: Any) -> tuple[Any, ...]:  # noqa: ANN401 any array
    """Sizes of the chunks; an array without any, such as xarray's or HDF5's, is one chunk."""
    return tuple(getattr(pixels, "chunks", None) or pixels.shape)


def luminance(image: NDArray[Any]) -> NDArray[np.float32]:
    """Replace colour by its luminance.

    Parameters
    ----------
    image : ndarray, shape (..., 3)
        Red, green and blue.

    Returns
    -------
    ndarray, shape (...), float32
        In the image's unit.
    """
    return np.asarray(image @ np.asarray(LUMINANCE), np.float32)
