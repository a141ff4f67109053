"""What the functions of the facade share: dask is imported only when something runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

DEFAULT_OPERATORS = "intensity-depth"
REGISTER_OPERATORS = "intensity-nir"


def gather(image: Any) -> Any:  # noqa: ANN401 - array-likes
    """Read an image into memory chunk by chunk; NumPy needs no dask.

    Parameters
    ----------
    image : array-like
        Any image.

    Returns
    -------
    array-like
        A NumPy array of a Dask or Zarr array; all else as it is.
    """
    if isinstance(image, np.ndarray) or not hasattr(image, "chunks"):
        return image
    from napari_cosparse.tiles import gather as read

    return read(image)


def in_threads(threads: int | None, cancelled: Callable[[], bool] | None = None) -> Any:  # noqa: ANN401 - a generic callable protocol
    """Make a map in dask's threads.

    Parameters
    ----------
    threads : int, optional
        Number of threads; all cores if None.
    cancelled : callable, optional
        Asked many times a second whether to stop.

    Returns
    -------
    callable
        See `napari_cosparse.tiles.threaded_map`.
    """
    from napari_cosparse.tiles import threaded_map

    return threaded_map(threads, cancelled)
