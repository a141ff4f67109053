"""Images that are read part by part: NumPy, Dask, Zarr, or whatever can be sliced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._read import read_part
from ._threads import Asked

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
    given : dtype, optional
        Type of the image as it was given: integers of which some are masked are read as floating
        point numbers, with NaN for those.
    cancelled : callable, optional
        Asked between two chunks that are read whether to stop. It stays in this process: others
        are ended.
    """

    array: Any
    name: str
    colour: bool
    first: bool = False
    given: np.dtype[Any] | None = None
    cancelled: Asked | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what belongs to this process."""
        return {**self.__dict__, "cancelled": None}

    def asking(self, cancelled: Asked | None) -> Source:
        """Let reading be stopped.

        Parameters
        ----------
        cancelled : callable, optional
            Says whether to.

        Returns
        -------
        Source
            Of the same array.
        """
        return replace(self, cancelled=cancelled)

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

    @property
    def own_dtype(self) -> np.dtype[Any]:
        """Type of the image as it was given."""
        return self.given or self.dtype

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
        Cancelled
            If it was told to stop.
        """
        channels = (slice(None),) if self.first else ()
        down = len(self.leading) + len(channels)
        where = (*index, *channels, rows, columns)
        part = read_part(self.array, where, self.name, len(self.leading), down, self.cancelled)
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
        for rows in self.bands(slice(0, height)):
            yield rows, self.read(index, rows, slice(0, width))

    def bands(self, rows: slice) -> list[slice]:
        """Cut rows into bands that lie in strips, so that no chunk is read more often than need be.

        Parameters
        ----------
        rows : slice
            With both ends.

        Returns
        -------
        list of slice
        """
        step = max(1, STRIP_PIXELS // (self.plane[1] * self.channels))
        step = max(
            step, min(_chunk_rows(self.array, 2 + (self.colour and not self.first)), 4 * step)
        )
        step = max(1, step // self.piece) * self.piece
        inner = range((rows.start // step + 1) * step, rows.stop, step)
        return [slice(*ends) for ends in pairwise([rows.start, *inner, rows.stop])]


def _chunk_rows(array: object, axis: int) -> int:
    """Rows of a chunk, so that no chunk is read more often than need be."""
    chunks = getattr(array, "chunks", None)
    if not isinstance(chunks, tuple) or len(chunks) < axis:
        return 1
    rows = chunks[-axis]
    return int(max(rows)) if isinstance(rows, tuple) else int(rows)
