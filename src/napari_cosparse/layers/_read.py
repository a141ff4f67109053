"""Pixels of napari's layers as arrays for the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from napari.layers import Image, Labels
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.planes import plane_name

from ._cut import LazyCut, LazyLuminance, luminance

Window = tuple[slice, slice]
Reader = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Source:
    """Pixels of one level of a layer, read when they are needed.

    It is made in the main thread and may be loaded in another one: it keeps no layer.

    Attributes
    ----------
    name : str
        Name of the layer.
    pixels : array-like, shape (..., H, W) or (..., H, W, 3 | 4)
        NumPy, Dask or Zarr array of the level.
    rgb : bool
        Whether the last axis is colour.
    axis_labels : tuple of str
        Names of the axes without colour.
    """

    name: str
    pixels: Any
    rgb: bool
    axis_labels: tuple[str, ...] = ()

    @property
    def leading(self) -> tuple[int, ...]:
        """Shape of the axes before the plane; empty for a plane."""
        return tuple(int(n) for n in self.pixels.shape[: -3 if self.rgb else -2])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of a plane."""
        rows, columns = self.pixels.shape[-3:-1] if self.rgb else self.pixels.shape[-2:]
        return int(rows), int(columns)

    def lazy(self, plane: Sequence[int] = ()) -> Any:  # noqa: ANN401 NumPy, Dask or Zarr
        """One plane, neither computed nor converted where the array allows that.

        Parameters
        ----------
        plane : sequence of int
            Index on the leading axes; axes of length 1 may be left out.

        Returns
        -------
        array-like, shape (H, W) or (H, W, 3 | 4)

        Raises
        ------
        InputError
            The layer's values are not real numbers, or there is no such plane.
        """
        self.check_numbers()
        index = self._index(plane)
        if not index:
            return self.pixels
        cuts_lazily = isinstance(self.pixels, np.ndarray) or hasattr(self.pixels, "dask")
        return self.pixels[index] if cuts_lazily else LazyCut(self.pixels, index)

    def check_numbers(self) -> None:
        """Refuse values that are no real numbers, without reading any.

        Raises
        ------
        InputError
            The layer's type is another one.
        """
        if np.dtype(self.pixels.dtype).kind not in "buif":
            raise InputError(
                f"layer {self.name!r} holds {self.pixels.dtype} values; real numbers are needed, "
                "convert the layer first"
            )

    def load(
        self,
        plane: Sequence[int] = (),
        window: Window | None = None,
        reader: Reader = np.asarray,
    ) -> NDArray[Any]:
        """Pixels of one plane as they are, without alpha.

        Parameters
        ----------
        plane : sequence of int
            Index on the leading axes; axes of length 1 may be left out.
        window : tuple of slice, optional
            Rows and columns that are read; all if None.
        reader : callable, optional
            Makes a NumPy array of an array-like, perhaps asking meanwhile whether to stop.

        Returns
        -------
        ndarray, shape (H, W) or (H, W, 3)
            In the layer's unit and type; NaN stays.

        Raises
        ------
        InputError
            The layer's values are not real numbers, or it has several planes and none is named.
        """
        pixels = self.lazy(plane)
        image = np.asarray(reader(pixels if window is None else pixels[window]))
        return image[..., :3] if self.rgb else image

    def load_gray(
        self,
        plane: Sequence[int] = (),
        window: Window | None = None,
        reader: Reader = np.asarray,
    ) -> NDArray[Any]:
        """Pixels of one plane with colour replaced by its luminance.

        Parameters
        ----------
        plane, window, reader
            As for `load`.

        Returns
        -------
        ndarray, shape (H, W)
            In the layer's unit; float32 where the layer has colour.
        """
        image = self.load(plane, window, reader)
        return luminance(image) if self.rgb else image

    @property
    def gray(self) -> Any:  # noqa: ANN401 NumPy, Dask, Zarr or what reads them
        """All planes with colour replaced by its luminance, read when they are needed."""
        return LazyLuminance(self.pixels) if self.rgb else self.pixels

    def _index(self, plane: Sequence[int]) -> tuple[int, ...]:
        index = tuple(int(i) for i in plane)
        if not index and prod(self.leading) == 1:
            return (0,) * len(self.leading)
        if len(index) != len(self.leading) or any(
            not 0 <= i < n for i, n in zip(index, self.leading, strict=True)
        ):
            many, which = " x ".join(map(str, self.leading)), plane_name(index)
            missing = f" and has no plane {which}" if index else ""
            raise InputError(
                f"layer {self.name!r} is a stack of {many} planes{missing}; name one, from 0"
            )
        return index


def read(layer: Image | Labels, level: int = 0) -> Source:
    """Choose the pixels of a layer, without computing them.

    Parameters
    ----------
    layer : napari.layers.Image or Labels
        Gray, colour or labels; a plane or a stack of planes.
    level : int
        Pyramid level of a multiscale layer, 0 is the finest.

    Returns
    -------
    Source
        What `Source.load` reads later.

    Raises
    ------
    InputError
        The layer has no such level, or no plane.
    """
    levels = list(layer.data) if layer.multiscale else [layer.data]
    if not 0 <= level < len(levels):
        raise InputError(
            f"layer {layer.name!r} has no level {level}; choose one of 0 to {len(levels) - 1}"
        )
    rgb = bool(getattr(layer, "rgb", False))
    if layer.ndim < 2:
        raise InputError(f"layer {layer.name!r} has {layer.ndim} axis; an image needs two")
    return Source(layer.name, levels[level], rgb, tuple(layer.axis_labels))


def levels_of(layer: Image | Labels) -> list[tuple[int, int]]:
    """Rows and columns of each pyramid level.

    Parameters
    ----------
    layer : napari.layers.Image or Labels
        Multiscale or not.

    Returns
    -------
    list of tuple of int
        The finest level first; one entry for a layer that is not multiscale.
    """
    shapes = layer.level_shapes if layer.multiscale else [layer.data.shape]
    cut = [tuple(int(n) for n in shape[: layer.ndim][-2:]) for shape in shapes]
    return [(rows, columns) for rows, columns in cut]
