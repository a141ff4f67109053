"""Make the arrays of the working folder, and the record that a worker needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import zarr

from ._blocks import Job, Layer, parts_shape
from ._layout import result_chunks, result_dimensions, result_shape
from ._sources import Source
from ._work import Work


def make_job(work: Work, found: list[tuple[Any, ...]]) -> Job:
    """Make the arrays of the folder and say what is to be done.

    Parameters
    ----------
    work : Work
        The run, its blocks chosen.
    found : list of tuple
        What `Work.look` says of the planes.

    Returns
    -------
    Job
    """
    assert work.plan is not None  # noqa: S101 - choose_blocks made it
    result_place = "result/0" if work.ome else "result"
    remote = work.client is not None or work.processes
    job = Job(
        str(work.output.absolute()),
        _on_disk(work, work.target) if remote else work.target,
        _on_disk(work, work.guide) if remote else work.guide,
        work.operators,
        work.settings,
        work.factor,
        work.plan,
        tuple(_layer(work, *plane) for plane in found),
        work.dtype,
        result_place,
        1 if remote else work.threads,
    )
    shape = parts_shape(job)
    job.folder.array("parts.zarr", shape, (1, 1, 1, *shape[3:]), np.dtype(np.float32))
    job.folder.array(
        result_place, result_shape(work), result_chunks(work), work.dtype, result_dimensions(work)
    )
    return job


def _layer(work: Work, index: tuple[int, ...], guide: Any, channel: Any, whole: Any) -> Layer:  # noqa: ANN401 - see Work.look
    """Say where a plane is read and written."""
    if channel is None:
        return Layer(index, guide, (*index, ...), whole)
    result = (*index, channel, ...) if work.ome else (*index, ..., channel)
    return Layer((*index, channel), guide, result, whole)


def _on_disk(work: Work, source: Source) -> Source:
    """Give a source that other processes can read: nothing large goes through the client."""
    if isinstance(source.array, zarr.Array) and isinstance(
        source.array.store, zarr.storage.LocalStore
    ):
        return source
    parts = (
        ((*index, rows), strip)
        for index in np.ndindex(*source.leading)
        for rows, strip in source.strips(index)
    )
    return replace(source, array=work.folder.spill(source.name, parts, source.array))
