"""The kinds of rows that the panels have. Every row has a name, a label, a value and a tool-tip."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from magicgui.widgets import CheckBox, ComboBox, LineEdit, SpinBox
from napari.layers import Layer
from qtpy.QtCore import Qt
from qtpy.QtWidgets import QComboBox, QFileDialog, QLineEdit, QSizePolicy, QStyle

from ._elide import Elide, escaped


class LayerBox(ComboBox):
    """Offers layers. A choice stays with its layer when that is renamed; no layer can be a choice.

    Parameters
    ----------
    none : str, optional
        Text of a first entry that stands for no layer.
    **settings
        Of a magicgui ComboBox.
    """

    def __init__(self, none: str | None = None, **settings: Any) -> None:  # noqa: ANN401 magicgui's
        """Make the row; without `nullable` magicgui would not tell that no layer was chosen."""
        self.null_string = none or ""
        super().__init__(nullable=none is not None, **settings)

    def reset_choices(self, *event: Any) -> None:  # noqa: ANN401 napari's event
        """Ask for the layers again; magicgui alone finds the choice by the name it had."""
        before = self.value
        with self.changed.blocked():
            super().reset_choices(*event)
            if before is not None and before in self.choices:
                self.value = before
        for place in range(self.native.count()):  # in the list that unfolds, names are cut too
            text = self.native.itemText(place)
            self.native.setItemData(place, f"<p>{escaped(text)}</p>", Qt.ItemDataRole.ToolTipRole)
        if self.value is not before:
            self.changed.emit(self.value)


def layer_row(
    name: str,
    label: str,
    viewer: Any,  # noqa: ANN401 napari's viewer or its proxy
    kinds: tuple[type[Layer], ...],
    none: str | None = None,
) -> ComboBox:
    """Row that offers the viewer's layers of some kinds.

    Parameters
    ----------
    name, label : str
        Of the row.
    viewer : napari.viewer.Viewer
        Whose layers are offered.
    kinds : tuple of type
        Classes of layers.
    none : str, optional
        Text of a first entry that stands for no layer.

    Returns
    -------
    LayerBox
        Its value is a layer, or None. `reset_choices` looks at the viewer again.
    """

    def offered(_row: object) -> list[tuple[str, Layer]]:
        layers = [getattr(layer, "__wrapped__", layer) for layer in viewer.layers]
        return [(layer.name, layer) for layer in layers if isinstance(layer, kinds)]

    return _narrow(LayerBox(none, name=name, label=label, choices=offered))


def choice_row(name: str, label: str, choices: Sequence[str] | dict[str, Any]) -> ComboBox:
    """Row with a fixed list of choices.

    Parameters
    ----------
    name, label : str
        Of the row.
    choices : sequence of str, or dict
        The values, or a dictionary from what is shown to the values.

    Returns
    -------
    magicgui.widgets.ComboBox
    """
    items = list(choices.items()) if isinstance(choices, dict) else list(choices)
    return _narrow(ComboBox(name=name, label=label, choices=items))


def free_row(name: str, label: str, choices: Callable[[Any], list[Any]]) -> ComboBox:
    """Row whose choices are asked for again by `reset_choices`.

    Parameters
    ----------
    name, label : str
        Of the row.
    choices : callable
        Gives the choices.

    Returns
    -------
    magicgui.widgets.ComboBox
    """
    return _narrow(ComboBox(name=name, label=label, choices=choices))


def text_row(name: str, label: str, when_empty: str, value: str = "") -> LineEdit:
    """Row for numbers as text; an empty one stands for a default.

    Parameters
    ----------
    name, label : str
        Of the row.
    when_empty : str
        What an empty row means.
    value : str
        First text.

    Returns
    -------
    magicgui.widgets.LineEdit
    """
    row = LineEdit(name=name, label=label, value=value)
    row.native.setPlaceholderText(when_empty)
    row.native.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    row.native.setMinimumWidth(60)
    return row


def path_row(name: str, label: str, when_empty: str) -> LineEdit:
    """Row for the path of a new file or folder, with a button that opens a dialog.

    Parameters
    ----------
    name, label : str
        Of the row.
    when_empty : str
        What an empty row says.

    Returns
    -------
    magicgui.widgets.LineEdit
    """
    row = text_row(name, label, when_empty)
    native = row.native
    icon = native.style().standardIcon(QStyle.StandardPixmap.SP_DirOpenIcon)
    button = native.addAction(icon, QLineEdit.ActionPosition.TrailingPosition)
    button.setToolTip("<p>Choose a folder and a name.</p>")

    def ask() -> None:
        path = QFileDialog.getSaveFileName(native, label, str(row.value))[0]
        if path:
            row.value = path

    button.triggered.connect(ask)
    return row


def whole_row(name: str, label: str, value: int, least: int, most: int = 10**6) -> SpinBox:
    """Row for a whole number.

    Parameters
    ----------
    name, label : str
        Of the row.
    value, least, most : int
        First value and limits.

    Returns
    -------
    magicgui.widgets.SpinBox
    """
    return SpinBox(name=name, label=label, value=value, min=least, max=most)


def flag_row(name: str, text: str, *, value: bool) -> CheckBox:
    """Row with a box to tick.

    Parameters
    ----------
    name, text : str
        Of the row.
    value : bool
        First value.

    Returns
    -------
    magicgui.widgets.CheckBox
    """
    return CheckBox(name=name, text=text, value=value)


def plain(value: object) -> Any:  # noqa: ANN401 a JSON value
    """Make a row's value one that JSON has: layers by their names, paths as text.

    Parameters
    ----------
    value : object
        A row's value.

    Returns
    -------
    str, number, bool, list or None
    """
    if isinstance(value, Layer):
        return value.name
    if isinstance(value, Path):
        return "" if value == Path() else str(value)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def _narrow(row: ComboBox) -> ComboBox:
    """Keep long names from widening the panel; they get an ellipsis."""
    Elide(row.native)
    row.native.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    row.native.setMinimumContentsLength(10)
    return row
