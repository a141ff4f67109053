"""Where on this machine's disks an array is read from: a run must not write there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import zarr

TASK = ("func", "args", "kwargs", "value")  # of the nodes of a Dask graph
WRAPPED = ("sync_fs", "fs")  # what a file system of fsspec may wrap
PLAIN = (str, bytes, int, float, complex, slice, np.generic, type(None))


def places_of(thing: Any) -> list[Path]:  # noqa: ANN401 - arrays, files, what holds them
    """Find the stores and files that something is read from.

    Looked through are lists, the graphs of Dask arrays, and objects that wrap an array.

    Parameters
    ----------
    thing : array-like, str or Path, or a collection of them
        A name counts if there is a file of that name.

    Returns
    -------
    list of Path
        Those of this machine; each at least once.
    """
    found: list[Path] = []
    seen: dict[int, Any] = {}  # with the objects, or another one might get the number of one
    waiting = [thing]
    if isinstance(thing, str | Path):
        return [Path(thing)] if Path(thing).is_file() else []
    while waiting:
        item = waiting.pop()
        if isinstance(item, PLAIN) or id(item) in seen:
            continue
        seen[id(item)] = item
        if isinstance(item, zarr.Array | zarr.Group):
            found += _of_store(item.store)
        elif isinstance(item, np.memmap):
            found += [] if item.filename is None else [Path(item.filename)]
        else:
            waiting += _parts(item)
    return found


def _parts(item: Any) -> Iterable[Any]:  # noqa: ANN401 - whatever it is
    """Give what something holds that may be an array."""
    if isinstance(item, np.ndarray):
        return [item.base] if item.dtype != object else item.ravel().tolist()
    if isinstance(item, dict):
        return item.values()
    if isinstance(item, list | tuple | set | frozenset):
        return item
    if isinstance(item, partial):
        return (item.func, item.args, item.keywords)
    if isinstance(item, FunctionType):
        return [cell.cell_contents for cell in item.__closure__ or () if _is_filled(cell)]
    if hasattr(item, "__dask_graph__"):
        return dict(item.__dask_graph__() or {}).values()
    if type(item).__module__.partition(".")[0] == "dask":
        return [getattr(item, name, None) for name in TASK]
    wraps = hasattr(item, "__dict__") and (hasattr(item, "shape") or hasattr(item, "array"))
    return list(vars(item).values()) if wraps and not isinstance(item, type) else ()


def _is_filled(cell: Any) -> bool:  # noqa: ANN401 - a cell of a closure
    try:
        cell.cell_contents  # noqa: B018 - an empty one cannot be read
    except ValueError:
        return False
    return True


def _of_store(store: Any) -> Iterator[Path]:  # noqa: ANN401 - a store of Zarr
    """Find the folder or file of a store; none if it lies elsewhere."""
    if hasattr(store, "_store"):  # a wrapper
        yield from _of_store(store._store)  # noqa: SLF001 - Zarr has no other name for it
    elif hasattr(store, "root"):
        yield Path(store.root)
    elif hasattr(store, "fs"):
        place = _local(store.fs, Path(store.path))
        yield from () if place is None else (place,)
    elif isinstance(getattr(store, "path", None), str | Path):  # a zip file
        yield Path(store.path)


def _local(system: Any, place: Path) -> Path | None:  # noqa: ANN401 - a file system of fsspec
    """Find a place of a file system on this machine's disks, through caches and sub-folders."""
    kinds = np.atleast_1d(system.protocol).tolist()
    if "dir" in kinds:
        place = Path(system.path) / place
    for name in WRAPPED:
        if hasattr(system, name):
            return _local(getattr(system, name), place)
    return place if {"file", "local"} & set(kinds) else None
