"""The working folder of a job: which blocks are done, and what has been computed so far."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

from napari_cosparse.core.errors import InputError, OccupiedError

SUFFIX = ".partial"
JOB = "job.json"
OWN = {"solved", "blended", "parts.zarr", "result", "target.zarr", "guide.zarr"}


class Folder:
    """A folder beside the output that holds everything until the output is complete.

    Parameters
    ----------
    output : Path
        The Zarr store that is wanted in the end.
    """

    def __init__(self, output: Path) -> None:
        self.output = output
        self.path = output.with_name(output.name + SUFFIX)

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
        found = self._fingerprint()
        if found == fingerprint and resume:
            return True
        if self.path.exists():
            if not overwrite:
                raise self._occupied(found, fingerprint)
            self._clear()
        self.path.mkdir(parents=True)
        for name in parts:
            (self.path / name).mkdir()
        self.write_json(JOB, {"fingerprint": fingerprint, **content})
        return False

    def _occupied(self, found: str | None, fingerprint: str) -> OccupiedError:
        """Say what lies there."""
        ways = {"overwrite": "deletes it"}
        if found == fingerprint:
            problem = f"{self.path} holds an unfinished run of this job"
            ways = {"resume": "continues it", **ways}
        elif found is None:
            problem = f"{self.path} was not made to the end: it does not say which job it is of"
        else:
            problem = f"{self.path} belongs to another job (other inputs, parameters or version)"
        return OccupiedError(problem, ways, "choose another output")

    def _clear(self) -> None:
        """Delete what a run left; refuse a folder that holds anything else."""
        if not self.path.is_dir():
            raise InputError(f"{self.path} is no folder; delete it, or choose another output")
        names = {item.name for item in self.path.iterdir() if not item.name.startswith(".")}
        if JOB not in names and not names <= OWN:
            raise InputError(
                f"{self.path} holds {min(names - OWN)}, which is not of this program; move it, or "
                "choose another output"
            )
        shutil.rmtree(self.path)

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

    def _fingerprint(self) -> str | None:
        job = self.job()
        return None if job is None else str(job.get("fingerprint"))

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write a small file so that it is there completely or not at all.

        Parameters
        ----------
        name : str
            Place in the folder.
        content : dict
            JSON values.
        """
        self.write_bytes(name, json.dumps(content).encode())

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write a file so that it is there completely or not at all.

        Parameters
        ----------
        name : str
            Place in the folder.
        content : bytes
            Of the file.
        """
        place = self.path / name
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

    def remove(self) -> None:
        """Delete the folder, if it is there."""
        if self.path.exists():
            shutil.rmtree(self.path)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Read a small file.

        Parameters
        ----------
        name : str
            Place in the folder.

        Returns
        -------
        dict or None
            None if it is not there.
        """
        place = self.path / name
        if not place.exists():
            return None
        content: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        return content

    def finish(self, result: str, *, overwrite: bool) -> None:
        """Put the result in its place and delete the rest.

        Parameters
        ----------
        result : str
            Place of the result in the folder.
        overwrite : bool
            Delete what is at the output's place.
        """
        if self.output.exists() and overwrite:
            shutil.rmtree(self.output)
        (self.path / result).replace(self.output)
        shutil.rmtree(self.path)
