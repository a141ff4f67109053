"""Images that the commands read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.io import ZarrImage, in_zarr, open_zarr, read_image
from napari_cosparse.tiles import gather, planes_of

from ._record import describe_file

COLOURS = (2, 3, 4)  # channels of a file; more are planes


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
    zarr = in_zarr(path)
    pixels = _one_plane(path) if zarr else read_image(path)
    named = {"file": str(path)} if zarr else describe_file(path)
    record = {**named, "shape": list(pixels.shape), "dtype": str(pixels.dtype)}
    return InputImage(pixels, record)


def _one_plane(path: Path) -> NDArray[Any]:
    """Read a store that holds one image; axes of length 1 before it do not count."""
    found = open_zarr(path)
    shape = tuple(found.array.shape)
    colour = True if found.axes.endswith("yxc") else colour_of(found, str(path))
    if colour is None:  # channels or bands, unless it looks like a stack
        colour = len(shape) > 2 and (shape[-1] in COLOURS or (len(shape) == 3 and shape[0] > 1))
    own = 2 + bool(colour)
    if any(n != 1 for n in shape[: len(shape) - own]):
        raise InputError(
            f"{path} is a stack ({' x '.join(map(str, shape))}); one plane is needed here. "
            "Learning, and upsampling into a Zarr store (-o NAME.zarr), take stacks"
        )
    pixels = np.asarray(gather(found.array, str(path)))
    pixels = pixels.reshape(shape[len(shape) - own :])
    return np.moveaxis(pixels, 0, -1) if colour == "first" else pixels


@dataclass(frozen=True, eq=False)
class InputPlanes:
    """An image of any number of planes, which are read part by part if they lie in a store.

    Attributes
    ----------
    planes : list of array-like, shape (H, W) or (H, W, channels)
        One for each place along the leading axes (time, depth).
    record : dict
        File name, checksum unless it is a store, shape and type.
    """

    planes: list[Any]
    record: dict[str, Any]


def open_planes(path: Path) -> InputPlanes:
    """Open an image without reading it if it is a Zarr store; read it if it is a file.

    Parameters
    ----------
    path : Path
        The file or store.

    Returns
    -------
    InputPlanes

    Raises
    ------
    InputError
        If it cannot be opened.
    """
    if not in_zarr(path):
        image = load_image(path)
        return InputPlanes([image.pixels], image.record)
    found = open_zarr(path)
    record = {
        "file": str(path),
        "shape": [int(n) for n in found.array.shape],
        "dtype": str(found.array.dtype),
    }
    return InputPlanes(planes_of(found.array, str(path), colour_of(found, str(path))), record)


def colour_of(image: ZarrImage, name: str) -> Any:  # noqa: ANN401 - bool, "first" or None
    """Say which axis of a store holds channels.

    Parameters
    ----------
    image : ZarrImage
        The store.
    name : str
        What to call it in an error.

    Returns
    -------
    bool, "first" or None
        As `planes_of` takes it; None if the store does not name its axes.

    Raises
    ------
    InputError
        If they are at a place where no colour can be.
    """
    if not image.axes:
        return None
    if image.axes.endswith("cyx"):
        return "first"
    if "c" in image.axes and image.array.shape[image.axes.index("c")] > 1:
        raise InputError(f"{name} has axes {image.axes}; its channels must come just before y, x")
    return False


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
    gray = as_gray(image.pixels)
    if gray is None:
        coloured = image.pixels.shape[2] in COLOURS
        kind, part = ("in colour", "channel") if coloured else ("a stack", "plane")
        raise InputError(
            f"{path} is {kind} ({image.size}); the target needs one value a pixel. Save the {part} "
            "to upsample as a gray image, or write to a Zarr store (-o NAME.zarr), where "
            f"{part}s are upsampled one by one"
        )
    return InputImage(gray, image.record)


def as_gray(pixels: NDArray[Any]) -> NDArray[Any] | None:
    """Take one channel if all are the same.

    Parameters
    ----------
    pixels : ndarray, shape (H, W) or (H, W, channels)
        Of an image file.

    Returns
    -------
    ndarray, shape (H, W), or None
        None if they differ.
    """
    if pixels.ndim == 2:
        return pixels
    first = pixels[..., :1]
    unknown = np.isnan(pixels) & np.isnan(first)  # NaN is not equal to itself
    return first[..., 0].copy() if ((pixels == first) | unknown).all() else None
