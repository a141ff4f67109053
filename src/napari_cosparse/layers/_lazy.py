"""Planes of layers that are read part by part, and large parts from a coarser level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from napari.layers import Image
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._read import levels_of, read

Part = tuple[slice, slice]


class LazyPlane:
    """One plane of a layer, for functions that read what can be cut.

    A registration reads a large image twice: all of it in strips whose pixels it averages, then
    small windows. Strips are taken from a coarser level of a pyramid, if there is one that is fine
    enough, with each of its pixels standing for a block; windows always come from the finest.

    Parameters
    ----------
    levels : sequence of array-like, shape (h, w) or (h, w, channels)
        NumPy, Dask or Zarr arrays, the finest first.
    name : str
        Of the layer, for errors.
    step : float
        Pixels of the finest level that a reader of strips averages along each axis.
    mirrored : bool
        Whether the columns are reversed.
    ask : callable, optional
        Called before each part is read; what it raises ends the reading.
    """

    def __init__(
        self,
        levels: Sequence[Any],
        *,
        name: str = "",
        step: float = 1.0,
        mirrored: bool = False,
        ask: Callable[[], None] | None = None,
    ) -> None:
        """Read nothing yet."""
        self._fine, self._step = levels[0], step
        self._strips = _coarsest(levels, step)
        self.name, self._mirrored, self._ask = name, mirrored, ask
        self.shape = tuple(int(n) for n in self._fine.shape)
        self.dtype = np.dtype(self._fine.dtype)
        self.ndim = len(self.shape)

    def __getitem__(self, part: Part) -> NDArray[Any]:
        """Read a part.

        Parameters
        ----------
        part : tuple of slice
            Rows and columns, without steps.

        Returns
        -------
        ndarray, shape (h, w) or (h, w, channels)

        Raises
        ------
        OSError
            It cannot be read, with its place.
        """
        if self._ask is not None:
            self._ask()
        rows, columns = (slice(*s.indices(n)[:2]) for s, n in zip(part, self.shape, strict=False))
        width = self.shape[1]
        if self._mirrored:
            columns = slice(width - columns.stop, width - columns.start)
        whole = columns.stop - columns.start > width - max(self._step, 1)
        pixels = self._enlarged(rows, columns) if whole else self._read(self._fine, rows, columns)
        return pixels[:, ::-1] if self._mirrored else pixels

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401
        """Read it as a whole."""
        return np.array(self[:, :], dtype, copy=copy)

    def _read(self, level: Any, rows: slice, columns: slice) -> NDArray[Any]:  # noqa: ANN401
        """Read a part of a level; what fails there is of the layer's making."""
        try:
            return np.asarray(level[rows, columns])
        except (InputError, MemoryError):
            raise
        except Exception as error:
            where = f"rows {rows.start}:{rows.stop}, columns {columns.start}:{columns.stop}"
            why = str(error) or type(error).__name__
            raise OSError(f"layer {self.name!r}: {where} cannot be read ({why})") from error

    def _enlarged(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Cut a part of the strips' level, and repeat its pixels."""
        if self._strips is self._fine:
            return self._read(self._fine, rows, columns)
        index = [
            np.minimum((np.arange(s.start, s.stop) + 0.5) * (m / n), m - 1).astype(int)
            for s, n, m in zip((rows, columns), self.shape, self._strips.shape, strict=False)
        ]
        first, last = ([int(i[end]) for i in index] for end in (0, -1))
        cut = (slice(a, b + 1) for a, b in zip(first, last, strict=True))
        pixels = self._read(self._strips, *cut)
        found: NDArray[Any] = pixels[index[0] - first[0]][:, index[1] - first[1]]
        return found


class Blocks:
    """A mask whose pixels stand for blocks of pixels of an image.

    Parameters
    ----------
    mask : ndarray, shape (h, w), bool
        One for each block.
    shape : tuple of int
        Rows and columns of the image.
    step : int
        Side of a block.
    mirrored : bool
        Whether the columns of the image are reversed.
    """

    def __init__(
        self, mask: NDArray[np.bool_], shape: tuple[int, int], step: int, *, mirrored: bool = False
    ) -> None:
        """Keep the blocks."""
        self.mask, self.shape, self.step, self.mirrored = mask, shape, step, mirrored
        self.dtype, self.ndim = mask.dtype, 2

    def __getitem__(self, part: Part) -> NDArray[np.bool_]:
        """Give a part in pixels.

        Parameters
        ----------
        part : tuple of slice
            Rows and columns.

        Returns
        -------
        ndarray, bool
        """
        rows, columns = (np.arange(*s.indices(n)) for s, n in zip(part, self.shape, strict=True))
        if self.mirrored:
            columns = self.shape[1] - 1 - columns
        return self.mask[rows // self.step][:, columns // self.step]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401
        """Give all of it in pixels."""
        return np.array(self[:, :], dtype, copy=copy)


def lazy_plane(
    layer: Image,
    level: int = 0,
    plane: Sequence[int] = (),
    *,
    step: float = 1.0,
    mirrored: bool = False,
    ask: Callable[[], None] | None = None,
) -> LazyPlane:
    """Choose one plane of a layer, to be read part by part.

    Parameters
    ----------
    layer : napari.layers.Image
        Gray or colour, NumPy, Dask or Zarr.
    level : int
        Pyramid level whose pixels are counted.
    plane : sequence of int
        Index on the leading axes of a stack.
    step : float
        How many of its pixels a reader of strips averages along each axis; 1 for exact strips.
    mirrored : bool
        Whether the columns are reversed.
    ask : callable, optional
        Called before each part is read; what it raises ends the reading.

    Returns
    -------
    LazyPlane

    Raises
    ------
    InputError
        There is no such level or plane, or its values are not real numbers.
    """
    count = len(levels_of(layer)) if step > 1 else level + 1
    levels = [read(layer, number).lazy(plane) for number in range(level, count)]
    return LazyPlane(levels, name=layer.name, step=step, mirrored=mirrored, ask=ask)


def _coarsest(levels: Sequence[Any], step: float) -> Any:  # noqa: ANN401
    """Coarsest level of which a reader that averages blocks sees no difference."""
    found = levels[0]
    for level in levels[1:]:
        ratios = [n / m for n, m in zip(levels[0].shape[:2], level.shape[:2], strict=True)]
        times = step / max(ratios)
        if times >= 2 or abs(times - 1) < 1e-3:
            found = level
    return found
