"""Zarr arrays in folders: other processes can open them by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import zarr


def on_disk(array: Any) -> bool:  # noqa: ANN401 - array-likes
    """Whether other processes can open an array by themselves.

    Parameters
    ----------
    array : array-like
        Any array.

    Returns
    -------
    bool
        True for a Zarr array in a folder.
    """
    return isinstance(array, zarr.Array) and isinstance(array.store, zarr.storage.LocalStore)


def absolute(array: Any) -> Any:  # noqa: ANN401 - array-likes
    """Open a Zarr array by its full path: other processes may work in another folder.

    They would find no chunk, and take it for one that is all fill value.

    Parameters
    ----------
    array : array-like
        Any array.

    Returns
    -------
    array-like
        The same, unless it is a Zarr array in a folder with a relative path.
    """
    if not on_disk(array) or Path(array.store.root).is_absolute():
        return array
    return zarr.open_array(Path(array.store.root).absolute(), path=array.path, mode="r")
