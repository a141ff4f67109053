"""Small files that are there completely or not at all."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any


def write_json(place: Path, content: dict[str, Any]) -> None:
    """Write JSON values so that they are there completely or not at all.

    Parameters
    ----------
    place : Path
        The file.
    content : dict
        JSON values.

    Raises
    ------
    OSError
        If it cannot be written, with its place.
    """
    write_bytes(place, json.dumps(content).encode())


def write_bytes(place: Path, content: bytes) -> None:
    """Write a file so that it is there completely or not at all.

    Parameters
    ----------
    place : Path
        The file.
    content : bytes
        Of the file.

    Raises
    ------
    OSError
        If it cannot be written, with its place.
    """
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


def read_json(place: Path) -> dict[str, Any] | None:
    """Read a small file.

    Parameters
    ----------
    place : Path
        The file.

    Returns
    -------
    dict or None
        None if it is not there, or damaged.

    Raises
    ------
    OSError
        If it is there and cannot be read.
    """
    if not place.exists():
        return None
    try:
        content: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    except ValueError:  # damaged: as if it had not been written
        return None
    return content
