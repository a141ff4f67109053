"""An output that is there before a run begins: whether it is complete, and of the same job."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

from napari_cosparse.core.progress import Progress, reported

from ._atomic import read_json
from ._describe import fingerprint, outline
from ._digest import checksums
from ._finish import stored_of
from ._output import damaged, taken
from ._stored import Stored
from ._survey import survey
from ._work import Work

NOTES = "napari-cosparse"  # attribute of a store
SAID = {"fingerprint": str, "outline": str, "parameters": dict, "result": dict, "checksums": dict}
FIGURES = {"disagreement", "misfit", "blocks", "blank_blocks", "blank"}


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
        notes: Any = attributes.get(NOTES)
    except (OSError, AttributeError):  # unreadable, or another program's
        return None
    if not _says_all(notes) or notes["outline"] != outline(work):
        return None  # as of an older version, which did not say which job it was
    found: dict[str, Any] = notes
    return found


def _says_all(notes: Any) -> bool:  # noqa: ANN401 - whatever a file holds
    """Whether notes are as a run writes them."""
    if not isinstance(notes, dict):
        return False
    if not all(isinstance(notes.get(name), kind) for name, kind in SAID.items()):
        return False
    if not (notes["checksums"] and "block" in notes):
        return False
    return set(notes["result"]) >= FIGURES and isinstance(notes["result"]["disagreement"], dict)


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
        If it is of another job, or no longer what was written.
    """
    _, digests = yield from survey(work)
    if fingerprint(work, digests) != notes["fingerprint"]:
        raise taken(work.output, resume=True)
    reading = Progress("checking the output", 0, 1)
    if not (yield from reported(_is_whole(work.output, notes), reading)):
        raise damaged(work.output)
    work.folder.clear(notes["fingerprint"])
    return stored_of(work, notes, found=True)


def _is_whole(output: Path, notes: dict[str, Any]) -> Generator[None, None, bool]:
    """Read all of an output: Zarr takes chunks that are lost for empty ones."""
    try:
        told: dict[str, str] = notes["checksums"]
        return (yield from checksums(output, told)) == told
    except Exception:  # noqa: BLE001 - whatever is wrong with a chunk
        return False
