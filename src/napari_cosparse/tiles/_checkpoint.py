"""Keep an unfinished run of learning in a folder, and take it up again."""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from time import monotonic
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from napari_cosparse import __version__
from napari_cosparse.core.descent import Iterate, Onward
from napari_cosparse.core.errors import InputError, OccupiedError
from napari_cosparse.core.operators import Kept, LearnSettings

from ._folder import Folder
from ._left import JOB
from ._lock import alone

EVERY = 2.0  # seconds between two checkpoints; a shorter run leaves none
STATE = "state.npz"
ARRAYS = ("gradient", "direction")
NUMBERS = ("slope", "first")
RECORD = ("index", "value", "gradient_norm", "length", "evaluations", "restarted")
Patches = NDArray[np.float32]


class Checkpoint:
    """Keeps a run, with all that its next step depends on, in float64 as it is.

    Parameters
    ----------
    folder : Path
        Made when the run has taken a while.
    resume : bool
        Continue what is there, if it is the same run.
    overwrite : bool
        Delete what another run left.

    Raises
    ------
    InputError
        If there is something that is neither to be continued nor to be deleted.
    """

    def __init__(self, folder: Path, *, resume: bool, overwrite: bool) -> None:
        self._folder = Folder.at(folder)
        self._resume, self._overwrite = resume, overwrite
        left = _left(folder)
        if left and not (resume or overwrite):
            with alone(folder):  # a run that goes on is no unfinished one
                pass
            ways = {"resume": "continues it"} if JOB in left else {}
            ways["overwrite"] = "deletes it"
            raise OccupiedError(f"{folder} holds an unfinished run", ways, "choose another name")
        if not folder.absolute().parent.is_dir():
            raise InputError(f"{folder}: its folder does not exist")
        self._job: tuple[str, dict[str, Any]] = ("", {})
        self._last = monotonic()

    @property
    def path(self) -> Path:
        """The folder."""
        return self._folder.path

    def begin(self, patches: tuple[Patches, Patches], settings: LearnSettings) -> Kept | None:
        """Give what an earlier run with the same patches and settings left.

        Parameters
        ----------
        patches : tuple of ndarray
            The sample: whatever the images were, it is all that the result depends on.
        settings : LearnSettings
            Of the run.

        Returns
        -------
        Kept or None
            None if there is nothing.

        Raises
        ------
        InputError
            If it is of another run, or half made.
        """
        content = {"settings": settings.to_json(), "version": __version__}
        digest = hashlib.blake2b(json.dumps(content).encode(), digest_size=16)
        for part in patches:
            digest.update(np.ascontiguousarray(part).data.cast("B"))
        self._job = digest.hexdigest(), content
        self._last = monotonic()
        if not self._folder.path.exists() or not self._open():
            return None
        state = self._folder.path / STATE
        return _read(state) if state.exists() else None

    def keep(self, kept: Kept) -> None:
        """Write a checkpoint if the last one is old.

        Parameters
        ----------
        kept : Kept
            Where the run stands.
        """
        if monotonic() - self._last < EVERY:
            return
        if not self._folder.path.exists():
            self._open()
        self._folder.write_bytes(STATE, _packed(kept))
        self._last = monotonic()

    def _open(self) -> bool:
        """Make the folder, or find that of the same run."""
        fingerprint, content = self._job
        left = _left(self._folder.path)
        if left and JOB not in left:  # nobody knows which run it was
            if not self._overwrite:
                problem = f"{self._folder.path} was not made to the end"
                raise OccupiedError(problem, {"overwrite": "deletes it"}, "choose another name")
            self._folder.remove()
        return self._folder.begin(
            fingerprint, content, overwrite=self._overwrite, resume=self._resume, parts=()
        )

    def forget(self) -> None:
        """Delete what was kept: the run is finished."""
        discard_checkpoint(self._folder.path)


def discard_checkpoint(folder: str | Path) -> None:
    """Delete the folder of a run that is finished, if there is one.

    Parameters
    ----------
    folder : str or Path
        Where it was kept.
    """
    Folder.at(Path(folder)).remove()


def _left(folder: Path) -> set[str]:
    """Names of what a run left, and refuse what is not of this program."""
    if not os.path.lexists(folder):
        return set()
    if folder.is_symlink() or not folder.is_dir():
        raise InputError(
            f"{folder} is no folder, but an unfinished run is kept there; move it, or choose "
            "another name"
        )
    names = {item.name for item in folder.iterdir() if not item.name.startswith(".")}
    others = names - {JOB, STATE}
    if others:
        raise InputError(
            f"{folder} holds {min(others)}, which is not of this program; move it, or choose "
            "another name"
        )
    return names or {""}


def _packed(kept: Kept) -> bytes:
    record, onward = kept.last, kept.last.onward
    assert onward is not None  # noqa: S101 - the driver was asked for it
    arrays = {"point": record.point, "history": np.array(kept.history)}
    arrays |= {name: getattr(onward, name) for name in (*ARRAYS, *NUMBERS)}
    arrays |= {name: getattr(record, name) for name in RECORD}
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _read(state: Path) -> Kept:
    try:
        with np.load(io.BytesIO(state.read_bytes()), allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        onward = Onward(
            *(found[name] for name in ARRAYS), *(float(found[name]) for name in NUMBERS)
        )
        numbers = {name: found[name].item() for name in RECORD}
        last = Iterate(point=found["point"], onward=onward, **numbers)
        return Kept(last, found["history"].tolist())
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise InputError(f"{state} cannot be read ({error}); delete its folder") from error
