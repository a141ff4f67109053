"""Pixels of napari's image layers as arrays for the core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from napari.layers import Image
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

LUMINANCE = (0.299, 0.587, 0.114)  # ITU-R BT.601, as Pillow's and OpenCV's conversion to gray


@dataclass(frozen=True, eq=False)
class Source:
    """Pixels of one level of an image layer, read when they are needed.

    It is made in the main thread and may be loaded in another one: it keeps no layer.

    Attributes
    ----------
    name : str
        Name of the layer.
    pixels : array-like, shape (..., H, W) or (..., H, W, 3 | 4)
        NumPy, Dask or Zarr array of the level.
    rgb : bool
        Whether the last axis is colour.
    """

    name: str
    pixels: Any
    rgb: bool

    def load(self) -> NDArray[Any]:
        """Pixels as they are, without leading axes and without alpha.

        Returns
        -------
        ndarray, shape (H, W) or (H, W, 3)
            In the layer's unit and type; NaN stays.

        Raises
        ------
        InputError
            The layer's values are not real numbers.
        """
        image = np.asarray(self.pixels)
        if image.dtype.kind not in "buif":
            raise InputError(
                f"layer {self.name!r} holds {image.dtype} values; real numbers are needed, "
                "convert the layer first"
            )
        image = image.reshape(image.shape[-3 if self.rgb else -2 :])
        return image[..., :3] if self.rgb else image

    def load_gray(self) -> NDArray[Any]:
        """Pixels with colour replaced by its luminance.

        Returns
        -------
        ndarray, shape (H, W)
            In the layer's unit; float32 where the layer has colour.
        """
        image = self.load()
        return (image @ np.asarray(LUMINANCE)).astype(np.float32) if self.rgb else image


def read(layer: Image, level: int = 0) -> Source:
    """Choose the pixels of an image layer, without computing them.

    Parameters
    ----------
    layer : napari.layers.Image
        Two-dimensional image, gray or colour; leading axes must have length 1.
    level : int
        Pyramid level of a multiscale layer, 0 is the finest.

    Returns
    -------
    Source
        What `Source.load` reads later.

    Raises
    ------
    InputError
        The layer is a stack, or has no such level.
    """
    levels = list(layer.data) if layer.multiscale else [layer.data]
    if not 0 <= level < len(levels):
        raise InputError(
            f"layer {layer.name!r} has no level {level}; choose one of 0 to {len(levels) - 1}"
        )
    pixels = levels[level]
    check_plane(layer.name, pixels.shape[:-1] if layer.rgb else pixels.shape)
    return Source(layer.name, pixels, bool(layer.rgb))


def check_plane(name: str, shape: tuple[int, ...]) -> None:
    """Refuse arrays that are not one plane.

    Parameters
    ----------
    name : str
        Name of the layer, for the message.
    shape : tuple of int
        Shape of its pixels without colour.

    Raises
    ------
    InputError
        There is a leading axis longer than 1, or fewer than two axes.
    """
    if len(shape) < 2 or any(length != 1 for length in shape[:-2]):
        raise InputError(
            f"layer {name!r} has shape {tuple(shape)}; only two-dimensional images are supported "
            "for now, so choose one plane of it (right click on the layer > Split Stack)"
        )
