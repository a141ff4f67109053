"""The end of a run into a store: metadata, coarser levels, the result in its place."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import zarr

from napari_cosparse.core.errors import InputError

from ._arrays import writing
from ._axes import axes_of, stored_order
from ._blocks import Job, Place, marker
from ._digest import checksums
from ._folder import Folder
from ._layout import result_shape
from ._ome import add_levels, describe_image
from ._output import OME, check_replaced
from ._stored import Stored
from ._work import Work


def finish(
    work: Work,
    job: Job,
    places: list[Place],
    resumed: int,
    identity: dict[str, Any],
    *,
    overwrite: bool,
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
    identity : dict
        What the run is, and which job; JSON values.
    overwrite : bool
        Delete what is at the output's place.

    Yields
    ------
    None
        While coarser levels are made.

    Returns
    -------
    Stored

    Raises
    ------
    InputError
        If something has come to the output's place meanwhile; what was computed stays.
    OSError
        If something cannot be written; the same.
    """
    scalars = [None if layer.whole is None else layer.whole.to_json() for layer in job.layers]
    notes = identity | {"scalars": scalars, "result": _figures(job, places)}
    yield from _write_notes(work, notes)
    _put_in_place(work.folder, overwrite=overwrite)
    work.folder.remove()
    return stored_of(work, notes, resumed)


def stored_of(
    work: Work, notes: Mapping[str, Any], resumed: int | None = None, *, found: bool = False
) -> Stored:
    """Describe a result by the notes of the run that made it.

    Parameters
    ----------
    work : Work
        The run, or another one of the same job.
    notes : mapping
        JSON values.
    resumed : int, optional
        How many blocks an earlier run had solved; all if None.
    found : bool
        Whether the result was there before.

    Returns
    -------
    Stored
    """
    figures = notes["result"]
    apart = figures["disagreement"]
    return Stored(
        work.output,
        result_shape(work),
        str(work.dtype),
        work.factor,
        work.origin,
        figures["blocks"],
        figures["blocks"] if resumed is None else resumed,
        work.memory,
        (apart["rms"], apart["largest"]),
        figures["misfit"],
        notes["parameters"],
        tuple(map(tuple, figures["blank"])),
        figures["blank_blocks"],
        apart["pixels"],
        found,
    )


def _put_in_place(folder: Folder, *, overwrite: bool) -> None:
    """Move the result to where the output is wanted.

    What is replaced moves into the folder, and is deleted with it: a kill leaves either whole.
    """
    try:
        old = _make_room(folder, overwrite=overwrite)
        try:
            (folder.inside / "result").replace(folder.output)
        except OSError:
            if old is not None:
                old.replace(folder.output)
            raise
    except (InputError, OSError) as error:
        kind = InputError if isinstance(error, InputError) else OSError
        raise kind(
            f"the result cannot be put in its place ({error}); it is kept in {folder.path}: move "
            f"{folder.output} away and run the same again (--resume on the command line)"
        ) from error


def _make_room(folder: Folder, *, overwrite: bool) -> Path | None:
    """Move a store that is to be replaced, and nothing else, into the folder."""
    if not os.path.lexists(folder.output):
        return None
    if not overwrite:
        raise InputError(f"{folder.output} was not there when the run began")
    check_replaced(folder.output)
    old = folder.path / f"replaced-{secrets.token_hex(4)}"
    folder.output.replace(old)
    return old


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
        notes = notes | {"checksums": (yield from checksums(root, [""]))}
        with writing(f"{root}: metadata"):
            zarr.open_array(root, mode="r+").attrs.update({"napari-cosparse": notes})
        return
    names, size, units, position = work.axes
    order = stored_order(work.target)
    axes = axes_of([names[i] for i in order], [units[i] for i in order])
    levels = yield from add_levels(root, work.unknown)
    notes = notes | {"checksums": (yield from checksums(root, map(str, range(levels))))}
    name = work.output.name[: -len(OME)]
    sizes, place = ([values[i] for i in order] for values in (size, position))
    describe_image(root, name, axes, sizes, place, levels, notes)
