"""Learn from images of any size: who reads them, how much memory it takes, how it is continued."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import LOOKED, ROOM, Learned, LearnSettings, learn_with
from napari_cosparse.core.progress import Progress

from ._checkpoint import Checkpoint
from ._checks import check_count
from ._lock import alone
from ._maps import ClusterMap, ProcessMap
from ._memory import as_bytes, free_memory, in_words
from ._planes import PlaneOf, as_plane
from ._run import client_of
from ._threads import Asked, default_threads, threaded_map

COPIES = 56  # bytes for each coefficient of a patch pair's half: float32 four times, float64 thrice
LOOKING = 96  # bytes for each pixel that a thread looks at: sums of patches in float64
RANGE = 24  # bytes for each pixel of an image whose quantiles are taken
CHUNKS = 2  # chunks that a thread holds: packed and unpacked
OVERHEAD = 32 << 20
BAND = 256  # rows of an image that are looked at together

Pairs = list[Any]  # of two images each


def learning_steps(
    pairs: Sequence[tuple[Any, Any]],
    settings: LearnSettings,
    *,
    memory: int | str | None = None,
    scheduler: Any = None,  # noqa: ANN401 - a name, an address or a client
    threads: int | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = True,
    overwrite: bool = False,
    keep: bool = False,
    cancelled: Asked | None = None,
) -> Generator[Progress, None, Learned]:
    """Learn step by step; see `napari_cosparse.learn_steps`."""
    check_count(threads, "threads")
    named = [_named(number, pair, cancelled) for number, pair in enumerate(pairs, 1)]
    learn_with(named, settings)  # checks the images; no step is taken
    readers = threads or default_threads()
    need, room = plan_memory(named, settings, memory, readers)
    keeper = None
    if checkpoint is not None:
        keeper = Checkpoint(Path(checkpoint), resume=resume, overwrite=overwrite)
    evaluate = threaded_map(1, cancelled)  # the products are too small for more threads
    read = _reader(named, scheduler, threads, cancelled)
    steps = learn_with(named, settings, map_=evaluate, read=read, keeper=keeper, room=room)
    told = Progress(
        f"needs about {need / 1e6:.0f} MB of memory", 0, len(named) + settings.iterations
    )
    return _run(steps, told, read, keeper, keep=keep)


def _named(number: int, pair: Any, cancelled: Asked | None) -> tuple[Any, ...]:  # noqa: ANN401
    """Give the images of a pair names for their errors; the core says if there are not two."""
    return tuple(
        as_plane(image, f"{'v' if at else 'u'} of image pair {number}", cancelled)
        for at, image in enumerate(pair)
    )


def _run(
    steps: Generator[Progress, None, Learned],
    told: Progress,
    read: Map,
    keeper: Checkpoint | None,
    *,
    keep: bool,
) -> Generator[Progress, None, Learned]:
    try:
        with nullcontext() if keeper is None else alone(keeper.path):
            yield told
            learned = yield from steps
            if keeper is not None and not keep:
                keeper.forget()
    finally:
        if isinstance(read, ProcessMap | ClusterMap):
            read.close()
    return learned


def _reader(pairs: Pairs, scheduler: Any, threads: int | None, cancelled: Asked | None) -> Map:  # noqa: ANN401
    """Choose who looks for patches and reads them; what lies in this process is read by it."""
    client, own = client_of(scheduler)
    apart = all(isinstance(image, PlaneOf) and image.on_disk for pair in pairs for image in pair)
    if client is not None and apart:
        return ClusterMap(client, own, cancelled)
    if client is not None and own:
        client.close()
    if scheduler == "processes" and apart:
        return ProcessMap(threads, cancelled)
    return threaded_map(threads, cancelled)


def plan_memory(
    pairs: Pairs, settings: LearnSettings, memory: int | str | None, readers: int
) -> tuple[int, int]:
    """Estimate what a run takes, and refuse it if that is too much.

    Parameters
    ----------
    pairs : list of tuple of array-like
        The images.
    settings : LearnSettings
        Of the run.
    memory : int, str or None
        Budget; the free memory if None.
    readers : int
        Threads or processes that read.

    Returns
    -------
    need : int
        Bytes at most, without images that are in memory already.
    room : int
        Bytes of them in which parts of images in chunks are kept.

    Raises
    ------
    InputError
        If the sample, or reading the images, does not fit.
    """
    budget = free_memory() if memory is None else as_bytes(memory)
    sample = COPIES * settings.samples * settings.side**2
    reading = readers * max((_reading(image, settings) for p in pairs for image in p), default=0)
    least = sample + reading + OVERHEAD
    if least > budget:
        raise InputError(
            f"learning needs about {least / 1e6:.0f} MB of memory ({settings.samples} patches of "
            f"side {settings.side} take {sample / 1e6:.0f} MB, reading the images "
            f"{reading / 1e6:.0f} MB), more than {in_words(budget)}; lower samples, side, block "
            "or threads, or allow more memory"
        )
    room = min(ROOM, budget - least) if _chunked(pairs) else 0
    return least + room, room


def _chunked(pairs: Pairs) -> bool:
    return any(isinstance(image, PlaneOf) for pair in pairs for image in pair)


def _reading(image: Any, settings: LearnSettings) -> int:  # noqa: ANN401
    """Bytes that one reader needs for a part of an image."""
    shape = np.shape(image)
    pixels = int(shape[0]) * int(shape[1])
    if pixels > LOOKED:
        looked = LOOKING * settings.block**2
    else:
        looked = LOOKING * min(BAND, int(shape[0])) * int(shape[1]) + RANGE * pixels
    return looked + CHUNKS * (image.chunk_bytes if isinstance(image, PlaneOf) else 0)
