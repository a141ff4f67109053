"""Planes of larger arrays as images of their own, read part by part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._as_source import as_source
from ._levels import level_of
from ._on_disk import on_disk
from ._sources import COLOURS, Colour, Source
from ._threads import Asked


class PlaneOf:
    """One plane of an array: it looks like an array in chunks, and says where it cannot be read.

    Parameters
    ----------
    source : Source
        The array.
    index : tuple of int
        Which plane.
    """

    def __init__(self, source: Source, index: tuple[int, ...]) -> None:
        self.source, self.index = source, index
        channels = (source.channels,) if source.colour else ()
        self.shape = (*source.plane, *channels)
        self.ndim = len(self.shape)
        self.dtype = source.dtype
        self.chunks = getattr(source.array, "chunks", self.shape)

    def __getitem__(self, where: tuple[slice, slice]) -> Any:  # noqa: ANN401 - see `Uncut`
        """Read rows and columns, channels last."""
        rows, columns = (
            slice(*part.indices(n)) for part, n in zip(where, self.source.plane, strict=True)
        )
        return self.source.read(self.index, rows, columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401
        """Read it all, strip by strip."""
        out = np.empty(self.shape, self.dtype)
        for rows, strip in self.source.strips(self.index):
            out[rows] = strip
        return out if dtype is None else out.astype(dtype, copy=False)

    @property
    def chunk_bytes(self) -> int:
        """Bytes that are read for a pixel, in the type of the image."""
        longest = (max(n) if isinstance(n, tuple) else n for n in self.chunks)
        return int(np.prod([float(n) for n in longest])) * self.dtype.itemsize

    @property
    def on_disk(self) -> bool:
        """Whether other processes can open it by themselves."""
        return on_disk(self.source.array)


class Uncut(PlaneOf):
    """A plane of which a part is another plane: of a Dask array nothing is read for it."""

    def __getitem__(self, where: tuple[slice, slice]) -> Any:  # noqa: ANN401
        """Cut out rows and columns."""
        source = self.source
        if not hasattr(source.array, "dask"):
            return super().__getitem__(where)
        name = f"{source.name} (in its region)"
        return PlaneOf(replace(source, array=source.array[where], name=name), self.index)


def planes_of(image: Any, name: str, colour: Colour = None) -> list[Any]:  # noqa: ANN401 - array-likes
    """Cut an image into its planes without reading it.

    Parameters
    ----------
    image : array-like, shape (..., H, W) or (..., H, W, channels)
        NumPy, Dask or Zarr array.
    name : str
        What to call it in errors.
    colour : bool or "first", optional
        Where the channels are, see `as_source`.

    Returns
    -------
    list of array-like, shape (H, W) or (H, W, channels)
        NumPy arrays of NumPy arrays, else what reads them part by part.
    """
    source = as_source(image, name, colour=colour)
    places = list(np.ndindex(*source.leading))
    if isinstance(image, np.ndarray):
        whole = slice(None)
        return [source.read(place, whole, whole) for place in places]
    return [PlaneOf(source, place) for place in places]


def as_plane(
    image: Any,  # noqa: ANN401 - array-likes
    name: str,
    cancelled: Asked | None = None,
    *,
    uncut: bool = False,
) -> Any:  # noqa: ANN401
    """Give an image in chunks a name for its errors; others stay as they are.

    Parameters
    ----------
    image : array-like, or sequence of array-likes
        Any image; of the levels of a multiscale one the finest is taken.
    name : str
        What to call it.
    cancelled : callable, optional
        Asked between two chunks that are read whether to stop.
    uncut : bool
        Whether parts of the plane are cut out without being read.

    Returns
    -------
    array-like
    """
    image = level_of(image, name)
    if isinstance(image, PlaneOf):
        return type(image)(image.source.asking(cancelled), image.index)
    if isinstance(image, np.ndarray) or not hasattr(image, "chunks"):
        return image
    shape = tuple(image.shape)
    fits = len(shape) == 2 or (len(shape) == 3 and shape[2] in COLOURS)
    if not fits:
        return image  # the core says what is wrong
    return (Uncut if uncut else PlaneOf)(as_source(image, name).asking(cancelled), ())
