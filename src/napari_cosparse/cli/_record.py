"""The JSON beside each output: inputs, parameters, result, versions."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from napari_cosparse import __version__
from napari_cosparse.core.errors import InputError
from napari_cosparse.io import check_destination, to_json

from ._resume import kept_folder


def record_path(out: Path) -> Path:
    """Return the name of the record beside an output.

    Parameters
    ----------
    out : Path
        The output.

    Returns
    -------
    Path
        The same name with ``.json`` behind it, so that each output has a record of its own.
    """
    return out.with_name(out.name + ".json")


def check_outputs(out: Path, inputs: list[Path]) -> None:
    """Refuse places that cannot be written, or that hold an input, before the work begins.

    Parameters
    ----------
    out : Path
        The output; its record goes beside it.
    inputs : list of Path
        Files that are read.

    Raises
    ------
    InputError
        If a place cannot be written or is an input.
    """
    for place in (out, record_path(out)):
        _check_apart(place, check_destination(place), inputs)


def check_kept(out: Path, inputs: list[Path]) -> None:
    """Refuse an output that holds an input, or whose unfinished run does.

    Parameters
    ----------
    out : Path
        The output; an unfinished run is kept beside it.
    inputs : list of Path
        Files and stores that are read.

    Raises
    ------
    InputError
        If one is an input, or holds one.
    """
    for place in (out, kept_folder(out)):
        _check_apart(place, place.resolve(), inputs)


def _check_apart(place: Path, real: Path, inputs: list[Path]) -> None:
    """Refuse a place that is an input, holds one, or is a part of one."""
    if not real.exists():
        return
    for source in inputs:
        if not source.exists():
            continue
        read = source.resolve()
        if real.samefile(read) or read.is_relative_to(real):
            raise InputError(f"{place} is an input ({source}); give the output another name")
        if real.is_relative_to(read):
            raise InputError(f"{place} is a part of an input ({source}); choose another place")


def describe_file(path: Path) -> dict[str, Any]:
    """Return name and checksum of an input.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    dict
        ``file`` as it was given, ``sha256`` of its bytes.
    """
    with path.open("rb") as file:
        return {"file": str(path), "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def versions() -> dict[str, str]:
    """Return the versions that a result depends on.

    Returns
    -------
    dict
        Of this package, NumPy, SciPy and Python.
    """
    libraries = {name: version(name) for name in ("numpy", "scipy")}
    return {"napari-cosparse": __version__, **libraries, "python": platform.python_version()}


def write_record(path: Path, command: str, content: dict[str, Any]) -> None:
    """Write a record; `write_together` gives the path.

    Parameters
    ----------
    path : Path
        Where to.
    command : str
        Name of the command.
    content : dict
        Inputs, parameters and result.
    """
    record = {"program": "napari-cosparse", "command": command, **content, "versions": versions()}
    path.write_text(to_json(record, indent=2) + "\n", encoding="utf-8")
