"""Upsample images of any size into a Zarr store, in blocks and bounded memory."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import Settings

from ._blocks import blend_block, marker
from ._describe import fingerprint, notes_of
from ._finish import finish
from ._job import make_job
from ._sources import Colour, as_source
from ._stored import Stored
from ._work import UNITS, Work


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
    colour: tuple[Colour, Colour] = (False, None),
    level: tuple[int, int] = (0, 0),
    axes: str | None = None,
    pixel_size: Sequence[float] | None = None,
    units: Sequence[str | None] | None = None,
) -> Generator[Progress, None, Stored]:
    """Upsample into a store step by step; see `napari_cosparse.upsample_to_store`."""
    images = (
        as_source(target, "target", colour=colour[0], level=level[0]),
        as_source(guide, "guide", colour=colour[1], level=level[1]),
    )
    work = Work.make(images, operators, Path(output), settings, threads)
    work.folder.check(overwrite=overwrite)
    work.choose_blocks(memory, block, scheduler)
    work.describe_axes(axes, pixel_size, units)
    return _run(work, overwrite=overwrite, resume=resume)


def _run(work: Work, *, overwrite: bool, resume: bool) -> Generator[Progress, None, Stored]:
    layers, digests = yield from work.look()
    resumed = work.folder.begin(
        fingerprint(work, digests), notes_of(work), overwrite=overwrite, resume=resume
    )
    job = make_job(work, layers)
    places = [(p, i, j) for p in range(len(layers)) for i, j in job.plan.blocks]
    open_places = [p for p in places if work.folder.read_json(f"solved/{marker(p)}") is None]
    done = len(places) - len(open_places)
    for share in work.solve(job, open_places):
        name = f"solving block {min(len(places), int(done + share) + 1)} of {len(places)}"
        yield Progress(name, int(UNITS * (done + share)), UNITS * (len(places) + 1))
    for number, where in enumerate(places):
        if work.folder.read_json(f"blended/{marker(where)}") is None:
            blend_block(job, where)
        step = UNITS * len(places) + UNITS * number // len(places)
        yield Progress(
            f"writing block {number + 1} of {len(places)}", step, UNITS * (len(places) + 1)
        )
    return finish(work, job, places, done if resumed else 0, overwrite=overwrite)
