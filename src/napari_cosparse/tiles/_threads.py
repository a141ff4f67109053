"""A `map` on dask's threaded scheduler."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeVar

import dask
from dask.threaded import get
from threadpoolctl import ThreadpoolController

from napari_cosparse.core.mapping import Map

A = TypeVar("A")
B = TypeVar("B")

BATCHES = 4  # for each thread: few enough for the scheduler, enough to keep all threads busy


def threaded_map(threads: int | None = None) -> Map:
    """Make a `map` that runs its calls in dask's threads, each with one thread of the BLAS.

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

    def run(function: Callable[[A], B], items: Iterable[A], /) -> Iterable[B]:
        work, number = list(items), threads or default_threads()
        with _blas().limit(limits=1, user_api="blas"):
            if len(work) < 2 or number == 1:  # a graph has nothing to add
                return [function(item) for item in work]
            return _in_threads(function, work, number)

    return run


def default_threads() -> int:
    """Return the number of threads that dask would choose.

    Returns
    -------
    int
        ``dask.config`` key ``num_workers`` if it is set, else the number of cores this process
        may use.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return int(dask.config.get("num_workers", None) or usable or 1)


def _in_threads(function: Callable[[A], B], work: list[A], threads: int) -> list[B]:
    """Give the threads batches of neighbouring items: a task for each costs too much time."""
    count = min(len(work), BATCHES * threads)
    edges = [len(work) * part // count for part in range(count + 1)]

    def batch(part: int) -> list[B]:
        return [function(item) for item in work[edges[part] : edges[part + 1]]]

    graph = {("batch", part): (batch, part) for part in range(count)}
    parts: Iterable[list[B]] = get(graph, list(graph), num_workers=threads)
    return [result for part in parts for result in part]


@cache
def _blas() -> ThreadpoolController:
    """Return the BLAS libraries of this process."""
    return ThreadpoolController()
