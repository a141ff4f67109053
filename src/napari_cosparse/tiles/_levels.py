"""Which level of a multiscale image is meant."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import zarr

from napari_cosparse.core.errors import InputError


def level_of(image: Any, name: str, level: int = 0) -> Any:  # noqa: ANN401 - array-likes
    """Take a level of a multiscale image; what is none has one level, itself.

    Parameters
    ----------
    image : array-like, or sequence of array-likes
        A sequence of images of different sizes is the levels, the finest first; one of images of
        one size is a stack.
    name : str
        What to call it in errors.
    level : int
        Which one; 0 is the finest.

    Returns
    -------
    array-like

    Raises
    ------
    InputError
        If there is no such level, the first one is not the largest, or it is a path or group.
    """
    if isinstance(image, str | Path | zarr.Group):
        raise InputError(
            f"{name} {str(image)!r} is no array; open it first, such as with zarr.open_array(...), "
            "or give the list of its levels"
        )
    levels = _levels(image, name)
    if level not in range(len(levels)):
        raise InputError(f"{name} has no level {level}; choose one of 0 to {len(levels) - 1}")
    return levels[int(level)]


def _levels(image: Any, name: str) -> list[Any]:  # noqa: ANN401 - array-likes
    """All levels, the finest first."""
    if not isinstance(image, Sequence) or not len(image):
        return [image]
    shapes = [tuple(getattr(level, "shape", ())) for level in image]
    if any(len(shape) < 2 for shape in shapes):
        return [image]  # rows of numbers
    if len(shapes) > 1 and len(set(shapes)) == 1:
        return [image]  # planes of a stack
    if max(shapes, key=prod) != shapes[0]:
        raise InputError(f"{name} has levels of shape {shapes}; give the finest one first")
    return list(image)
