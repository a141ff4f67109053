"""Transform files: JSON, text as affinder reads it, and ITK's format, told apart by the ending."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from napari_cosparse.core.errors import InputError

from ._atomic import write_bytes, write_together
from ._transform_itk import decode_itk, encode_itk
from ._transform_json import decode_json, encode_json
from ._transform_record import Pair, Shape, Transform, as_transform
from ._transform_text import decode_text, encode_text

MAX_BYTES = 16 * 2**20  # a history of costs is some kilobytes
_WRITERS = {".json": encode_json, ".txt": encode_text, ".csv": encode_text, ".tfm": encode_itk}


def save_transform(
    path: str | Path,
    registration: Any,  # noqa: ANN401 - Registration, Transform or matrix
    *,
    fixed_shape: Shape | None = None,
    moving_shape: Shape | None = None,
    pixel_size_fixed: Pair | None = None,
    pixel_size_moving: Pair | None = None,
) -> Path:
    """Write a registration for this and for other programs.

    ``.json`` keeps everything; its `matrix` maps fixed pixel (row, column, 1) to moving pixel.
    ``.txt`` and ``.csv`` hold the affine of the moving layer, moving to fixed, in physical units,
    as affinder and `numpy.loadtxt` read it. ``.tfm`` is an ITK affine transform, physical fixed
    (x, y) to physical moving (x, y), as SimpleITK resamples with.

    Parameters
    ----------
    path : str or Path
        The file; its ending chooses the format. A file of that name is replaced, once the new one
        is complete.
    registration : Registration, Transform or array_like, shape (3, 3)
        What is written; a matrix maps fixed pixel (row, column, 1) to moving pixel.
    fixed_shape, moving_shape : tuple of int, optional
        Rows and columns of the images; from the registration if None.
    pixel_size_fixed, pixel_size_moving : tuple of float, optional
        Height and width of a pixel, both in one unit; from the registration, or 1, if None.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the ending is unknown, the folder does not exist, the matrix is none, or the
        registration is not trusted and the format cannot say so.
    OSError
        If the disk refuses.
    """
    path = transform_path(path)
    transform = as_transform(
        registration,
        fixed_shape=fixed_shape,
        moving_shape=moving_shape,
        pixel_size_fixed=pixel_size_fixed,
        pixel_size_moving=pixel_size_moving,
    )
    write_together([(path, partial(write_bytes, content=encode_transform(path, transform)))])
    return path


def encode_transform(path: str | Path, transform: Transform) -> bytes:
    """Make the content of a transform file.

    Parameters
    ----------
    path : str or Path
        Its ending chooses the format; nothing is written.
    transform : Transform
        The transform.

    Returns
    -------
    bytes
        What the file is to hold.

    Raises
    ------
    InputError
        If the ending is unknown, or the transform is not trusted and the format cannot say so.
    """
    ending = transform_path(path).suffix.lower()
    if not transform.trusted and ending != ".json":
        raise InputError(
            f"{path}: the registration is not trusted ({transform.because}), which only .json can "
            "say. Write .json, or pass the matrix alone"
        )
    return _WRITERS[ending](transform).encode("ascii")


def load_transform(
    path: str | Path,
    *,
    pixel_size_fixed: Pair = (1.0, 1.0),
    pixel_size_moving: Pair = (1.0, 1.0),
) -> Transform:
    """Read a transform that this or another program wrote.

    Parameters
    ----------
    path : str or Path
        A ``.json``, ``.txt``, ``.csv`` or ``.tfm`` file; see `save_transform`.
    pixel_size_fixed, pixel_size_moving : tuple of float
        Height and width of a pixel, for the formats in physical units. JSON brings its own.

    Returns
    -------
    Transform
        In pixels, fixed to moving, whatever the file's convention.

    Raises
    ------
    InputError
        If there is no such file, or it is none of the formats.
    """
    path = transform_path(path)
    text = _read(path)
    ending = path.suffix.lower()
    try:
        if ending == ".json":
            return decode_json(text)
        itk = ending == ".tfm" or text.startswith("#Insight Transform File")
        decode = decode_itk if itk else decode_text
        return decode(text, pixel_size_fixed, pixel_size_moving)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def transform_path(path: str | Path) -> Path:
    """Refuse a name whose ending is no format of transforms.

    Parameters
    ----------
    path : str or Path
        Name of a file.

    Returns
    -------
    Path
        The same.

    Raises
    ------
    InputError
        If it is no path, or the ending is unknown.
    """
    try:
        path = Path(path)
    except TypeError:
        raise InputError(f"{path!r} must be the path of a transform: .json, .txt or .tfm") from None
    if path.suffix.lower() not in _WRITERS:
        raise InputError(
            f"{path} has the ending {path.suffix!r}; transforms are .json, .txt or .csv (as "
            "affinder reads), or .tfm (ITK)"
        )
    return path


def _read(path: Path) -> str:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path} has {path.stat().st_size} bytes; that is no transform")
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text; that is no transform") from error
