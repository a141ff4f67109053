"""The end of a run into a store: metadata, coarser levels, the result in its place."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import zarr

from ._arrays import writing
from ._axes import axes_of, stored_order
from ._blocks import Job, Place, marker
from ._describe import notes_of
from ._layout import result_shape
from ._ome import add_levels, describe_image
from ._output import OME
from ._stored import Stored
from ._work import Work


def finish(
    work: Work, job: Job, places: list[Place], resumed: int, *, overwrite: bool
) -> Generator[None, None, Stored]:
    """Write the metadata, put the result in its place and describe it.

    Parameters
    ----------
    work : Work
        The run.
    job : Job
        What was done.
    places : list of Place
        All blocks.
    resumed : int
        How many of them an earlier run had solved.
    overwrite : bool
        Delete what is at the output's place.

    Yields
    ------
    None
        While coarser levels are made.

    Returns
    -------
    Stored
    """
    figures = _figures(job, places)
    scalars = [None if layer.whole is None else layer.whole.to_json() for layer in job.layers]
    notes = notes_of(work) | {"scalars": scalars, "result": figures}
    yield from _write_notes(work, notes)
    work.folder.finish("result", overwrite=overwrite)
    apart = figures["disagreement"]
    return Stored(
        work.output,
        result_shape(work),
        str(work.dtype),
        work.factor,
        work.origin,
        len(places),
        resumed,
        work.memory,
        (apart["rms"], apart["largest"]),
        figures["misfit"],
        notes["parameters"],
        tuple(map(tuple, figures["blank"])),
        figures["blank_blocks"],
        apart["pixels"],
    )


def _figures(job: Job, places: list[Place]) -> dict[str, Any]:
    """Put together what the blocks say of themselves."""
    solved = [job.folder.read_json(f"solved/{marker(p)}") or {} for p in places]
    blended = [job.folder.read_json(f"blended/{marker(p)}") or {} for p in places]
    count = sum(note["count"] for note in blended)
    squares = sum(note["squares"] for note in blended)
    return {
        "disagreement": {
            "rms": (squares / count) ** 0.5 if count else 0.0,
            "largest": max(note["largest"] for note in blended),
            "pixels": count,
        },
        "misfit": max(note.get("misfit", 0.0) for note in solved),
        "blocks": len(places),
        "converged": sum(bool(note.get("converged")) for note in solved),
        "blank_blocks": sum(bool(note.get("blank")) for note in solved),
        "blank": [list(job.layers[number].target) for number in _blank(places, solved)],
    }


def _blank(places: list[Place], solved: list[dict[str, Any]]) -> list[int]:
    """Numbers of the planes without a known sample."""
    known: dict[int, int] = {}
    for (plane, *_), note in zip(places, solved, strict=True):
        known[plane] = known.get(plane, 0) + note["known"]
    return [plane for plane, count in known.items() if not count]


def _write_notes(work: Work, notes: dict[str, Any]) -> Generator[None, None, None]:
    """Write the metadata, and the coarser levels of a multiscale image."""
    root = work.folder.inside / "result"
    if not work.ome:
        with writing(f"{root}: metadata"):
            zarr.open_array(root, mode="r+").attrs.update({"napari-cosparse": notes})
        return
    names, size, units, position = work.axes
    order = stored_order(work.target)
    axes = axes_of([names[i] for i in order], [units[i] for i in order])
    levels = yield from add_levels(root, work.unknown)
    name = work.output.name[: -len(OME)]
    sizes, place = ([values[i] for i in order] for values in (size, position))
    describe_image(root, name, axes, sizes, place, levels, notes)
