"""The working folder of a job: which blocks are done, and what has been computed so far."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
from pathlib import Path
from typing import Any

from napari_cosparse.core.errors import InputError, OccupiedError

from ._output import check_replaced

SUFFIX = ".partial"
JOB = "job.json"
RUN = re.compile(r"run-[0-9a-f]{16}")
OWN = {"solved", "blended"}  # of older versions


class Folder:
    """A folder beside the output that holds everything until the output is complete.

    What is computed lies in a folder inside it whose name is new whenever a run begins from
    nothing. A worker of a cluster that is still at a block of a run that was given up knows the
    old name alone: whatever it writes, and whenever, the new run does not see it.

    Parameters
    ----------
    output : Path
        The Zarr store that is wanted in the end.
    run : str
        Name of the folder inside it; `begin` finds or makes it.
    """

    def __init__(self, output: Path, run: str = "") -> None:
        self.output = output
        self.path = output.with_name(output.name + SUFFIX)
        self.run = run

    @property
    def inside(self) -> Path:
        """Where all lies but the record of the job."""
        return self.path / self.run

    @classmethod
    def at(cls, path: Path) -> Folder:
        """Make one that lies at a given place, whatever the output is.

        Parameters
        ----------
        path : Path
            The folder.

        Returns
        -------
        Folder
        """
        folder = cls(path)
        folder.path = path
        return folder

    def begin(
        self,
        fingerprint: str,
        content: dict[str, Any],
        *,
        overwrite: bool,
        resume: bool = True,
        parts: tuple[str, ...] = ("solved", "blended"),
    ) -> bool:
        """Make the folder, or find that of the same job.

        Parameters
        ----------
        fingerprint : str
            Of inputs and parameters.
        content : dict
            What to note of the job, JSON values.
        overwrite : bool
            Delete what another job left.
        resume : bool
            Continue an unfinished run of the same job.
        parts : tuple of str
            Folders inside it.

        Returns
        -------
        bool
            Whether an earlier run is continued.

        Raises
        ------
        InputError
            If there is something of another job, or something half made.
        """
        job = self.job()
        found = None if job is None else str(job.get("fingerprint"))
        run = "" if job is None else str(job.get("run", ""))
        if found == fingerprint and resume and (not parts or RUN.fullmatch(run)):
            self.run = run
            return True
        if os.path.lexists(self.path):
            self._check_own()
            if not (overwrite or self._left_late()):
                raise self._occupied(found == fingerprint)
            self.remove()
        self.run = f"run-{secrets.token_hex(8)}" if parts else ""
        self.inside.mkdir(parents=True)
        for name in parts:
            (self.inside / name).mkdir()
        _write(self.path / JOB, {"fingerprint": fingerprint, "run": self.run, **content})
        return False

    def check(self, outline: str, *, overwrite: bool, resume: bool) -> None:
        """Refuse what lies here as soon as it can be told, before an image is read.

        Parameters
        ----------
        outline : str
            Checksum of all but the pixels; what `begin` notes of a job has it as "outline".
        overwrite, resume : bool
            See `begin`.

        Raises
        ------
        InputError
            See `begin`.
        """
        if not os.path.lexists(self.path):
            return
        self._check_own()
        if overwrite or self._left_late():
            return
        job = self.job()
        if job is None or not resume or job.get("outline") != outline:
            raise self._occupied(job is not None and job.get("outline") == outline)

    def _left_late(self) -> bool:
        """Whether nothing is here but what workers wrote after their run's end."""
        if self.path.is_symlink() or not self.path.is_dir():
            return False
        items = list(self.path.iterdir())
        late = (RUN.fullmatch(item.name) and not (item / "solved").exists() for item in items)
        return bool(items) and all(late)

    def _occupied(self, same: bool) -> OccupiedError:
        """Say what lies there."""
        ways = {"overwrite": "deletes it"}
        if same:
            problem = f"{self.path} holds an unfinished run of this job"
            ways = {"resume": "continues it", **ways}
        elif self.job() is None:
            problem = f"{self.path} was not made to the end: it does not say which job it is of"
        else:
            problem = f"{self.path} belongs to another job (other inputs, parameters or version)"
        return OccupiedError(problem, ways, "choose another output")

    def _check_own(self) -> None:
        """Refuse what no run has left."""
        if self.path.is_symlink() or not self.path.is_dir():
            raise InputError(f"{self.path} is no folder; delete it, or choose another output")
        names = {item.name for item in self.path.iterdir() if not item.name.startswith(".")}
        others = sorted(name for name in names - OWN if not RUN.fullmatch(name))
        if JOB not in names and others:
            raise InputError(
                f"{self.path} holds {others[0]}, which is not of this program; move it, or "
                "choose another output"
            )

    def job(self) -> dict[str, Any] | None:
        """Read what an unfinished run noted of itself.

        Returns
        -------
        dict or None
            None if there is none, or only a part of it.
        """
        try:
            job = json.loads((self.path / JOB).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return job if isinstance(job, dict) else None

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write a small file so that it is there completely or not at all.

        Parameters
        ----------
        name : str
            Place in the folder.
        content : dict
            JSON values.
        """
        _write(self.inside / name, content)

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write a file so that it is there completely or not at all.

        Parameters
        ----------
        name : str
            Place in the folder.
        content : bytes
            Of the file.
        """
        _write_bytes(self.inside / name, content)

    def remove(self) -> None:
        """Delete the folder, if it is there; first what says which job it is of.

        A kill in the middle leaves no folder that another run would go on from.
        """
        if self.path.is_dir() and not self.path.is_symlink():
            (self.path / JOB).unlink(missing_ok=True)
        for last in (False, False, True):
            try:
                if self.path.exists():
                    shutil.rmtree(self.path)
            except FileNotFoundError:
                continue
            except OSError as error:  # somebody's late block came while it was deleted
                if last or error.errno != errno.ENOTEMPTY:
                    raise

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Read a small file.

        Parameters
        ----------
        name : str
            Place in the folder.

        Returns
        -------
        dict or None
            None if it is not there, or damaged.
        """
        place = self.inside / name
        if not place.exists():
            return None
        try:
            content: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        except ValueError:  # damaged: as if it had not been written
            return None
        return content

    def finish(self, result: str, *, overwrite: bool) -> None:
        """Put the result in its place and delete the rest.

        Parameters
        ----------
        result : str
            Place of the result in the folder.
        overwrite : bool
            Delete what is at the output's place.

        Raises
        ------
        InputError
            If something has come there meanwhile; what was computed stays.
        """
        try:
            _make_room(self.output, overwrite)
            (self.inside / result).replace(self.output)
        except (InputError, OSError) as error:
            kind = InputError if isinstance(error, InputError) else OSError
            raise kind(
                f"the result cannot be put in its place ({error}); it is kept in {self.path}: move "
                f"{self.output} away and run the same again (--resume on the command line)"
            ) from error
        self.remove()


def _make_room(output: Path, overwrite: bool) -> None:
    """Delete a store that is to be replaced, and nothing else."""
    if not os.path.lexists(output):
        return
    if not overwrite:
        raise InputError(f"{output} was not there when the run began")
    check_replaced(output)
    shutil.rmtree(output)


def _write(place: Path, content: dict[str, Any]) -> None:
    """Write JSON values so that they are there completely or not at all."""
    _write_bytes(place, json.dumps(content).encode())


def _write_bytes(place: Path, content: bytes) -> None:
    """Write a file so that it is there completely or not at all."""
    new = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(place)
    except OSError as error:  # a full disk names no file
        new.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(place)) from error
