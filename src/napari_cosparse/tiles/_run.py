"""Run the blocks of a job: in this process, in other processes, or on the workers of a cluster."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from napari_cosparse.core.errors import InputError

from ._blocks import Job, Place, solve_block, solve_now
from ._pool import HEARTBEAT, Pool
from ._threads import Asked, stop_if

RETRIES = 3
Steps = Generator[float, None, None]


def solve_here(job: Job, places: Iterable[Place], cancelled: Asked | None = None) -> Steps:
    """Solve blocks one after another, each with all threads.

    Parameters
    ----------
    job : Job
        The job.
    places : iterable of Place
        Blocks to solve.
    cancelled : callable, optional
        See `threaded_map`.

    Yields
    ------
    float
        Number of blocks done, with the share of the one that is being solved.
    """
    for done, place in enumerate(places):
        for progress in solve_block(job, place, cancelled):
            yield done + min(1.0, progress.step / max(1, progress.total))
        yield done + 1.0


def solve_in_processes(
    job: Job, places: Iterable[Place], workers: int | None, cancelled: Asked | None = None
) -> Steps:
    """Solve blocks in processes of their own.

    Parameters
    ----------
    job : Job
        The job; its sources are on disk.
    places : iterable of Place
        Blocks to solve.
    workers : int, optional
        Number of processes; that of cores if None.
    cancelled : callable, optional
        See `threaded_map`.

    Yields
    ------
    float
        Number of blocks done; often, so that the caller may stop.
    """
    pool = Pool(workers, cancelled)
    try:
        futures = pool.submit(partial(solve_now, job), places)
        yield from map(float, pool.finished(futures))
    finally:
        pool.close()


def solve_on_cluster(
    job: Job,
    places: Iterable[Place],
    client: Any,  # noqa: ANN401
    cancelled: Asked | None = None,
) -> Steps:
    """Solve blocks on the workers of a cluster; a lost worker's blocks go to the others.

    Parameters
    ----------
    job : Job
        The job; its sources are on a disk that all workers see.
    places : iterable of Place
        Blocks to solve.
    client : distributed.Client
        The cluster.
    cancelled : callable, optional
        See `threaded_map`.

    Yields
    ------
    float
        Number of blocks done; often, so that the caller may stop.
    """
    futures = [
        client.submit(solve_now, job, place, pure=False, retries=RETRIES) for place in places
    ]
    count, waiting = len(futures), set(futures)
    try:
        while waiting:
            done = finished_on(client, waiting)
            stop_if(cancelled)
            with answering():
                for future in done:
                    future.result()
            waiting -= done
            yield float(count - len(waiting))
    finally:
        client.cancel(futures, force=True)


def client_of(scheduler: Any) -> tuple[Any, bool]:  # noqa: ANN401 - a name, an address, a client
    """Find the cluster that is to work.

    Parameters
    ----------
    scheduler : None, "threads", "processes", str or distributed.Client
        See `upsample_to_store_steps`.

    Returns
    -------
    client : distributed.Client or None
        None if this machine works itself.
    own : bool
        Whether it was made here and is to be closed at the end.

    Raises
    ------
    InputError
        If it is none of these, or nobody answers at the address.
    """
    if scheduler is None:
        return active_client(), False
    if isinstance(scheduler, str):
        if scheduler in ("threads", "processes"):
            return None, False
        if ":" in scheduler:
            return connect(scheduler), True
    elif hasattr(scheduler, "submit") and hasattr(scheduler, "scheduler_info"):
        return scheduler, False
    raise InputError(
        f"scheduler {scheduler!r} is unknown; choose 'threads', 'processes', the address of a dask "
        "scheduler such as 'tcp://127.0.0.1:8786', or a client of it"
    )


def finished_on(client: Any, futures: Iterable[Any]) -> set[Any]:  # noqa: ANN401
    """Wait a moment for calls on a cluster.

    Parameters
    ----------
    client : distributed.Client
        The cluster; it need not be the active one of this process.
    futures : iterable of distributed.Future
        Calls.

    Returns
    -------
    set of distributed.Future
        Those that are finished; none after a heartbeat.
    """
    import distributed

    wait: Any = distributed.wait
    try:
        with answering(), client.as_current():
            found = wait(list(futures), timeout=HEARTBEAT, return_when="FIRST_COMPLETED")
    except TimeoutError:
        return set()
    return set(found.done)


@contextmanager
def answering() -> Iterator[None]:
    """Say in words that the workers of a cluster are lost.

    Yields
    ------
    None

    Raises
    ------
    ChildProcessError
        If so.
    """
    from distributed import CancelledError, KilledWorker

    try:
        yield
    except (KilledWorker, CancelledError) as error:
        raise ChildProcessError(
            f"the workers of the cluster are lost ({error}); what was finished is kept: run the "
            "same again, with smaller blocks if they died for want of memory"
        ) from error


def active_client() -> Any:  # noqa: ANN401 - distributed.Client or None
    """Return the client of dask.distributed that is active in this process, if there is one.

    Returns
    -------
    distributed.Client or None
    """
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def connect(address: str) -> Any:  # noqa: ANN401 - distributed.Client
    """Connect to a scheduler.

    Parameters
    ----------
    address : str
        Such as ``tcp://host:8786``.

    Returns
    -------
    distributed.Client

    Raises
    ------
    InputError
        If the library is missing or nobody answers.
    """
    if importlib.util.find_spec("distributed") is None:
        raise InputError(
            f"scheduler {address!r} needs dask's library for clusters: pip install distributed"
        )
    import distributed
    from distributed.comm import addressing

    make: Any = distributed.Client
    resolve: Any = addressing.resolve_address
    try:
        resolve(address)  # a client that fails at this says so again, in a traceback, when it goes
        return make(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"scheduler {address!r} does not answer ({error})") from error
