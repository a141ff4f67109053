"""The working folder of a job: which blocks are done, and what has been computed so far."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

SUFFIX = ".partial"
JOB = "job.json"
ZARR = ("zarr.json", ".zarray", ".zgroup")
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

    def check(self, *, overwrite: bool, inputs: Iterable[Path] = ()) -> None:
        """Refuse an output that cannot be written, before any work.

        Parameters
        ----------
        overwrite : bool
            Whether what is there may be replaced: a Zarr store, nothing else.
        inputs : iterable of Path
            Stores that are read.

        Raises
        ------
        InputError
            If it exists, is an input, or its folder does not exist.
        """
        self._spare(inputs)
        if self.output.exists() and not overwrite:
            raise InputError(f"{self.output} exists already; choose another name or overwrite it")
        if self.output.exists() and not any((self.output / name).is_file() for name in ZARR):
            raise InputError(
                f"{self.output} is no Zarr store and is not overwritten; choose another name"
            )
        if not self.output.parent.is_dir():
            raise InputError(f"{self.output}: the folder {self.output.parent} does not exist")

    def _spare(self, inputs: Iterable[Path]) -> None:
        """Refuse an output that would replace an input or lie in one."""
        own = self.output.absolute().resolve()
        for path in inputs:
            given = path.absolute().resolve()
            if own == given or own in given.parents or given in own.parents:
                raise InputError(
                    f"the output {self.output} lies on the input {path}; choose another name"
                )

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
        if found == fingerprint and not overwrite:
            raise InputError(
                f"{self.path} holds an unfinished run of this job; resume or overwrite it"
            )
        if self.path.exists():
            if not overwrite:
                what = "is half made" if found is None else "belongs to another job"
                raise InputError(
                    f"{self.path} {what} (other inputs, parameters or version); delete it, "
                    "overwrite it, or choose another output"
                )
            self._clear()
        self.path.mkdir(parents=True)
        for name in parts:
            (self.path / name).mkdir()
        self.write_json(JOB, {"fingerprint": fingerprint, **content})
        return False

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

    def array(
        self,
        name: str,
        shape: tuple[int, ...],
        chunks: tuple[int, ...],
        dtype: np.dtype[Any],
        dimensions: tuple[str, ...] | None = None,
    ) -> Any:  # noqa: ANN401 - zarr.Array
        """Open an array of the folder for writing; make it if it is not there.

        Parameters
        ----------
        name : str
            Place in the folder.
        shape, chunks : tuple of int
            Of the array.
        dtype : dtype
            Of the array.
        dimensions : tuple of str, optional
            Names of the axes.

        Returns
        -------
        zarr.Array
        """
        place = self.path / name
        if (place / "zarr.json").exists():
            return zarr.open_array(place, mode="r+")
        return zarr.create_array(
            place,
            shape=shape,
            chunks=chunks,
            dtype=dtype,
            dimension_names=dimensions,
            overwrite=True,
        )

    def spill(
        self,
        name: str,
        parts: Any,  # noqa: ANN401 - pairs of index and array
        like: Any,  # noqa: ANN401 - an array
    ) -> Generator[None, None, Any]:
        """Copy an image into the folder, strip by strip, so that other processes can read it.

        Parameters
        ----------
        name : str
            Of the copy.
        parts : iterable of tuple
            Places and their content.
        like : array-like
            Has the shape and type of the copy.

        Yields
        ------
        None
            After each strip.

        Returns
        -------
        zarr.Array
        """
        if self.read_json(f"{name}.json") is None:
            shape = tuple(like.shape)
            chunks = tuple(min(n, 512) for n in shape)
            array = zarr.create_array(
                self.path / f"{name}.zarr", shape=shape, chunks=chunks, dtype=like.dtype,
                overwrite=True,
            )  # fmt: skip
            for where, part in parts:
                write(array, where, part, f"{self.path}: a copy of the {name}")
                yield
            self.write_json(f"{name}.json", {"complete": True})
        return zarr.open_array(self.path / f"{name}.zarr", mode="r")

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


def write(array: Any, where: tuple[Any, ...], values: NDArray[Any], what: str) -> None:  # noqa: ANN401 - zarr.Array
    """Write a part of an array; say which part if the disk refuses.

    Parameters
    ----------
    array : zarr.Array
    where : tuple
        Index of the part.
    values : ndarray
        Its content.
    what : str
        What to call it in the error.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    try:
        array[where] = values
    except OSError as error:
        raise OSError(
            error.errno, f"{what} cannot be written ({error.strerror or error}); what was "
            "finished is kept: free some space and run the same again"
        ) from error  # fmt: skip
