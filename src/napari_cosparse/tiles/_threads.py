"""A `map` on dask's threaded scheduler."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import cache
from threading import Event, Lock, Thread
from typing import TypeVar

import dask
from dask.threaded import get
from threadpoolctl import ThreadpoolController

from napari_cosparse.core.mapping import Map

A = TypeVar("A")
B = TypeVar("B")

Asked = Callable[[], bool]

ASKED_EVERY = 0.05  # seconds, while one long call runs


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """A computation was told to stop, and did."""


def stop_if(cancelled: Asked | None) -> None:
    """Stop a computation that was told to.

    Parameters
    ----------
    cancelled : callable, optional
        Says whether it was.

    Raises
    ------
    Cancelled
        If so.
    """
    if cancelled is not None and cancelled():
        raise Cancelled


def threaded_map(threads: int | None = None, cancelled: Asked | None = None) -> Map:
    """Make a `map` that runs its calls in dask's threads, each with one thread of the BLAS.

    A computation on such a map stops within the time of one call, a few hundredths of a second,
    wherever it is: also between two reports of its progress.

    Parameters
    ----------
    threads : int, optional
        Number of threads; dask's own choice (``dask.config`` key ``num_workers``, else the
        number of cores) if None.
    cancelled : callable, optional
        Asked before each call, perhaps in another thread, and during long single ones, whether to
        stop (the ``is_set`` of a ``threading.Event``, say). If so, the map raises `Cancelled`.

    Returns
    -------
    callable
        Like the built-in `map`; results come back in the order of the items, whatever thread
        finished first.
    """
    return _Threads(threads, cancelled)


class _Threads:
    """The map that `threaded_map` makes."""

    def __init__(self, threads: int | None, cancelled: Asked | None) -> None:
        self._threads, self._cancelled = threads, cancelled

    def __call__(self, function: Callable[[A], B], items: Iterable[A], /) -> Iterable[B]:
        """Return the results in the order of the items."""

        def call(item: A) -> B:
            stop_if(self._cancelled)
            return function(item)

        work, number = list(items), self._threads or default_threads()
        with _blas().limit(limits=1, user_api="blas"):
            if len(work) < 2 or number == 1:  # a graph has nothing to add
                return [call(item) for item in work]
            return _in_threads(call, work, number)

    def once(self, function: Callable[[], B], /) -> B:
        """Call a function that may take seconds; whoever cancels does not wait for its end."""
        stop_if(self._cancelled)
        with _blas().limit(limits=1, user_api="blas"):
            if self._cancelled is None:
                return function()
            result: Future[B] = Future()
            Thread(target=copy_context().run, args=(_fulfil, result, function), daemon=True).start()
            while not wait([result], ASKED_EVERY).done:
                stop_if(self._cancelled)
            return result.result()


def _fulfil(result: Future[B], function: Callable[[], B]) -> None:
    """Hand on what a function returns or raises."""
    try:
        result.set_result(function())
    except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
        result.set_exception(error)


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
    """Let each thread take the next item until none is left: none waits for a longer batch."""
    waiting, door, over = iter(range(len(work))), Lock(), Event()
    results: dict[int, B] = {}

    def next_place() -> int | None:
        with door:
            return None if over.is_set() else next(waiting, None)

    def take() -> None:
        while (place := next_place()) is not None:
            results[place] = function(work[place])

    graph = {("take", part): (take,) for part in range(min(threads, len(work)))}
    try:
        get(graph, list(graph), num_workers=threads)
    except BaseException:
        over.set()  # or the threads would go on with what nobody waits for
        raise
    return [results[place] for place in range(len(work))]


@cache
def _blas() -> ThreadpoolController:
    """Return the BLAS libraries of this process."""
    return ThreadpoolController()
