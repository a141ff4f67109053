"""Arrays of the working folder."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from ._folder import Folder

SIDE = 512  # pixels, of the chunks of a copy


def make_array(
    folder: Folder,
    name: str,
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    dtype: np.dtype[Any],
    dimensions: tuple[str, ...] | None = None,
    *,
    markers: str,
) -> None:
    """Make an array, unless it is there already.

    What is marked as done went with the array, if that is not there any more.

    Parameters
    ----------
    folder : Folder
        Where.
    name : str
        Place in the folder.
    shape, chunks : tuple of int
        Of the array.
    dtype : dtype
        Of the array.
    dimensions : tuple of str, optional
        Names of the axes.
    markers : str
        Folder of the files that say which parts of it are done.
    """
    place = folder.inside / name
    if (place / "zarr.json").exists():
        return
    for done in (folder.inside / markers).iterdir():
        done.unlink()
    with writing(str(place)):
        zarr.create_array(
            place,
            shape=shape,
            chunks=chunks,
            dtype=dtype,
            dimension_names=dimensions,
            overwrite=True,
        )


def spill(
    folder: Folder,
    name: str,
    parts: Any,  # noqa: ANN401 - pairs of index and array
    like: Any,  # noqa: ANN401 - an array
) -> Generator[None, None, Any]:
    """Copy an image into the folder, strip by strip, so that other processes can read it.

    Parameters
    ----------
    folder : Folder
        Where.
    name : str
        Of the copy.
    parts : iterable of tuple
        Places and their content.
    like : array-like
        Has the shape and type of the copy.

    Yields
    ------
    None
        After each strip.

    Returns
    -------
    zarr.Array
    """
    place = folder.inside / f"{name}.zarr"
    if folder.read_json(f"{name}.json") is None:
        shape = tuple(like.shape)
        chunks = tuple(min(n, SIDE) for n in shape)
        with writing(str(place)):
            array = zarr.create_array(
                place, shape=shape, chunks=chunks, dtype=like.dtype, overwrite=True
            )
        for where, part in parts:
            write(array, where, part, f"{folder.path}: a copy of the {name}")
            yield
        folder.write_json(f"{name}.json", {"complete": True})
    return zarr.open_array(place.absolute(), mode="r")  # for processes in other folders


def write(array: Any, where: tuple[Any, ...], values: NDArray[Any], what: str) -> None:  # noqa: ANN401 - zarr.Array
    """Write a part of an array; say which part if the disk refuses.

    Parameters
    ----------
    array : zarr.Array
    where : tuple
        Index of the part.
    values : ndarray
        Its content.
    what : str
        What to call it in the error.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with writing(what):
        array[where] = values


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Say what cannot be written: a full disk names no file.

    Parameters
    ----------
    what : str
        What to call it in the error.

    Yields
    ------
    None

    Raises
    ------
    OSError
        If it cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise OSError(
            error.errno, f"{what} cannot be written ({error.strerror or error}); what was "
            "finished is kept: free some space and run the same again (--resume on the command "
            "line)"
        ) from error  # fmt: skip
