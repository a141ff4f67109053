"""Images that the commands read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.io import is_zarr, open_zarr, read_image

from ._record import describe_file


@dataclass(frozen=True, eq=False)
class InputImage:
    """An image and where it came from.

    Attributes
    ----------
    pixels : ndarray, shape (H, W) or (H, W, channels)
        Values and type as stored.
    record : dict
        File name, checksum, shape and type, for the JSON beside the output.
    """

    pixels: NDArray[Any]
    record: dict[str, Any]

    @property
    def size(self) -> str:
        """Shape and type in words."""
        return f"{' x '.join(map(str, self.pixels.shape))} {self.pixels.dtype}"


def load_image(path: Path) -> InputImage:
    """Read an image of any number of channels.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    InputImage
        Pixels and record.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    zarr = is_zarr(path)
    pixels = np.asarray(open_zarr(path).array) if zarr else read_image(path)
    named = {"file": str(path)} if zarr else describe_file(path)
    record = {**named, "shape": list(pixels.shape), "dtype": str(pixels.dtype)}
    return InputImage(pixels, record)


def load_gray(path: Path) -> InputImage:
    """Read an image with one value a pixel; gray saved as RGB is one.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    InputImage
        Pixels of shape (H, W), and record.

    Raises
    ------
    InputError
        If it cannot be read, or its channels differ.
    """
    image = load_image(path)
    if image.pixels.ndim == 2:
        return image
    first = image.pixels[..., :1]
    unknown = np.isnan(image.pixels) & np.isnan(first)  # NaN is not equal to itself
    same = (image.pixels == first) | unknown
    if not same.all():
        raise InputError(
            f"{path} is in colour ({image.size}); the target needs one value a pixel. "
            "Save the channel to upsample as a gray image"
        )
    return InputImage(first[..., 0].copy(), image.record)
