"""Read parts of arrays so that whoever waits for them can stop it between two chunks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import accumulate, product
from typing import Any

import dask.multiprocessing
import numpy as np
from dask.base import get_scheduler
from dask.local import get_sync
from dask.threaded import get as get_threaded
from numpy.typing import NDArray

from ._threads import Asked, stop_if

TOGETHER = 8  # chunks of a row of them that are read at once, as stores far away like it
HEARTBEAT = 0.25  # seconds between two questions while a cluster works

Part = tuple[slice, ...]  # one slice with both ends for each axis


def read_asking(
    array: Any,  # noqa: ANN401 - array-likes
    where: tuple[Any, ...],
    down: int,
    cancelled: Asked | None,
) -> NDArray[Any]:
    """Read a part of an array; ask between its chunks whether to stop.

    Parameters
    ----------
    array : array-like
        NumPy, Dask, Zarr, or whatever can be sliced.
    where : tuple of int or slice
        Which part.
    down : int
        Which axis is that of the rows; columns follow.
    cancelled : callable, optional
        The question. Without it the part is read in one go.

    Returns
    -------
    ndarray
        The same bits either way.

    Raises
    ------
    Cancelled
        If it was told to stop.
    """
    stop_if(cancelled)
    if cancelled is None or isinstance(array, np.ndarray):
        return np.asarray(array[where])
    if hasattr(array, "dask"):
        lazy = array[where]
        get = get_scheduler(collections=[lazy])  # type: ignore[no-untyped-call]
        if get in (get_threaded, get_sync, dask.multiprocessing.get) or isinstance(get, partial):
            return np.asarray(lazy.compute(callbacks=asking(cancelled)))
        if hasattr(getattr(get, "__self__", None), "submit"):
            return np.asarray(_on_cluster(get.__self__, lazy, cancelled))
    return _by_pieces(array, where, down, cancelled)


def asking(cancelled: Asked | None) -> list[tuple[Any, ...]] | None:
    """Make callbacks for Dask's own schedulers that ask before each task, of this call only.

    Callbacks of Dask that are switched on for all would stop other threads' computations too.

    Parameters
    ----------
    cancelled : callable, optional
        The question.

    Returns
    -------
    list of tuple, or None
        Keyword ``callbacks`` of ``compute``.
    """
    if cancelled is None:
        return None

    def before(_key: object, _graph: object, _state: object) -> None:
        stop_if(cancelled)

    return [(None, None, before, None, None)]


def _on_cluster(client: Any, lazy: Any, cancelled: Asked) -> Any:  # noqa: ANN401 - distributed.Client
    future = client.compute(lazy)
    try:
        while not future.done():
            stop_if(cancelled)
            with suppress(TimeoutError):  # a call's own one comes again below
                future.result(timeout=HEARTBEAT)
        return future.result()
    finally:
        client.cancel([future], force=True)


def _by_pieces(
    array: Any,  # noqa: ANN401 - array-likes
    where: tuple[Any, ...],
    down: int,
    cancelled: Asked,
) -> NDArray[Any]:
    pieces = list(_pieces(array, where, down))
    if len(pieces) < 2:
        return np.asarray(array[where])
    part, out = ends(where, array.shape), None
    for piece in pieces:
        stop_if(cancelled)
        found = np.asarray(array[piece])
        if out is None:
            out = np.empty([axis.stop - axis.start for axis in part], found.dtype)
        out[tuple(_shift(p, axis.start) for p, axis in zip(piece, part, strict=True))] = found
    assert out is not None  # noqa: S101 - narrows the type for the checker
    whole = [slice(None) if isinstance(w, slice) else 0 for w in where]
    return out[tuple(whole)]


def _shift(part: slice, start: int) -> slice:
    return slice(part.start - start, part.stop - start)


def _pieces(array: Any, where: tuple[Any, ...], down: int) -> Iterator[Part]:  # noqa: ANN401
    """Cut a part along the array's chunks, so that none is read twice; columns in groups."""
    shards = getattr(array, "shards", None)
    sizes = shards or getattr(array, "chunks", None)
    part = ends(where, array.shape)
    strided = any(isinstance(w, slice) and w.step not in (None, 1) for w in where)
    if strided or not isinstance(sizes, tuple) or len(sizes) != len(part):
        yield part
        return
    cuts = []
    for axis, (span, size) in enumerate(zip(part, sizes, strict=True)):
        many = 1 if axis <= down or shards else TOGETHER
        inner = [] if axis > down + 1 else _borders(size, span)[many - 1 :: many]
        low = [span.start, *inner]
        cuts.append([slice(a, b) for a, b in zip(low, [*inner, span.stop], strict=True)])
    yield from product(*cuts)


def _borders(size: int | tuple[int, ...], span: slice) -> list[int]:
    """Where chunks end within a span."""
    if isinstance(size, tuple):
        return [at for at in accumulate(size) if span.start < at < span.stop]
    step = max(1, int(size))
    return list(range((span.start // step + 1) * step, span.stop, step))


def ends(where: tuple[Any, ...], shape: tuple[int, ...]) -> Part:
    """Give all slices both ends, and each axis a slice.

    Parameters
    ----------
    where : tuple of int or slice
        Part of an array.
    shape : tuple of int
        Of the array.

    Returns
    -------
    tuple of slice
    """
    full = (*where, *(slice(None) for _ in shape[len(where) :]))
    parts = [w if isinstance(w, slice) else slice(int(w), int(w) + 1) for w in full]
    return tuple(slice(*p.indices(int(n))[:2]) for p, n in zip(parts, shape, strict=True))
