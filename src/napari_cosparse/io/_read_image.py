"""Reading images for the command line: values and types as stored, one plane a file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._pillow import read_pillow
from ._tiff import read_tiff

_REAL = "biuf"  # kinds of NumPy types: bool, signed, unsigned, float
ENDINGS = (".jpeg", ".jpg", ".npy", ".pgm", ".png", ".ppm", ".tif", ".tiff")


def read_image(path: str | Path) -> NDArray[Any]:
    """Read one image with its values and its type as they are stored.

    Palettes become RGB, alpha is dropped. The orientation that a camera notes beside the pixels is
    not applied.

    Parameters
    ----------
    path : str or Path
        A PNG, TIFF, PGM, PPM, JPEG or NPY file, told apart by the ending.

    Returns
    -------
    ndarray, shape (H, W) or (H, W, channels)
        Boolean, integer or float, in the unit of the file.

    Raises
    ------
    InputError
        If there is no such file, it is damaged or of another kind, holds more than one plane or
        values that are not real numbers, or would lose bits (16-bit colour PNG and PPM).
    """
    path = Path(path)
    read = _reader(path)
    if not path.exists():
        raise InputError(f"{path}: there is no such file; check its name")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of an image in it")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about tags beside the pixels
            image = read(path)
    except (InputError, MemoryError, PermissionError):
        raise
    except Exception as error:
        raise InputError(f"{path} cannot be read; is it damaged? ({_words(error)})") from error
    return _checked(image, path)


def _reader(path: Path) -> Callable[[Path], NDArray[Any]]:
    """Choose by the ending."""
    ending = check_ending(path)
    if ending == ".npy":
        return _read_npy
    return read_tiff if ending in (".tif", ".tiff") else read_pillow


def check_ending(path: Path) -> str:
    """Return the ending of an image's name, in small letters.

    Parameters
    ----------
    path : Path
        A file name.

    Returns
    -------
    str
        One of `ENDINGS`.

    Raises
    ------
    InputError
        If it is none of them.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        found = f"ends in {ending}" if ending else "has no ending"
        raise InputError(f"{path} {found}; the names of images end in {in_words(ENDINGS)}")
    return ending


def _read_npy(path: Path) -> NDArray[Any]:
    """Read an array; the map refuses a header that claims more than the file has."""
    return np.array(np.load(path, mmap_mode="r", allow_pickle=False))


def _words(error: Exception) -> str:
    """Text of an error of a library, or at least its name."""
    return str(error) or type(error).__name__


def in_words(endings: Iterable[str]) -> str:
    """Write a list as people do.

    Parameters
    ----------
    endings : iterable of str
        At least one.

    Returns
    -------
    str
        ``"a, b or c"``.
    """
    *first, last = sorted(endings)
    return f"{', '.join(first)} or {last}" if first else last


def _checked(image: NDArray[Any], path: Path) -> NDArray[Any]:
    """Refuse what is not one plane of real numbers; bring the bytes into the machine's order."""
    if image.dtype.kind not in _REAL:
        raise InputError(f"{path} holds {image.dtype} values; an image needs real numbers")
    if image.ndim == 3 and image.shape[2] == 1:
        image = image[..., 0]
    if image.ndim not in (2, 3) or not image.size:
        raise InputError(
            f"{path} has shape {image.shape}; an image has (rows, columns) or (rows, columns, "
            "channels), and stacks are given plane by plane"
        )
    return np.ascontiguousarray(image, image.dtype.newbyteorder("="))
