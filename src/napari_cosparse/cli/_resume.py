"""Where an unfinished run lies, and what is said of it when it is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SUFFIX = ".partial"


def kept_folder(out: Path) -> Path:
    """Return the folder in which an unfinished run is kept.

    Parameters
    ----------
    out : Path
        The output.

    Returns
    -------
    Path
        Beside it.
    """
    return out.with_name(out.name + SUFFIX)


@contextmanager
def stoppable(out: Path) -> Iterator[None]:
    """Let an interrupt say what is kept and how it is continued.

    Parameters
    ----------
    out : Path
        The output.

    Yields
    ------
    None

    Raises
    ------
    KeyboardInterrupt
        With a text, if something is kept.
    """
    try:
        yield
    except KeyboardInterrupt:
        folder = kept_folder(out)
        if not folder.exists():
            raise
        raise KeyboardInterrupt(
            f"stopped; what was done is kept in {folder}, the same command with --resume continues"
        ) from None
