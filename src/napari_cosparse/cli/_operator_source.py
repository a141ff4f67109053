"""Operators on the command line: a shipped name or a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from napari_cosparse.api import shipped_operators

from ._record import describe_file


def operator_file(source: str) -> list[Path]:
    """Return the operator file, if the operators are not shipped ones.

    Parameters
    ----------
    source : str
        Name or file.

    Returns
    -------
    list of Path
        One file or none.
    """
    return [] if source in shipped_operators() else [Path(source)]


def describe_operators(source: str) -> dict[str, Any]:
    """Return name and checksum of operators, for a record.

    Parameters
    ----------
    source : str
        Name or file.

    Returns
    -------
    dict
        ``name``, and ``file`` with ``sha256`` if they are not shipped.
    """
    files = [describe_file(path) for path in operator_file(source)]
    return {"name": source, **(files[0] if files else {})}
