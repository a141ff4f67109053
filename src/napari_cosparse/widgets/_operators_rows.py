"""Rows that choose an operator pair: shipped, learned or opened in this viewer, or from a file."""

from pathlib import Path
from typing import Any

from magicgui.widgets import ComboBox, FileEdit

from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.io import shipped_operators
from napari_cosparse.layers import file_of, pairs_in

from ._rows import free_row
from ._script_parts import Operators, shown_operators

FROM_FILE = "from a file ..."
HERE = "in this viewer: "
OPERATOR_FILES = "Operators (*.cosparse *.npz)"
OPERATOR_TIPS = {
    "operator_file": "<p>Operator pair that was learned and saved before (.cosparse, .npz).</p>",
}


class OperatorRows:
    """The two rows, and what they choose.

    Parameters
    ----------
    viewer : napari.viewer.Viewer
        Pairs that are shown in it are offered.
    default : str
        Name of the shipped pair that is chosen at first.
    """

    def __init__(self, viewer: Any, default: str) -> None:  # noqa: ANN401 the viewer or its proxy
        """Make the rows."""
        self._viewer = viewer
        self.choice: ComboBox = free_row("operators", "Operators", self._offered)
        self.file = FileEdit(name="operator_file", label="File", filter=OPERATOR_FILES)
        if default in self.choice.choices:
            self.choice.value = default

    @property
    def from_file(self) -> bool:
        """Whether the file counts."""
        return bool(self.choice.value == FROM_FILE)

    def source(self) -> str | Path | OperatorPair:
        """Read which operators are chosen.

        Returns
        -------
        str, Path or OperatorPair
            Name of a shipped pair, a file, or a pair that the viewer shows.
        """
        name = str(self.choice.value)
        if name == FROM_FILE:
            return Path(str(self.file.value))
        if name.startswith(HERE):
            return self._here()[name.removeprefix(HERE)]
        return name

    def told(self) -> str:
        """Name the choice, for the record of a result.

        Returns
        -------
        str
            Name of a shipped pair, of one in this viewer, or a file.
        """
        return str(self.file.value if self.from_file else self.choice.value)

    def python(self) -> Operators:
        """Write the choice as Python.

        Returns
        -------
        Operators
            A name or a file; a pair that the viewer shows, or the file that holds it.
        """
        choice, told = str(self.choice.value), self.told()
        if not choice.startswith(HERE):
            return Operators(repr(told), told)
        name = choice.removeprefix(HERE)
        return shown_operators(name, told, file_of(self._viewer.layers, name))

    def _here(self) -> dict[str, OperatorPair]:
        return pairs_in(self._viewer.layers)

    def _offered(self, _row: object) -> list[str]:
        return [*(HERE + name for name in self._here()), *shipped_operators(), FROM_FILE]
