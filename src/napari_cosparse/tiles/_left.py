"""What an earlier run left in the place of a working folder, and what is refused of it."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

from napari_cosparse.core.errors import InputError, OccupiedError

JOB = "job.json"
RUN = re.compile(r"run-[0-9a-f]{16}")
MADE = re.compile(r"run-[0-9a-f]{16}|replaced-[0-9a-f]{8}|\.job\.json-[0-9a-f]{8}")
OWN = {"solved", "blended"}  # of older versions


def read_job(folder: Path) -> dict[str, Any] | None:
    """Read what an unfinished run noted of itself.

    Parameters
    ----------
    folder : Path
        The working folder.

    Returns
    -------
    dict or None
        None if there is none, or only a part of it.
    """
    try:
        job = json.loads((folder / JOB).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return job if isinstance(job, dict) else None


def check_own(folder: Path) -> None:
    """Refuse what no run has left.

    Parameters
    ----------
    folder : Path
        Something is there.

    Raises
    ------
    InputError
        If it is no folder, or holds something else.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise InputError(f"{folder} is no folder; delete it, or choose another output")
    names = {item.name for item in folder.iterdir() if not item.name.startswith(".")}
    others = sorted(name for name in names - OWN if not MADE.fullmatch(name))
    if JOB not in names and others:
        raise InputError(
            f"{folder} holds {others[0]}, which is not of this program; move it, or "
            "choose another output"
        )


def left_late(folder: Path) -> bool:
    """Whether nothing is here but what workers wrote after their run's end.

    Parameters
    ----------
    folder : Path
        The working folder.

    Returns
    -------
    bool
    """
    if folder.is_symlink() or not folder.is_dir():
        return False
    items = list(folder.iterdir())
    late = (RUN.fullmatch(item.name) and not (item / "solved").exists() for item in items)
    return bool(items) and all(late)


def left_of(folder: Path, fingerprint: str) -> bool:
    """Whether all that is here is what a run of a complete output left, and its deletion spared.

    Parameters
    ----------
    folder : Path
        The working folder.
    fingerprint : str
        Of the run.

    Returns
    -------
    bool
        True, too, where nothing says any more which run it was: that goes first, so that nobody
        could go on from what is left.
    """
    if not os.path.lexists(folder):
        return False
    if folder.is_symlink() or not folder.is_dir():
        return False
    names = {item.name for item in folder.iterdir()} - {JOB}
    if not all(MADE.fullmatch(name) for name in names):
        return False
    job = read_job(folder)
    if job is None:
        return not (folder / JOB).exists()
    return job.get("fingerprint") == fingerprint


def occupied(folder: Path, *, same: bool) -> OccupiedError:
    """Say what lies there.

    Parameters
    ----------
    folder : Path
        The working folder.
    same : bool
        Whether it is of the job that is wanted.

    Returns
    -------
    OccupiedError
        To be raised.
    """
    ways = {"overwrite": "deletes it"}
    if same:
        problem = f"{folder} holds an unfinished run of this job"
        ways = {"resume": "continues it", **ways}
    elif read_job(folder) is None:
        problem = f"{folder} was not made to the end: it does not say which job it is of"
    else:
        problem = f"{folder} belongs to another job (other inputs, parameters, blocks or version)"
    return OccupiedError(problem, ways, "choose another output")


def remove(folder: Path) -> None:
    """Delete a working folder, if it is there; first what says which job it is of.

    A kill in the middle leaves no folder that another run would go on from.

    Parameters
    ----------
    folder : Path
        The working folder.

    Raises
    ------
    OSError
        If it cannot be deleted.
    """
    if folder.is_dir() and not folder.is_symlink():
        (folder / JOB).unlink(missing_ok=True)
    for last in (False, False, True):
        try:
            if folder.exists():
                shutil.rmtree(folder)
        except FileNotFoundError:
            continue
        except OSError as error:  # somebody's late block came while it was deleted
            if last or error.errno != errno.ENOTEMPTY:
                raise
