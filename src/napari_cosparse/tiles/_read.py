"""Read parts of arrays; where that fails, say which chunk of which store is to blame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from socket import gethostname
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.planes import plane_name

from ._asking import Part, ends, read_asking
from ._threads import Asked, Cancelled


def read_part(
    array: Any,  # noqa: ANN401 - array-likes
    where: tuple[Any, ...],
    name: str,
    leading: int,
    down: int,
    cancelled: Asked | None = None,
) -> NDArray[Any]:
    """Read a part of an array.

    Parameters
    ----------
    array : array-like
        NumPy, Dask, Zarr, or whatever can be sliced.
    where : tuple of int or slice
        Which part.
    name : str
        What to call the array in errors.
    leading : int
        Number of axes before a plane, for errors.
    down : int
        Which axis is that of the rows; columns follow.
    cancelled : callable, optional
        Asked between two chunks whether to stop.

    Returns
    -------
    ndarray

    Raises
    ------
    OSError
        If it cannot be read, with the place of what is broken.
    Cancelled
        If it was told to stop.
    """
    with blaming(array, where, name, leading, down):
        return read_asking(array, where, down, cancelled)


@contextmanager
def blaming(
    array: Any,  # noqa: ANN401 - array-likes
    where: tuple[Any, ...],
    name: str,
    leading: int,
    down: int,
) -> Iterator[None]:
    """Say what is to blame if a part of an array cannot be read.

    Parameters
    ----------
    array, where, name, leading, down
        As for `read_part`.

    Yields
    ------
    None

    Raises
    ------
    OSError
        If it cannot be read, with the place of what is broken.
    """
    _check_there(array, name)
    try:
        yield
    except (InputError, MemoryError, Cancelled):
        raise
    except Exception as error:
        raise OSError(_blame(array, where, name, (leading, down), error)) from error


def _check_there(array: Any, name: str) -> None:  # noqa: ANN401 - array-likes
    """Refuse a store that is gone: Zarr takes chunks that are not there for empty ones."""
    root = getattr(getattr(array, "store", None), "root", None)
    if isinstance(root, Path) and not root.exists():
        raise OSError(
            f"{name}: {root} is not there for {gethostname()}; all who work must see the same files"
        )


def _blame(
    array: Any,  # noqa: ANN401 - array-likes
    where: tuple[Any, ...],
    name: str,
    axes: tuple[int, int],
    error: Exception,
) -> str:
    """Say what could not be read: a chunk of a Zarr store or of a Dask array, else the part."""
    part, store = ends(where, array.shape), _store_under(array)
    broken = [] if store is None else list(_broken(store, part))
    block = None if broken else _broken_block(array, part)
    if broken:
        key, part, first = broken[0]
        more = len(broken) - 1
        others = f"; {more} more chunk{'s' * (more > 1)} there too" if more else ""
        why = f"chunk {key} of {_address(store)}: {_words(first)}{others}"
    elif block is not None:
        number, part, first = block
        why = f"chunk {number}: {_words(first)}"
    else:
        why = _words(error)
    leading, down = axes
    plane = plane_name([axis.start for axis in part[:leading]])
    rows, columns = part[down], part[down + 1]
    place = f"rows {rows.start}:{rows.stop}, columns {columns.start}:{columns.stop}"
    return f"{name}: {f'plane {plane}, ' if plane else ''}{place} cannot be read ({why})"


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _store_under(array: Any) -> Any:  # noqa: ANN401 - zarr.Array or None
    """Find the Zarr array that is read, also under a Dask array that shows all of it."""
    if isinstance(array, zarr.Array):
        return array
    graph = array.dask.to_dict().values() if hasattr(array, "dask") else ()
    found = {id(n): n for n in (getattr(v, "value", v) for v in graph) if isinstance(n, zarr.Array)}
    stores = [store for store in found.values() if store.shape == tuple(array.shape)]
    return stores[0] if len(stores) == 1 else None


def _broken(store: Any, part: Part) -> Iterator[tuple[str, Part, Exception]]:  # noqa: ANN401 - zarr.Array
    """Read the chunks of a part one by one, and find those that cannot be read."""
    sizes = store.shards or store.chunks
    ranges = (range(p.start // n, -(-p.stop // n)) for p, n in zip(part, sizes, strict=True))
    for number in product(*ranges):
        lows = [at * n for at, n in zip(number, sizes, strict=True)]
        chunk = tuple(
            slice(low, min(low + n, size))
            for low, n, size in zip(lows, sizes, store.shape, strict=True)
        )
        try:
            store[chunk]
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it
            yield store.metadata.encode_chunk_key(number), chunk, error


def _broken_block(array: Any, part: Part) -> tuple[tuple[int, ...], Part, Exception] | None:  # noqa: ANN401 - array-likes
    """Compute the chunks of a part of a Dask array one by one, up to the first that fails."""
    if not hasattr(array, "blocks") or not hasattr(array, "dask"):
        return None
    edges = [np.cumsum([0, *sizes]) for sizes in array.chunks]
    found = (
        range(int(np.searchsorted(e, p.start, "right")) - 1, int(np.searchsorted(e, p.stop)))
        for e, p in zip(edges, part, strict=True)
    )
    for number in product(*found):
        try:
            array.blocks[number].compute(scheduler="synchronous")
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it
            ends_of = (slice(int(e[n]), int(e[n + 1])) for e, n in zip(edges, number, strict=True))
            return number, tuple(ends_of), error
    return None


def _address(store: Any) -> str:  # noqa: ANN401 - zarr.Array
    """Name a store as its user does."""
    place = getattr(store.store, "root", getattr(store.store, "path", None))
    if place is None:
        return str(store.store_path)
    path = Path(str(place), store.path)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
