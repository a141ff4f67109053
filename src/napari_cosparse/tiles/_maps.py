"""Maps whose calls run in other processes, on this machine or on the workers of a cluster."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from typing import Any, TypeVar

from ._run import HEARTBEAT, RETRIES
from ._threads import Asked, default_threads, stop_if

A = TypeVar("A")
B = TypeVar("B")


class ProcessMap:
    """A `map` in processes of their own, which are kept until `close`.

    Parameters
    ----------
    workers : int, optional
        Number of processes; that of cores if None.
    cancelled : callable, optional
        See `threaded_map`.
    """

    def __init__(self, workers: int | None = None, cancelled: Asked | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(workers or default_threads(), mp_context=context)
        self._cancelled = cancelled

    def __call__(self, function: Callable[[A], B], items: Iterable[A], /) -> list[B]:
        """Return the results in the order of the items."""
        futures = [self._pool.submit(function, item) for item in items]
        waiting = set(futures)
        while waiting:
            _, waiting = wait(waiting, HEARTBEAT, FIRST_COMPLETED)
            stop_if(self._cancelled)
        return [future.result() for future in futures]

    def close(self) -> None:
        """End the processes, whatever they do."""
        for process in list((self._pool._processes or {}).values()):  # noqa: SLF001 - no other way
            process.terminate()
        self._pool.shutdown(wait=False, cancel_futures=True)


class ClusterMap:
    """A `map` on the workers of a cluster; what a lost worker had to do is done by the others.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    own : bool
        Whether `close` leaves it.
    cancelled : callable, optional
        See `threaded_map`.
    """

    def __init__(self, client: Any, own: bool, cancelled: Asked | None = None) -> None:  # noqa: ANN401
        self._client, self._own, self._cancelled = client, own, cancelled

    def __call__(self, function: Callable[[A], B], items: Iterable[A], /) -> list[B]:
        """Return the results in the order of the items."""
        import distributed

        wait_for: Any = distributed.wait
        futures = [
            self._client.submit(function, item, pure=False, retries=RETRIES) for item in items
        ]
        try:
            waiting = True
            while waiting:
                try:
                    wait_for(futures, timeout=HEARTBEAT)
                    waiting = False
                except TimeoutError:
                    stop_if(self._cancelled)
            return [future.result() for future in futures]
        finally:
            self._client.cancel(futures, force=True)

    def close(self) -> None:
        """Leave the cluster."""
        if self._own:
            self._client.close()
