"""A `map` on dask's threaded scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from dask.base import compute
from dask.delayed import delayed

from napari_cosparse.core.mapping import Map

A = TypeVar("A")
B = TypeVar("B")


def threaded_map(threads: int | None = None) -> Map:
    """Make a `map` that runs its calls in dask's threads.

    Parameters
    ----------
    threads : int, optional
        Number of threads; dask's own choice (``dask.config`` key ``num_workers``, else the
        number of cores) if None.

    Returns
    -------
    callable
        Like the built-in `map`; results come back in the order of the items, whatever thread
        finished first.
    """
    if threads == 1:
        return map  # dask has nothing to add, and a graph for each evaluation costs time

    def run(function: Callable[[A], B], items: Iterable[A], /) -> Iterable[B]:
        work = list(items)
        if len(work) < 2:
            return list(map(function, work))
        tasks = [delayed(function, pure=False, traverse=False)(item) for item in work]
        options = {} if threads is None else {"num_workers": threads}
        results: Iterable[B] = compute(*tasks, scheduler="threads", traverse=False, **options)  # type: ignore[no-untyped-call]
        return results

    return run
