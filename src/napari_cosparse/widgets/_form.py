"""A panel's settings: rows with labels, advanced ones folded away, to and from JSON."""

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

from magicgui.widgets import CheckBox, ComboBox, FileEdit
from qtpy.QtCore import Qt
from qtpy.QtWidgets import QFormLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from ._rows import plain

EMPTY: tuple[object, ...] = (None, "", [])  # values of rows that nothing was chosen in


class Form(QWidget):
    """Rows of a panel; every name is that of the parameter of the core which it sets."""

    def __init__(self) -> None:
        """Make an empty form; `fill` makes its rows."""
        super().__init__()
        self.rows: tuple[Any, ...] = ()
        self.fold = QToolButton()
        self._labels: dict[str, QLabel] = {}

    def fill(self, rows: Sequence[Any], advanced: Sequence[Any], tips: Mapping[str, str]) -> None:
        """Lay the rows out.

        Parameters
        ----------
        rows : sequence of magicgui widgets
            What everybody needs, in the order of the keyboard.
        advanced : sequence of magicgui widgets
            What is folded away at first.
        tips : mapping of str to str
            Tool-tip of each row.
        """
        self.rows = (*rows, *advanced)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._column(rows, tips))
        self._folded = self._column(advanced, tips)
        if advanced:
            layout.addWidget(self._fold_button())
            layout.addWidget(self._folded)
        self._folded.setVisible(False)
        self._order_keyboard(len(rows))
        for row in self.rows:
            setattr(self, row.name, row)

    def row(self, name: str) -> Any:  # noqa: ANN401 a magicgui widget
        """Find a row.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        magicgui widget
        """
        return next(row for row in self.rows if row.name == name)

    def show_row(self, name: str, *, shown: bool) -> None:
        """Show or hide a row with its label.

        Parameters
        ----------
        name : str
            Its name.
        shown : bool
            Whether it is to be seen.
        """
        self.row(name).native.setVisible(shown)
        self._labels[name].setVisible(shown)

    def reset_choices(self) -> None:
        """Offer the layers that are open now."""
        for row in self.rows:
            if hasattr(row, "reset_choices"):
                row.reset_choices()

    def state(self) -> dict[str, Any]:
        """Read all rows.

        Returns
        -------
        dict
            JSON values; layers by their names.
        """
        return {row.name: plain(row.value) for row in self.rows}

    def restore(self, state: Mapping[str, Any]) -> list[str]:
        """Set rows to what `state` gave.

        Parameters
        ----------
        state : mapping
            Names of rows and JSON values; names that the form lacks are ignored.

        Returns
        -------
        list of str
            What could not be set, for instance layers that are not open, under the labels of
            their rows; those rows stay. Rows that were empty are not told.
        """
        failed = [
            row for row in self.rows if row.name in state and not _restore(row, state[row.name])
        ]
        told = [(row.label or row.name, state[row.name]) for row in failed]
        return [f"{label} = {value!r}" for label, value in told if value not in EMPTY]

    def _order_keyboard(self, simple: int) -> None:
        """Let the tabulator go down the rows, through the fold button."""
        parts = [getattr(row, "stops", [row.native]) for row in self.rows]
        parts.insert(simple, [self.fold])
        stops = [part for part in chain(*parts) if part.focusPolicy() != Qt.FocusPolicy.NoFocus]
        for before, after in pairwise(stops):
            QWidget.setTabOrder(before, after)

    def _column(self, rows: Sequence[Any], tips: Mapping[str, str]) -> QWidget:
        column = QWidget()
        layout = QFormLayout(column)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setVerticalSpacing(4)
        layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for row in rows:
            row.tooltip = tips.get(row.name, "")
            label = QLabel("" if isinstance(row, CheckBox) else row.label)  # a box has its own text
            label.setToolTip(row.tooltip)
            self._labels[row.name] = label
            if row.label or isinstance(row, CheckBox):
                layout.addRow(label, row.native)
            else:
                layout.addRow(row.native)  # it needs the whole width
        return column

    def _fold_button(self) -> QToolButton:
        self.fold.setText("Advanced")
        self.fold.setCheckable(True)
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.fold.setArrowType(Qt.ArrowType.RightArrow)
        self.fold.toggled.connect(self._unfold)
        return self.fold

    def _unfold(self, shown: bool) -> None:
        self._folded.setVisible(shown)
        self.fold.setArrowType(Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow)


def _restore(row: Any, value: Any) -> bool:  # noqa: ANN401 a magicgui widget and a JSON value
    """Set one row, if its kind of value can be."""
    if hasattr(row, "restore"):
        return bool(row.restore(value))
    if isinstance(row, ComboBox):
        for choice in row.choices:
            if plain(choice) == value:
                row.value = choice
                return True
        return False
    if isinstance(row, FileEdit) and value == "":
        return True  # no file was chosen
    try:
        row.value = value
    except (TypeError, ValueError):
        return False
    return True
