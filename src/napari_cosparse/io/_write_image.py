"""Writing images for the command line: exactly, in a format that can, completely or not at all."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._atomic import write_together
from ._read_image import check_ending, in_words

_ANY_TYPE = ("any",)
_GRAY, _COLOUR = 1, 3
_HOLDS: dict[str, dict[int, tuple[str, ...]]] = {
    # ending: number of channels: types that come back as they were
    ".tif": {_GRAY: _ANY_TYPE, _COLOUR: _ANY_TYPE},
    ".tiff": {_GRAY: _ANY_TYPE, _COLOUR: _ANY_TYPE},
    ".npy": {_GRAY: _ANY_TYPE, _COLOUR: _ANY_TYPE},
    ".png": {_GRAY: ("bool", "uint8", "uint16"), _COLOUR: ("uint8",)},
    ".pgm": {_GRAY: ("uint8", "uint16")},
    ".ppm": {_COLOUR: ("uint8",)},
    ".jpg": {_GRAY: ("uint8",), _COLOUR: ("uint8",)},
    ".jpeg": {_GRAY: ("uint8",), _COLOUR: ("uint8",)},
}
FLOAT_ENDINGS = tuple(key for key, value in _HOLDS.items() if value.get(_GRAY) == _ANY_TYPE)


def check_image_path(path: str | Path, dtype: np.dtype[Any], channels: int = 1) -> Path:
    """Refuse an ending that cannot hold an image exactly, before the image is computed.

    Parameters
    ----------
    path : str or Path
        Where the image is to be written.
    dtype : dtype
        Its type.
    channels : int
        1 for gray, 3 for colour.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    InputError
        If the ending is unknown or its format has no such type.
    """
    path = Path(path)
    ending = check_ending(path)
    types = _HOLDS[ending].get(channels)
    if types is None:
        kind = {_GRAY: "a gray", _COLOUR: "a colour"}.get(channels, f"a {channels}-channel")
        fitting = [key for key, value in _HOLDS.items() if channels in value]
        way_out = f"choose {in_words(fitting)}" if fitting else "split it into planes"
        raise InputError(f"{path}: {ending} cannot hold {kind} image; {way_out}")
    if types != _ANY_TYPE and str(dtype) not in types:
        raise InputError(
            f"{path}: {ending} holds {in_words(types)} but the image is {dtype}; "
            f"choose {in_words(FLOAT_ENDINGS)}, which hold every type"
        )
    return path


def write_image(path: str | Path, image: NDArray[Any]) -> Path:
    """Write one image without changing its values; it is there completely or not at all.

    Parameters
    ----------
    path : str or Path
        A TIFF, NPY, PNG, PGM, PPM or JPEG file, told apart by the ending. JPEG changes values
        slightly, as it always does.
    image : ndarray, shape (H, W) or (H, W, 3)
        Of a type that the format holds.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the format cannot hold the image or the folder does not exist.
    OSError
        If the disk refuses.
    """
    path = check_image_path(path, image.dtype, image.shape[2] if image.ndim == 3 else 1)
    write_together([(path, partial(write_pixels, image=image))])
    return path


def write_pixels(path: Path, image: NDArray[Any]) -> None:
    """Encode an image by the ending of its path; see `write_image` for files of users.

    Parameters
    ----------
    path : Path
        Usually a temporary file of `write_together`.
    image : ndarray, shape (H, W) or (H, W, 3)
        Of a type that the format holds.
    """
    ending = path.suffix.lower()
    if ending == ".npy":
        np.save(path, image, allow_pickle=False)
    elif ending in (".tif", ".tiff"):
        import tifffile

        kind = "rgb" if image.ndim == 3 else "minisblack"
        tifffile.imwrite(path, image, photometric=kind, metadata=None)
    else:
        from PIL import Image

        options: dict[str, Any] = (
            {"quality": 95, "subsampling": 0} if ending in (".jpg", ".jpeg") else {}
        )
        Image.fromarray(np.ascontiguousarray(image)).save(path, **options)
