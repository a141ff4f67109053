"""Read images into memory chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from dask.array import store

from ._asking import asking
from ._checks import check_sizes, two_of
from ._levels import level_of
from ._read import blaming, read_part
from ._sources import COLOURS
from ._threads import Asked


def gather(
    image: Any,  # noqa: ANN401 - array-likes
    name: str = "image",
    level: int = 0,
    *,
    cancelled: Asked | None = None,
) -> Any:  # noqa: ANN401
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
    cancelled : callable, optional
        Asked between two chunks whether to stop.

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
    Cancelled
        If it was told to stop.
    """
    image = level_of(image, name, level)
    if isinstance(image, np.ndarray) or not hasattr(image, "chunks") or image.ndim < 2:
        return image
    down = max(0, image.ndim - 2 - (image.shape[-1] in COLOURS and image.ndim > 2))
    if hasattr(image, "dask"):
        whole = tuple(slice(0, n) for n in image.shape)
        with blaming(image, whole, name, down, down):
            return _computed(image, cancelled)
    out = np.empty(image.shape, image.dtype)
    for part in _rows_of_chunks(image, down):
        out[part] = read_part(image, part, name, down, down, cancelled)
    return out


def _rows_of_chunks(image: Any, down: int) -> Iterator[tuple[slice, ...]]:  # noqa: ANN401
    """Cut an image along its chunks, up to the axis of its rows."""
    chunks = image.chunks or image.shape  # an array of h5py may have none
    longest = (size[0] if isinstance(size, tuple) else size for size in chunks)
    sizes = [(int(n), max(1, int(size))) for n, size in zip(image.shape, longest, strict=True)]
    for starts in product(*(range(0, n, size) for n, size in sizes[: down + 1])):
        yield tuple(
            slice(start, min(start + size, n))
            for start, (n, size) in zip(starts, sizes, strict=False)
        )


def gather_both(
    target: Any,  # noqa: ANN401 - array-likes
    guide: Any,  # noqa: ANN401
    level: Any = (0, 0),  # noqa: ANN401
    *,
    cancelled: Asked | None = None,
) -> tuple[Any, Any]:
    """Read a target and its guide into memory.

    Parameters
    ----------
    target, guide : array-like, or sequence of array-likes
        See `gather`.
    level : tuple of int
        Level of a multiscale target and guide; 0 is the finest.
    cancelled : callable, optional
        Asked between two chunks whether to stop.

    Returns
    -------
    tuple of array-like

    Raises
    ------
    InputError
        If there are no such levels, or Dask does not know the shape.
    OSError
        If one cannot be read, with the place.
    Cancelled
        If it was told to stop.
    """
    levels = two_of(level, "level", "(0, 0)")
    for image, name in ((target, "target"), (guide, "guide")):
        check_sizes(image, name)
    return (
        gather(target, "target", levels[0], cancelled=cancelled),
        gather(guide, "guide", levels[1], cancelled=cancelled),
    )


def _computed(image: Any, cancelled: Asked | None) -> Any:  # noqa: ANN401 - dask.array.Array
    """Compute a Dask array in threads; a mask is kept."""
    how: dict[str, Any] = {"scheduler": "threads", "callbacks": asking(cancelled)}
    if isinstance(image._meta, np.ma.MaskedArray):  # noqa: SLF001 - nothing else tells
        return image.compute(**how)
    out = np.empty(image.shape, image.dtype)
    store(image, out, lock=False, **how)
    return out
