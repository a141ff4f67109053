"""Whether a store may be written where it is wanted."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from napari_cosparse.core.errors import InputError, OccupiedError

from ._places import places_of

ENDING = ".zarr"
OME = ".ome.zarr"
ZARR = ("zarr.json", ".zarray", ".zgroup")


def as_output(output: Any) -> Path:  # noqa: ANN401 - whatever was given
    """Read the place of a store.

    Parameters
    ----------
    output : str or Path
        As given.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If it is no path.
    """
    try:
        return Path(output)
    except TypeError:
        raise InputError(
            f"output {output!r} must be a path that ends in .zarr (an array) or .ome.zarr (a "
            "multiscale image)"
        ) from None


def is_ome(output: Path) -> bool:
    """Whether a multiscale image is wanted.

    Parameters
    ----------
    output : Path
        The store.

    Returns
    -------
    bool
    """
    return output.name.lower().endswith(OME)


def check_output(
    output: Path, *, overwrite: bool, resume: bool = False, inputs: Iterable[Any] = ()
) -> None:
    """Refuse an output that cannot be written, before any work.

    Parameters
    ----------
    output : Path
        The store that is wanted.
    overwrite : bool
        Whether what is there may be replaced: a Zarr store, nothing else.
    resume : bool
        Whether one of the same job would have been left as it is.
    inputs : iterable of array-like, str or Path
        What is read.

    Raises
    ------
    InputError
        If its name is no store's, it exists, is an input, or its folder is missing or read-only.
    """
    if not output.name.lower().endswith(ENDING):
        raise InputError(
            f"output {str(output)!r} must end in .zarr (an array) or .ome.zarr (a multiscale "
            f"image); call it {output.name or 'result'}.zarr"
        )
    check_apart(output, inputs)
    if os.path.lexists(output):
        check_replaced(output)
        if not overwrite:
            raise taken(output, resume=resume)
    folder = output.parent
    if not folder.is_dir():
        raise InputError(f"{output}: the folder {folder} does not exist; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{output}: nothing can be written to the folder {folder}; choose another")


def taken(output: Path, *, resume: bool) -> OccupiedError:
    """Say that the place of the output is taken.

    Parameters
    ----------
    output : Path
        The store that is wanted.
    resume : bool
        Whether one of the same job would have been left as it is.

    Returns
    -------
    OccupiedError
        To be raised.
    """
    problem = f"{output} exists already"
    if resume:
        problem += (
            ", and this very job did not make it (other inputs, parameters, blocks or version)"
        )
    return OccupiedError(problem, {"overwrite": "replaces it"}, "choose another name")


def damaged(output: Path) -> OccupiedError:
    """Say that an output of the same job is no longer what was written.

    Parameters
    ----------
    output : Path
        The store that is wanted.

    Returns
    -------
    OccupiedError
        To be raised.
    """
    problem = f"{output} was made by this very job, but has been damaged or changed since"
    return OccupiedError(problem, {"overwrite": "makes it again"}, "choose another name")


def check_apart(output: Path, inputs: Iterable[Any]) -> None:
    """Refuse an output that would replace an input or lie in one.

    Parameters
    ----------
    output : Path
        The store that is wanted.
    inputs : iterable of array-like, str or Path
        See `places_of`.

    Raises
    ------
    InputError
        If so.
    """
    own = output.absolute().resolve()
    for path in (place for item in inputs for place in places_of(item)):
        given = path.absolute().resolve()
        if own == given or own in given.parents or given in own.parents:
            raise InputError(f"the output {output} lies on the input {path}; choose another name")


def check_replaced(output: Path) -> None:
    """Refuse to replace what is no store, or only points to one.

    Parameters
    ----------
    output : Path
        Something is there.

    Raises
    ------
    InputError
        If so.
    """
    if output.is_symlink():
        raise InputError(
            f"{output} is a link to {output.readlink()} and is never overwritten; give the store "
            "itself, or another name"
        )
    if not any((output / name).is_file() for name in ZARR):
        raise InputError(
            f"{output} is there, but no Zarr store, and is never overwritten; choose another name, "
            "or move it"
        )
