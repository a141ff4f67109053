"""Upsample images of any size into a Zarr store, in blocks and bounded memory."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import Settings

from ._blend import blend_block
from ._blocks import Job, Place, marker
from ._checks import check_called, check_count, two_of
from ._colour import target_source
from ._describe import fingerprint, notes_of
from ._finish import finish
from ._job import make_job
from ._output import check_output
from ._sources import Colour, Source, as_source, store_of
from ._stored import Stored
from ._threads import Asked
from ._work import UNITS, Work, reported


def store_steps(
    target: Any,  # noqa: ANN401 - array-likes
    guide: Any,  # noqa: ANN401
    operators: OperatorPair,
    output: str | Path,
    settings: Settings,
    *,
    memory: int | str | None = None,
    block: int | None = None,
    scheduler: str | Any | None = None,  # noqa: ANN401 - or a client
    threads: int | None = None,
    overwrite: bool = False,
    resume: bool = True,
    colour: tuple[Colour, Colour] = (None, None),
    level: tuple[int, int] = (0, 0),
    axes: str | None = None,
    pixel_size: Sequence[float] | None = None,
    units: Sequence[str | None] | None = None,
    position: Sequence[float] | None = None,
    cancelled: Asked | None = None,
) -> Generator[Progress, None, Stored]:
    """Upsample into a store step by step; see `napari_cosparse.upsample_to_store`."""
    check_count(threads, "threads")
    check_count(block, "block")
    check_called(cancelled, "cancelled")
    colours = two_of(colour, "colour", "(None, None)")
    levels = two_of(level, "level", "(0, 0)")
    below = as_source(guide, "guide", colour=colours[1], level=levels[1])
    above = target_source(target, colours[0], levels[0], below.plane, settings)
    images = above, below
    work = Work.make(images, operators, Path(output), settings, threads)
    check_output(work.output, overwrite=overwrite, inputs=_stores(images))
    work.describe_axes(axes, pixel_size, units, position)
    earlier = work.folder.job() if resume and not overwrite else None
    work.choose_blocks(memory, block, scheduler, earlier)
    work.cancelled = cancelled
    return _run(work, overwrite=overwrite, resume=resume)


def _stores(images: tuple[Source, Source]) -> list[Path]:
    return [path for image in images for path in store_of(image.array)]


def _run(work: Work, *, overwrite: bool, resume: bool) -> Generator[Progress, None, Stored]:
    try:
        layers, digests = yield from work.look()
        content = notes_of(work) | {"block": work.block}
        resumed = work.folder.begin(
            fingerprint(work, digests), content, overwrite=overwrite, resume=resume
        )
        copying = Progress("copying the inputs for other processes", 0, 1)
        job = yield from reported(make_job(work, layers), copying)
        places = [(p, i, j) for p in range(len(layers)) for i, j in job.plan.blocks]
        done = yield from _solve(work, job, places)
        yield from _blend(job, places)
        total = UNITS * (len(places) + 1)
        ending = finish(work, job, places, done if resumed else 0, overwrite=overwrite)
        return (yield from reported(ending, Progress("writing coarser levels", total, total)))
    finally:
        work.close()


def _solve(work: Work, job: Job, places: list[Place]) -> Generator[Progress, None, int]:
    """Solve the blocks that are not solved yet; return how many were."""
    open_places = [p for p in places if job.folder.read_json(f"solved/{marker(p)}") is None]
    done = len(places) - len(open_places)
    if open_places:
        for share in work.solve(job, open_places):
            name = f"solving block {min(len(places), int(done + share) + 1)} of {len(places)}"
            yield Progress(name, int(UNITS * (done + share)), UNITS * (len(places) + 1))
    return done


def _blend(job: Job, places: list[Place]) -> Generator[Progress, None, None]:
    """Blend the blocks that are not blended yet."""
    for number, where in enumerate(places):
        step = UNITS * len(places) + UNITS * number // len(places)
        name = f"writing block {number + 1} of {len(places)}"
        writing = Progress(name, step, UNITS * (len(places) + 1))
        yield writing
        if job.folder.read_json(f"blended/{marker(where)}") is None:
            yield from reported(blend_block(job, where), writing)
