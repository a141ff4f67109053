"""Images that are read part by part: NumPy, Dask, Zarr, or whatever can be sliced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import zarr
from dask.array import store
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._read import blaming, read_part

STRIP_PIXELS = 1 << 21  # read at once, where all of an image is looked at
PIECE_PIXELS = 1 << 19  # of a piece of a strip: of large images some pieces are looked at closely
PIECE_ROWS = 64  # at least, or the noise could not be seen in them
COLOURS = (3, 4)
Colour = bool | Literal["first"] | None


@dataclass(frozen=True, eq=False)
class Source:
    """An image of any number of planes, read when needed.

    Attributes
    ----------
    array : array-like, shape (..., H, W) or (..., H, W, channels)
        NumPy, Dask or Zarr array.
    name : str
        What to call it in errors.
    colour : bool
        Whether an axis holds the channels of one image.
    first : bool
        Whether that axis comes before rows and columns, as in OME-Zarr, and not after them.
    """

    array: Any
    name: str
    colour: bool
    first: bool = False

    @property
    def plane(self) -> tuple[int, int]:
        """Height and width, in pixels."""
        height, width = self._spatial
        return height, width

    @property
    def _spatial(self) -> tuple[int, ...]:
        shape = tuple(int(n) for n in self.array.shape)
        return shape[-3:-1] if self.colour and not self.first else shape[-2:]

    @property
    def leading(self) -> tuple[int, ...]:
        """Lengths of the axes before the plane."""
        shape = tuple(int(n) for n in self.array.shape)
        return shape[: -3 if self.colour else -2]

    @property
    def channels(self) -> int:
        """Number of channels; 1 for gray."""
        return int(self.array.shape[-3 if self.first else -1]) if self.colour else 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the pixels."""
        kind: np.dtype[Any] = np.dtype(self.array.dtype)
        return kind

    def read(self, index: tuple[int, ...], rows: slice, columns: slice) -> NDArray[Any]:
        """Read a part of a plane.

        Parameters
        ----------
        index : tuple of int
            Which plane.
        rows, columns : slice
            Pixels wanted.

        Returns
        -------
        ndarray, shape (h, w) or (h, w, channels)

        Raises
        ------
        OSError
            If it cannot be read, with its place.
        """
        channels = (slice(None),) if self.first else ()
        down = len(self.leading) + len(channels)
        where = (*index, *channels, rows, columns)
        part = read_part(self.array, where, self.name, len(self.leading), down)
        return np.moveaxis(part, 0, -1) if self.first else part

    @property
    def piece(self) -> int:
        """Rows of a piece, whatever the chunks are."""
        return max(PIECE_ROWS, PIECE_PIXELS // self.plane[1])

    def pieces(self, strip: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
        """Cut a strip into pieces.

        Parameters
        ----------
        strip : ndarray, shape (h, w) or (h, w, channels)
            Of `strips`.

        Yields
        ------
        number : int
            Of the piece in the strip.
        part : ndarray
            Its rows.
        """
        for number, first in enumerate(range(0, len(strip), self.piece)):
            yield number, strip[first : first + self.piece]

    def strips(self, index: tuple[int, ...] = ()) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Read a plane from the top, in strips of whole pieces; how high depends on its chunks.

        Parameters
        ----------
        index : tuple of int
            Which plane.

        Yields
        ------
        rows : slice
        part : ndarray
            These rows.
        """
        height, width = self.plane
        step = max(1, STRIP_PIXELS // (width * self.channels))
        step = max(
            step, min(_chunk_rows(self.array, 2 + (self.colour and not self.first)), 4 * step)
        )
        step = max(1, step // self.piece) * self.piece
        for first in range(0, height, step):
            rows = slice(first, min(first + step, height))
            yield rows, self.read(index, rows, slice(0, width))


def _chunk_rows(array: object, axis: int) -> int:
    """Rows of a chunk, so that no chunk is read more often than need be."""
    chunks = getattr(array, "chunks", None)
    if not isinstance(chunks, tuple) or len(chunks) < axis:
        return 1
    rows = chunks[-axis]
    return int(max(rows)) if isinstance(rows, tuple) else int(rows)


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
    if isinstance(image, str | Path | zarr.Group):
        raise InputError(
            f"{name} {str(image)!r} is no array; open it first, such as with zarr.open_array(...), "
            "or give the list of its levels"
        )
    if isinstance(image, Sequence) and len(image) and hasattr(image[0], "dtype"):
        levels = list(image)
    else:
        levels = [image]
    if level not in range(len(levels)):
        raise InputError(f"{name} has no level {level}; choose one of 0 to {len(levels) - 1}")
    image = levels[int(level)]
    if not (hasattr(image, "shape") and hasattr(image, "dtype")):
        image = np.asarray(image)
    if np.dtype(image.dtype).kind not in "buif":
        raise InputError(f"{name} has type {image.dtype}; it must hold real numbers")
    shape = tuple(image.shape)
    if colour not in (True, False, None, "first"):
        raise InputError(
            f"colour {colour!r} of the {name} must be True, False, 'first' or None (by its shape)"
        )
    if colour is None:
        colour = len(shape) > 2 and shape[-1] in COLOURS
    if len(shape) < 2 + bool(colour) or 0 in shape:
        raise InputError(f"{name} has shape {shape}; it must have at least rows and columns")
    return Source(_absolute(image), name, bool(colour), colour == "first")


def _absolute(array: Any) -> Any:  # noqa: ANN401 - array-likes
    """Open a Zarr array by its full path: other processes may work in another folder.

    They would find no chunk, and take it for one that is all fill value.
    """
    if not on_disk(array) or Path(array.store.root).is_absolute():
        return array
    return zarr.open_array(Path(array.store.root).absolute(), path=array.path, mode="r")


def store_of(array: Any) -> list[Path]:  # noqa: ANN401 - array-likes
    """Find the folder of a Zarr array.

    Parameters
    ----------
    array : array-like
        Any array.

    Returns
    -------
    list of Path
        One, or none where the array lies elsewhere.
    """
    return [Path(array.store.root)] if on_disk(array) else []


def on_disk(array: Any) -> bool:  # noqa: ANN401 - array-likes
    """Whether other processes can open an array by themselves.

    Parameters
    ----------
    array : array-like
        Any array.

    Returns
    -------
    bool
        True for a Zarr array in a folder.
    """
    return isinstance(array, zarr.Array) and isinstance(array.store, zarr.storage.LocalStore)


def gather(image: Any, name: str = "image") -> Any:  # noqa: ANN401 - array-likes
    """Read an image into memory chunk by chunk, in its own type.

    Parameters
    ----------
    image : array-like
        NumPy arrays and what is no array are handed back as they are.
    name : str
        What to call it in errors.

    Returns
    -------
    array-like
        A NumPy array of a Dask or Zarr array.

    Raises
    ------
    OSError
        If it cannot be read, with the place.
    """
    if isinstance(image, np.ndarray) or not hasattr(image, "chunks") or image.ndim < 2:
        return image
    out = np.empty(image.shape, image.dtype)
    down = max(0, image.ndim - 2 - (image.shape[-1] in COLOURS and image.ndim > 2))
    if hasattr(image, "dask"):
        whole = tuple(slice(0, n) for n in image.shape)
        with blaming(image, whole, name, down, down):
            store(image, out, lock=False, scheduler="threads")
        return out
    for first in range(0, out.shape[0], max(1, int(image.chunks[0]))):
        part = slice(first, first + int(image.chunks[0]))
        out[part] = read_part(image, (part,), name, down, down)
    return out
