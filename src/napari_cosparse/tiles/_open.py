"""Open a store that upsampling wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import zarr

from napari_cosparse.core.errors import InputError


def open_levels(path: str | Path) -> list[Any]:
    """Open the arrays of a result, without reading them.

    Parameters
    ----------
    path : str or Path
        A Zarr array, or a multiscale OME-Zarr image.

    Returns
    -------
    list of zarr.Array
        The finest level first; one for a plain array.

    Raises
    ------
    InputError
        If there is neither.
    """
    try:
        node = zarr.open(str(path), mode="r")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no Zarr store: {error}") from error
    if isinstance(node, zarr.Array):
        return [node]
    names = sorted((name for name in node.array_keys() if name.isdecimal()), key=int)
    if not names:
        raise InputError(f"{path} holds no levels of an image")
    return [node[name] for name in names]
