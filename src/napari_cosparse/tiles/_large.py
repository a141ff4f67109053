"""Upsample images of any size into a Zarr store, in blocks and bounded memory."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from napari_cosparse.core.errors import ApartError
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress, reported
from napari_cosparse.core.reconstruction import Settings

from ._as_source import as_source
from ._blend import blend_block, is_blended
from ._blocks import Job, Place, is_solved, marker
from ._checks import check_called, check_count, check_sizes, two_of
from ._colour import target_source
from ._complete import complete_notes, keep_complete
from ._describe import fingerprint, notes_of, outline
from ._finish import finish
from ._job import make_job
from ._lock import alone
from ._output import as_output, check_output
from ._sources import Colour
from ._stored import Stored
from ._survey import UNITS, survey
from ._threads import Asked, stop_if
from ._work import Work

R = TypeVar("R")


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
    beside: Sequence[Any] = (),
) -> Generator[Progress, None, Stored]:
    """Upsample into a store step by step; see `napari_cosparse.upsample_to_store`.

    ``beside`` are further arrays and files that were read: they are not to be replaced either.
    """
    check_count(threads, "threads")
    check_count(block, "block")
    check_called(cancelled, "cancelled")
    check_sizes(target, "target")
    check_sizes(guide, "guide")
    colours = two_of(colour, "colour", "(None, None)")
    levels = two_of(level, "level", "(0, 0)")
    below = as_source(guide, "guide", colour=colours[1], level=levels[1])
    above = target_source(target, colours[0], levels[0], below.plane, settings)
    images = above.asking(cancelled), below.asking(cancelled)
    work = Work.make(images, operators, as_output(output), settings, threads)
    work.describe_axes(axes, pixel_size, units, position)
    complete = complete_notes(work) if resume and not overwrite else None
    kept = overwrite or complete is not None
    given = target, guide, *beside
    check_output(work.output, overwrite=kept, resume=resume, inputs=given)
    earlier = complete or _earlier(work) if resume else None
    work.choose_blocks(memory, block, scheduler, earlier)
    work.cancelled = cancelled
    return _run(work, overwrite=overwrite, resume=resume)


def _earlier(work: Work) -> dict[str, Any] | None:
    """Find an unfinished run of this job, as far as can be told without reading an image."""
    job = work.folder.job()
    return job if job is not None and job.get("outline") == outline(work) else None


def _run(work: Work, *, overwrite: bool, resume: bool) -> Generator[Progress, None, Stored]:
    try:
        with alone(work.folder.path):
            complete = complete_notes(work) if resume and not overwrite else None
            if complete is not None:  # another run may have made it since
                check_output(work.output, overwrite=True)
                return (yield from keep_complete(work, complete))
            check_output(work.output, overwrite=overwrite, resume=resume)
            return (yield from _work_through(work, overwrite=overwrite, resume=resume))
    finally:
        work.close()


def _work_through(
    work: Work, *, overwrite: bool, resume: bool
) -> Generator[Progress, None, Stored]:
    work.folder.check(outline(work), overwrite=overwrite, resume=resume)
    found, digests = yield from survey(work)
    mark = fingerprint(work, digests)
    content = notes_of(work) | {"block": work.block, "outline": outline(work)}
    resumed = work.folder.begin(mark, content, overwrite=overwrite, resume=resume)
    copying = Progress("copying the inputs for other processes", 0, 1)
    job = yield from reported(make_job(work, found), copying)
    places = [(p, i, j) for p in range(len(found)) for i, j in job.plan.blocks]
    done = yield from _solve(work, job, places)
    _check_solved(job, places)
    yield from _asking(_blend(job, places), work.cancelled)
    total = UNITS * (len(places) + 1)
    identity = content | {"fingerprint": mark}
    ending = finish(work, job, places, done if resumed else 0, identity, overwrite=overwrite)
    levels = reported(ending, Progress("writing coarser levels", total, total))
    return (yield from _asking(levels, work.cancelled))


def _asking(
    steps: Generator[Progress, None, R], cancelled: Asked | None
) -> Generator[Progress, None, R]:
    """Ask before each step whether to stop."""
    while True:
        stop_if(cancelled)
        try:
            step = next(steps)
        except StopIteration as end:
            return cast("R", end.value)
        yield step


def _check_solved(job: Job, places: list[Place]) -> None:
    """Refuse a target of which no known sample lies on the guide, and leave nothing of it."""
    notes = (job.folder.read_json(f"solved/{marker(place)}") or {} for place in places)
    if not any(note["known"] for note in notes):
        job.folder.remove()
        raise ApartError("no known sample of the target lies on the guide; check the origin")


def _solve(work: Work, job: Job, places: list[Place]) -> Generator[Progress, None, int]:
    """Solve the blocks that are not solved yet; return how many were."""
    open_places = []
    for place in places:
        stop_if(work.cancelled)
        open_places += [] if is_solved(job, place) else [place]
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
        if not is_blended(job, where):
            yield from reported(blend_block(job, where), writing)
