"""Images through Pillow, with guards where it would change values without a word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

_AS_STORED = {"1", "L", "I", "F", "RGB", "I;16", "I;16L", "I;16B", "I;16N"}
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def read_pillow(path: Path) -> NDArray[Any]:
    """Read a PNG, JPEG, PGM or PPM file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    ndarray, shape (H, W) or (H, W, 3)
        Values as stored.

    Raises
    ------
    InputError
        If Pillow would cut 16-bit colours to 8 bits, or the file has several frames.
    """
    from PIL import Image

    head = _head(path)
    if head.startswith(_PNG_SIGNATURE) and head[24] == 16 and head[25] != 0:
        raise InputError(_cut(path, "PNG"))
    with Image.open(path) as image:
        # MPO: the photograph of a telephone and its preview in one JPEG
        frames: int = getattr(image, "n_frames", 1)
        if frames > 1 and image.format != "MPO":
            raise InputError(f"{path} has {frames} frames; save one of them")
        pixels = pixels_of(image)
        return _unscaled(pixels, head, path) if image.format == "PPM" else pixels


def _head(path: Path) -> bytes:
    """Return the beginning of a file."""
    with path.open("rb") as file:
        return file.read(4096)


def _cut(path: Path, kind: str) -> str:
    """Message for colours of 16 bits."""
    return f"{path} is a {kind} of 16-bit colour, which cannot be read whole; save it as TIFF"


def pixels_of(image: Image) -> NDArray[Any]:
    """Return the values of an opened image: gray or RGB, without alpha.

    Parameters
    ----------
    image : PIL.Image.Image
        The opened image.

    Returns
    -------
    ndarray, shape (H, W) or (H, W, 3)
        Its values.
    """
    if image.mode in _AS_STORED:
        return np.array(image)
    if image.mode in ("LA", "La"):
        return np.array(image.convert("LA"))[..., 0]
    # over RGBA: palettes may carry transparency, which must not be blended into the colours
    transparent = image.mode in ("P", "PA", "RGBA", "RGBa", "RGBX")
    return np.array(image.convert("RGBA" if transparent else "RGB"))[..., :3]


def _unscaled(pixels: NDArray[Any], head: bytes, path: Path) -> NDArray[Any]:
    """Undo the stretching of PGM and PPM values to 8 or 16 bits that Pillow does.

    A PGM may say that its largest value is, say, 1000; Pillow then multiplies by 65535 / 1000 and
    rounds. As different values stay different, the product can be taken back exactly.
    """
    words = re.sub(rb"#[^\r\n]*", b" ", head).split(None, 4)
    if words[0] not in (b"P2", b"P3", b"P5", b"P6"):
        return pixels
    largest = int(words[3])
    if pixels.ndim == 3 and largest > 255:
        raise InputError(_cut(path, "PPM"))
    dtype = np.uint16 if largest > 255 else np.uint8
    return np.rint(pixels * (largest / np.iinfo(dtype).max)).astype(dtype)
