"""Maps whose calls run in other processes, on this machine or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ._pool import Pool, results
from ._run import RETRIES, answering, finished_on
from ._threads import Asked, stop_if

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
        self._pool = Pool(workers, cancelled)

    def __call__(self, function: Callable[[A], B], items: Iterable[A], /) -> list[B]:
        """Return the results in the order of the items."""
        return results(self._pool, function, items)

    def close(self) -> None:
        """End the processes, whatever they do."""
        self._pool.close()


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
        futures = [
            self._client.submit(function, item, pure=False, retries=RETRIES) for item in items
        ]
        try:
            waiting = set(futures)
            while waiting:
                waiting -= finished_on(self._client, waiting)
                stop_if(self._cancelled)
            with answering():
                return [future.result() for future in futures]
        finally:
            self._client.cancel(futures, force=True)

    def close(self) -> None:
        """Leave the cluster."""
        if self._own:
            self._client.close()
