"""Arguments that are checked before anything is read or written."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from napari_cosparse.core.errors import InputError

COUNTED = {"threads": "threads or processes", "block": "pixels, the side of a block"}


def check_count(value: object, name: str) -> None:
    """Refuse what is no number of threads or pixels.

    Parameters
    ----------
    value : object
        None, or a whole number of at least 1.
    name : {"threads", "block"}
        What it is.

    Raises
    ------
    InputError
        If it is neither.
    """
    if value is None:
        return
    try:
        number = 0 if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(
            f"{name} {value!r} must be a whole number of at least 1 ({COUNTED[name]}); leave it "
            "out to have it chosen"
        )


def check_called(value: object, name: str) -> None:
    """Refuse what cannot be called.

    Parameters
    ----------
    value : object
        None, or a function.
    name : str
        What it is.

    Raises
    ------
    InputError
        If it is neither.
    """
    if value is not None and not callable(value):
        raise InputError(f"{name} {value!r} must be a function without arguments, or None")


def check_sizes(image: object, name: str) -> None:
    """Refuse an array of Dask that does not know its own shape.

    Parameters
    ----------
    image : array-like, or sequence of array-likes
        Any image, or its levels.
    name : str
        What to call it in the error.

    Raises
    ------
    InputError
        If so.
    """
    for array in image if isinstance(image, list | tuple) else [image]:
        shape = getattr(array, "shape", ())
        if isinstance(shape, tuple) and any(n != n for n in shape):  # NaN
            raise InputError(
                f"{name} has the shape {shape}, of which Dask does not know all; call its "
                "compute_chunk_sizes() first"
            )


def two_of(value: object, name: str, example: str) -> tuple[Any, Any]:
    """Read something for the target and something for the guide.

    Parameters
    ----------
    value : object
        A tuple or list of two.
    name : str
        What it is.
    example : str
        A right value.

    Returns
    -------
    tuple

    Raises
    ------
    InputError
        If it is something else.
    """
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InputError(
            f"{name} {value!r} must be two values, for target and guide, such as {example}"
        )
    return value[0], value[1]


def positive_sizes(sizes: Sequence[float], name: str) -> tuple[float, ...]:
    """Read sizes of pixels.

    Parameters
    ----------
    sizes : sequence of float
        One for each axis.
    name : str
        What to call them in an error.

    Returns
    -------
    tuple of float

    Raises
    ------
    InputError
        If one is no positive, finite number.
    """
    try:
        numbers = np.asarray(sizes, np.float64)
        good = numbers.ndim == 1 and bool((np.isfinite(numbers) & (numbers > 0)).all())
    except (TypeError, ValueError):
        good = False
    if not good:
        raise InputError(f"{name} {sizes!r} must be positive numbers, one for each axis")
    return tuple(numbers.tolist())
