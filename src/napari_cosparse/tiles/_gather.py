"""Read images into memory chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from dask.array import store

from ._checks import check_sizes, two_of
from ._levels import level_of
from ._read import blaming, read_part
from ._sources import COLOURS


def gather(image: Any, name: str = "image", level: int = 0) -> Any:  # noqa: ANN401 - array-likes
    """Read an image into memory chunk by chunk, in its own type.

    Parameters
    ----------
    image : array-like, or sequence of array-likes
        NumPy arrays and what is no array are handed back as they are; a sequence is the levels of
        a multiscale image.
    name : str
        What to call it in errors.
    level : int
        Level of a multiscale image; 0 is the finest.

    Returns
    -------
    array-like
        A NumPy array of a Dask or Zarr array.

    Raises
    ------
    InputError
        If it has no such level.
    OSError
        If it cannot be read, with the place.
    """
    image = level_of(image, name, level)
    if isinstance(image, np.ndarray) or not hasattr(image, "chunks") or image.ndim < 2:
        return image
    down = max(0, image.ndim - 2 - (image.shape[-1] in COLOURS and image.ndim > 2))
    if hasattr(image, "dask"):
        whole = tuple(slice(0, n) for n in image.shape)
        with blaming(image, whole, name, down, down):
            return _computed(image)
    out = np.empty(image.shape, image.dtype)
    for first in range(0, out.shape[0], max(1, int(image.chunks[0]))):
        part = slice(first, first + int(image.chunks[0]))
        out[part] = read_part(image, (part,), name, down, down)
    return out


def gather_both(target: Any, guide: Any, level: Any = (0, 0)) -> tuple[Any, Any]:  # noqa: ANN401
    """Read a target and its guide into memory.

    Parameters
    ----------
    target, guide : array-like, or sequence of array-likes
        See `gather`.
    level : tuple of int
        Level of a multiscale target and guide; 0 is the finest.

    Returns
    -------
    tuple of array-like

    Raises
    ------
    InputError
        If there are no such levels, or Dask does not know the shape.
    OSError
        If one cannot be read, with the place.
    """
    levels = two_of(level, "level", "(0, 0)")
    for image, name in ((target, "target"), (guide, "guide")):
        check_sizes(image, name)
    return gather(target, "target", levels[0]), gather(guide, "guide", levels[1])


def _computed(image: Any) -> Any:  # noqa: ANN401 - dask.array.Array
    """Compute a Dask array in threads; a mask is kept."""
    if isinstance(image._meta, np.ma.MaskedArray):  # noqa: SLF001 - nothing else tells
        return image.compute(scheduler="threads")
    out = np.empty(image.shape, image.dtype)
    store(image, out, lock=False, scheduler="threads")
    return out
