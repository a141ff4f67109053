"""An output that is there before a run begins: whether it is complete, and of the same job."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from napari_cosparse.core.progress import Progress

from ._atomic import read_json
from ._describe import fingerprint, outline
from ._finish import stored_of
from ._output import taken
from ._stored import Stored
from ._survey import survey
from ._work import Work

NOTES = "napari-cosparse"  # attribute of a store
SAID = ("fingerprint", "outline", "block", "parameters", "result")


def complete_notes(work: Work) -> dict[str, Any] | None:
    """Find what the run that made the output said of itself, if it may have been this one.

    The output is moved to its place when all of it is written: where it is, it is complete.

    Parameters
    ----------
    work : Work
        The run, its axes described.

    Returns
    -------
    dict or None
        None if there is no output, or one of another job as far as can be told without reading
        an image.
    """
    try:
        attributes = (read_json(work.output / "zarr.json") or {}).get("attributes") or {}
        notes = attributes.get(NOTES)
    except (OSError, AttributeError):  # unreadable, or another program's
        return None
    if not isinstance(notes, dict) or not all(name in notes for name in SAID):
        return None  # of an older version, which did not say which job it was
    return notes if notes["outline"] == outline(work) else None


def keep_complete(work: Work, notes: dict[str, Any]) -> Generator[Progress, None, Stored]:
    """Describe an output as it is, if it is of this job; delete what its run left beside it.

    Parameters
    ----------
    work : Work
        The run, its blocks chosen.
    notes : dict
        See `complete_notes`.

    Yields
    ------
    Progress
        While the inputs are read.

    Returns
    -------
    Stored

    Raises
    ------
    InputError
        If it is of another job.
    """
    _, digests = yield from survey(work)
    if fingerprint(work, digests) != notes["fingerprint"]:
        raise taken(work.output)
    work.folder.clear(notes["fingerprint"])
    return stored_of(work, notes, found=True)
