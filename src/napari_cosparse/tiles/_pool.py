"""Processes of this machine that work on parts of a job."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection
from threading import Lock, Thread
from types import ModuleType
from typing import Any, TypeVar

from ._threads import Asked, default_threads, stop_if

HEARTBEAT = 0.25  # seconds between two looks at whether the caller still wants it

A = TypeVar("A")
B = TypeVar("B")

_door = Lock()


class Pool:
    """Processes that are kept until `close`.

    They do not run the caller's script again, as new processes of Python do: it needs no
    ``if __name__ == "__main__"``.

    Parameters
    ----------
    workers : int, optional
        Number of processes; that of cores if None.
    cancelled : callable, optional
        See `threaded_map`.
    """

    def __init__(self, workers: int | None = None, cancelled: Asked | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(
            workers or default_threads(), mp_context=context, initializer=_end_with_parent
        )
        self._cancelled = cancelled

    def submit(self, function: Callable[[A], B], items: Iterable[A]) -> list[Future[B]]:
        """Begin the calls.

        Parameters
        ----------
        function : callable
            Known to other processes.
        items : iterable
            What it is called with.

        Returns
        -------
        list of Future
            In the order of the items.
        """
        with _without_script(), _alive():
            return [self._pool.submit(function, item) for item in items]

    def finished(self, futures: list[Future[B]]) -> Iterator[int]:
        """Wait for calls; the first error is raised.

        Parameters
        ----------
        futures : list of Future
            Of `submit`.

        Yields
        ------
        int
            How many are finished; often, so that the caller may stop.
        """
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, HEARTBEAT, FIRST_COMPLETED)
            stop_if(self._cancelled)
            with _alive():
                for future in done:
                    future.result()
            yield len(futures) - len(waiting)

    def close(self) -> None:
        """End the processes, whatever they do."""
        for process in list((self._pool._processes or {}).values()):  # noqa: SLF001 - no other way
            process.terminate()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _end_with_parent() -> None:
    """End this process when the one that made it is gone: it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 - it runs in a child

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, name="watch the parent", daemon=True).start()


@contextmanager
def _without_script() -> Iterator[None]:
    """Hide the main module while processes start, or each would run the caller's script."""
    with _door:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script


@contextmanager
def _alive() -> Iterator[None]:
    """Say in words that a process has died."""
    try:
        yield
    except BrokenProcessPool as error:
        raise ChildProcessError(
            "a process of this run has died (killed, perhaps for want of memory); what was "
            "finished is kept: run the same again (--resume on the command line), with fewer "
            "threads or less memory"
        ) from error


def results(pool: Pool, function: Callable[[A], B], items: Iterable[A]) -> list[B]:
    """Call a function in processes.

    Parameters
    ----------
    pool : Pool
        The processes.
    function : callable
        Known to other processes.
    items : iterable
        What it is called with.

    Returns
    -------
    list
        In the order of the items.
    """
    futures: list[Any] = pool.submit(function, items)
    for _ in pool.finished(futures):
        pass
    return [future.result() for future in futures]
