"""Amounts of memory."""

from __future__ import annotations

from pathlib import Path

from dask.utils import parse_bytes

from napari_cosparse.core.errors import InputError


def free_memory() -> int:
    """Memory that this machine has free, in bytes.

    Returns
    -------
    int
        4 GB where the system does not tell.
    """
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        (line,) = [line for line in text.splitlines() if line.startswith("MemAvailable")]
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        return 4 << 30


def as_bytes(memory: int | str) -> int:
    """Read an amount of memory.

    Parameters
    ----------
    memory : int or str
        Bytes, or a number with a unit such as 1GB or 500 MiB.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    InputError
        If it is none, or not positive.
    """
    try:
        said = not isinstance(memory, bool) and any(map(str.isdigit, str(memory)))
        number = int(parse_bytes(memory)) if said else 0  # dask reads "" as 1 byte, "GB" as 1GB
    except (ValueError, TypeError, OverflowError):
        number = 0
    if number <= 0:
        raise InputError(f"memory {memory!r} must be a positive number of bytes, such as 1GB")
    return number


def in_words(size: float) -> str:
    """Write an amount of memory for people.

    Parameters
    ----------
    size : float
        Bytes.

    Returns
    -------
    str
        In MB, or in a smaller unit.
    """
    for unit, name in ((1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.0f} {name}"
    return f"{size:.0f} bytes"
