"""Make the arrays of the working folder, and the record that a worker needs."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np

from napari_cosparse.core.reconstruction import Scalars

from ._arrays import make_array, spill
from ._blocks import PART, PARTS, Job, Layer, parts_shape
from ._layout import result_chunks, result_dimensions, result_shape
from ._on_disk import on_disk
from ._sources import Source
from ._survey import Found
from ._work import Work


def make_job(work: Work, found: list[Found]) -> Generator[None, None, Job]:
    """Make the arrays of the folder and say what is to be done.

    Parameters
    ----------
    work : Work
        The run, its blocks chosen.
    found : list of tuple
        What `survey` says of the planes.

    Yields
    ------
    None
        While inputs are copied.

    Returns
    -------
    Job
    """
    result_place = "result/0" if work.ome else "result"
    remote = work.client is not None or work.processes
    target, guide = work.target, work.guide
    weights: Any = work.settings.weights
    if remote:
        target, guide = (yield from _copied(work, target)), (yield from _copied(work, guide))
        if weights is not None:
            weights = yield from spill(work.folder, "weights", [(..., weights)], weights)
    job = Job(
        str(work.output.absolute()),
        work.folder.run,
        target,
        guide,
        work.operators,
        replace(work.settings, weights=None),
        weights,
        work.factor,
        work.reach,
        work.turned,
        work.plan_made,
        tuple(_layer(work, *plane) for plane in found),
        work.dtype,
        work.unknown,
        result_place,
        1 if remote else work.threads,
    )
    shape = parts_shape(job)
    chunks = (1, 1, 1, *(min(PART, size) for size in shape[3:]))
    make_array(job.folder, PARTS, shape, chunks, np.dtype(np.float32), markers="solved")
    layout = result_shape(work), result_chunks(work), work.dtype, result_dimensions(work)
    make_array(job.folder, result_place, *layout, markers="blended")
    return job


def _layer(
    work: Work,
    index: tuple[int, ...],
    guide: tuple[int, ...],
    channel: int | None,
    whole: Scalars | None,
) -> Layer:
    """Say where a plane is read and written."""
    if channel is None:
        return Layer(index, guide, (*index, ...), whole)
    result = (*index, channel, ...) if work.ome else (*index, ..., channel)
    return Layer((*index, channel), guide, result, whole)


def _copied(work: Work, source: Source) -> Generator[None, None, Source]:
    """Give a source that other processes can read: nothing large goes through the client."""
    if on_disk(source.array):
        return source
    parts = (
        ((*index, rows), strip)
        for index in np.ndindex(*source.leading)
        for rows, strip in source.strips(index)
    )
    return replace(source, array=(yield from spill(work.folder, source.name, parts, source.array)))
