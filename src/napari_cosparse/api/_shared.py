"""What the functions of the facade share: dask is imported only when something runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np

DEFAULT_OPERATORS = "intensity-depth"
REGISTER_OPERATORS = "intensity-nir"


def gather(image: Any, name: str) -> Any:  # noqa: ANN401 - array-likes
    """Read an image into memory chunk by chunk; NumPy needs no dask.

    Parameters
    ----------
    image : array-like
        Any image.
    name : str
        What to call it in errors.

    Returns
    -------
    array-like
        A NumPy array of a Dask or Zarr array; all else as it is.
    """
    if isinstance(image, np.ndarray) or not hasattr(image, "chunks"):
        return image
    from napari_cosparse.tiles import gather as read

    return read(image, name)


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
    from napari_cosparse.tiles import check_count, threaded_map

    check_count(threads, "threads")
    return threaded_map(threads, cancelled)


def read_as(image: Any, name: str) -> Any:  # noqa: ANN401 - array-likes
    """Give a Dask or Zarr array a name for its errors; it is read when it is needed.

    Parameters
    ----------
    image : array-like
        Any image.
    name : str
        What to call it.

    Returns
    -------
    array-like
    """
    if isinstance(image, np.ndarray) or not hasattr(image, "chunks"):
        return image
    from napari_cosparse.tiles import as_plane

    return as_plane(image, name)


def check_keywords(
    function: Callable[..., Any], given: Iterable[str], *known: Iterable[str]
) -> None:
    """Refuse unknown keywords as Python does, with the name that was meant.

    Parameters
    ----------
    function : callable
        The one that was called.
    given : iterable of str
        Its keywords.
    *known : iterable of str
        Those that it hands on.

    Raises
    ------
    TypeError
        If one is unknown.
    """
    names = {name for part in (keywords_of(function), *known) for name in part}
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(sorted(names))}"
            called = function.__name__
            raise TypeError(f"{called}() got an unexpected keyword argument {name!r}{hint}")


def keywords_of(function: Callable[..., Any]) -> list[str]:
    """Names of the arguments that a function takes by keyword only.

    Parameters
    ----------
    function : callable

    Returns
    -------
    list of str
    """
    arguments = signature(function, follow_wrapped=False).parameters.values()
    return [argument.name for argument in arguments if argument.kind is argument.KEYWORD_ONLY]
