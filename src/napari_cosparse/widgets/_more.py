"""The button for settings to and from a file, and for a script of the run."""

import json
from pathlib import Path
from typing import Any

from qtpy.QtCore import Signal  # type: ignore[attr-defined]
from qtpy.QtWidgets import QFileDialog, QMenu, QPushButton

from napari_cosparse import __version__
from napari_cosparse.core.errors import InputError
from napari_cosparse.io import to_json, write_bytes, write_together

JSON_FILES = "Settings (*.json)"


class More(QPushButton):
    """A button with a menu; it asks for file names and leaves the rest to the panel.

    Attributes
    ----------
    saved, loaded : Signal of str
        A file was chosen to write to, or to read.
    copied : Signal
        The script is wanted.
    """

    saved = Signal(str)
    loaded = Signal(str)
    copied = Signal()

    def __init__(self) -> None:
        """Make the menu."""
        super().__init__("More")
        menu = QMenu(self)
        menu.addAction("Save settings ...", self._ask_save)
        menu.addAction("Load settings ...", self._ask_load)
        menu.addAction("Copy as Python", self.copied.emit)
        self.setToolTip("<p>Settings to and from a file; a script of this run.</p>")
        self.setMenu(menu)

    def _ask_save(self) -> None:
        path = QFileDialog.getSaveFileName(self, "Save settings", "settings.json", JSON_FILES)[0]
        if path:
            self.saved.emit(path)

    def _ask_load(self) -> None:
        path = QFileDialog.getOpenFileName(self, "Load settings", "", JSON_FILES)[0]
        if path:
            self.loaded.emit(path)


def write_settings(path: str | Path, kind: str, state: dict[str, Any]) -> None:
    """Write the settings of a panel to a JSON file.

    Parameters
    ----------
    path : str or Path
        The file.
    kind : str
        Name of the panel in settings files.
    state : dict
        JSON values, as `Form.state` gives them.
    """
    told = {"panel": kind, "version": __version__, "settings": state}
    content = to_json(told).encode()
    write_together([(Path(path), lambda where: write_bytes(where, content))])


def read_settings(path: str | Path, kind: str) -> dict[str, Any]:
    """Read the settings of a panel from a JSON file.

    Parameters
    ----------
    path : str or Path
        The file.
    kind : str
        Name of the panel in settings files.

    Returns
    -------
    dict
        For `Form.restore`.

    Raises
    ------
    InputError
        The file is not one that this panel wrote.
    """
    try:
        told = json.loads(Path(path).read_text("utf-8"))
        found, state = told["panel"], dict(told["settings"])
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{path} is not a settings file of this plugin") from None
    if found != kind:
        raise InputError(f"{path} holds settings of the {found} panel, not of {kind}")
    return state
