"""TIFF files through tifffile, or Pillow for compressions that tifffile alone cannot undo."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._pillow import pixels_of

_ALPHA = (1, 2)  # kinds of extra samples in the TIFF specification
_MIN_IS_WHITE, _PALETTE, _SEPARATED = 0, 3, 5  # photometric interpretations
_REDUCED_OR_MASK = 1 | 4  # kinds of pages that are not images of their own


def read_tiff(path: Path) -> NDArray[Any]:
    """Read the only image of a TIFF file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    ndarray, shape (H, W) or (H, W, channels)
        Values as stored; palettes as RGB, alpha dropped.

    Raises
    ------
    InputError
        If the file has several pages, several depths or inks, or a compression that needs
        another package.
    """
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        pages = [entry.aspage() for entry in tiff.pages]
        pages = [page for page in pages if not page.subfiletype & _REDUCED_OR_MASK]
        if len(pages) != 1:
            raise InputError(f"{path} has {len(pages)} pages; save the one to use alone")
        page = pages[0]
        if page.photometric == _SEPARATED:
            raise InputError(f"{path} holds printing inks (CMYK); save it as RGB")
        try:
            pixels = page.asarray()
        except ValueError as error:
            if "imagecodecs" not in str(error):
                raise
            return _through_pillow(path, page, str(error))
        return _arranged(pixels, page, path)


def _arranged(pixels: NDArray[Any], page: Any, path: Path) -> NDArray[Any]:  # noqa: ANN401
    """Bring the axes into the order (row, column, channel), without palette and alpha."""
    if page.axes not in ("YX", "YXS", "SYX"):
        raise InputError(f"{path} has the axes {page.axes}; one plane has YX or YXS")
    if page.photometric == _PALETTE:
        return np.moveaxis(page.colormap[:, pixels], 0, -1)
    if page.axes == "SYX":
        pixels = np.moveaxis(pixels, 0, -1)
    alpha = sum(sample in _ALPHA for sample in page.extrasamples)
    return pixels[..., : pixels.shape[2] - alpha] if pixels.ndim == 3 and alpha else pixels


def _through_pillow(path: Path, page: Any, reason: str) -> NDArray[Any]:  # noqa: ANN401
    """Try Pillow, and refuse its answer if it changed the values."""
    from PIL import Image

    pixels = np.empty(0)
    if page.photometric != _MIN_IS_WHITE:  # Pillow would turn the values round
        with suppress(OSError), Image.open(path) as image:
            pixels = pixels_of(image)
            pixels = pixels.astype(pixels.dtype.newbyteorder("="))
    if not pixels.size or pixels.dtype != page.dtype:
        raise InputError(
            f"{path}: {reason}; save it without compression or install that package with pip"
        )
    return pixels
