"""The working folder of a job: which blocks are done, and what has been computed so far."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from ._atomic import read_json, write_bytes, write_json
from ._left import JOB, RUN, check_own, left_late, left_of, occupied, read_job, remove

SUFFIX = ".partial"


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
            check_own(self.path)
            if not (overwrite or left_late(self.path)):
                raise occupied(self.path, same=found == fingerprint)
            self.remove()
        self.run = f"run-{secrets.token_hex(8)}" if parts else ""
        self.inside.mkdir(parents=True)
        for name in parts:
            (self.inside / name).mkdir()
        write_json(self.path / JOB, {"fingerprint": fingerprint, "run": self.run, **content})
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
        check_own(self.path)
        if overwrite or left_late(self.path):
            return
        job = self.job()
        if job is None or not resume or job.get("outline") != outline:
            same = job is not None and job.get("outline") == outline
            raise occupied(self.path, same=same)

    def job(self) -> dict[str, Any] | None:
        """Read what an unfinished run noted of itself.

        Returns
        -------
        dict or None
            None if there is none, or only a part of it.
        """
        return read_job(self.path)

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write a small file so that it is there completely or not at all.

        Parameters
        ----------
        name : str
            Place in the folder.
        content : dict
            JSON values.
        """
        write_json(self.inside / name, content)

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write a file so that it is there completely or not at all.

        Parameters
        ----------
        name : str
            Place in the folder.
        content : bytes
            Of the file.
        """
        write_bytes(self.inside / name, content)

    def remove(self) -> None:
        """Delete the folder, if it is there."""
        remove(self.path)

    def clear(self, fingerprint: str) -> None:
        """Delete what is left beside a complete output, if it is of the run that made it.

        Parameters
        ----------
        fingerprint : str
            Of that run.
        """
        if left_of(self.path, fingerprint):
            self.remove()

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
        return read_json(self.inside / name)
