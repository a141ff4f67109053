"""The demo's folder: made if missing, never taken from others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from napari_cosparse.core.errors import InputError
from napari_cosparse.io import check_destination

RECORD = "demo.json"


@contextmanager
def open_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write the demo into; take it away again if the demo fails.

    Parameters
    ----------
    folder : Path
        It may exist if it is empty or holds an earlier demo. Its parent must exist.

    Yields
    ------
    Path
        The folder.

    Raises
    ------
    InputError
        If it holds other things or cannot be made.
    """
    check_destination(folder / RECORD if folder.is_dir() else folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder for the demo with -o")
    made = not folder.exists()
    if made:
        folder.mkdir()
    elif any(folder.iterdir()) and not _is_demo(folder / RECORD):
        raise InputError(
            f"{folder} holds files that are not a demo's; give an empty or new folder with -o"
        )
    try:
        yield folder
    except BaseException:
        if made:
            folder.rmdir()
        raise


def _is_demo(record: Path) -> bool:
    """Tell whether an earlier demo wrote here."""
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("program") == "napari-cosparse"
