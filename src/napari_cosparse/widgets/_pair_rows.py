"""Rows of layer pairs, as many as wanted."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from magicgui.widgets import ComboBox
from napari.layers import Image
from psygnal import Signal
from qtpy.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ._rows import layer_row

LayerPair = tuple[Image | None, Image | None]
HEADS = ("U (guide, fixed)", "V (target, moving)")


class PairRows:
    """One row a pair, with buttons that add and remove rows; looks like a magicgui widget.

    Parameters
    ----------
    viewer : napari.viewer.Viewer
        Whose layers are offered.
    """

    changed = Signal(object)
    name, label = "pairs", ""

    def __init__(self, viewer: Any) -> None:  # noqa: ANN401 the viewer or its proxy
        """Begin with one pair."""
        self._viewer = viewer
        self._rows: list[tuple[QWidget, ComboBox, ComboBox]] = []
        self.native = QWidget()
        self._column = QVBoxLayout(self.native)
        self._column.setContentsMargins(0, 0, 0, 0)
        heads = QHBoxLayout()
        for head in HEADS:
            heads.addWidget(QLabel(head))
        self._column.addLayout(heads)
        self.add_button = QPushButton("Add a pair")
        self.add_button.clicked.connect(lambda: self.add())
        self._column.addWidget(self.add_button)
        self.add()

    @property
    def tooltip(self) -> str:
        """What it says when the mouse rests on it."""
        return str(self.native.toolTip())

    @tooltip.setter
    def tooltip(self, text: str) -> None:
        self.native.setToolTip(text)

    @property
    def stops(self) -> list[QWidget]:
        """Where the keyboard stops: down the rows, and then the button below them."""
        parts = [
            part
            for line, u, v in self._rows
            for part in (u.native, v.native, line.findChild(QPushButton))
        ]
        return [*parts, self.add_button]

    @property
    def first(self) -> tuple[ComboBox, ComboBox]:
        """Choices of U and V in the first row."""
        return self._rows[0][1:]

    @property
    def value(self) -> list[LayerPair]:
        """The chosen layers."""
        return [(u.value, v.value) for _, u, v in self._rows]

    @value.setter
    def value(self, pairs: Sequence[LayerPair]) -> None:
        while len(self._rows) > max(1, len(pairs)):
            self._remove(self._rows[-1][0])
        while len(self._rows) < len(pairs):
            self.add()
        for (_, u, v), pair in zip(self._rows, pairs, strict=False):
            u.value, v.value = pair

    def add(self) -> None:
        """Add an empty row."""
        line = QWidget()
        layout = QHBoxLayout(line)
        layout.setContentsMargins(0, 0, 0, 0)
        boxes = [layer_row(name, "", self._viewer, (Image,), "choose ...") for name in ("u", "v")]
        for box in boxes:
            box.reset_choices()
            box.changed.connect(self._tell)
            box.native.setMinimumContentsLength(5)
            layout.addWidget(box.native, 1)
        remove = QPushButton("-")
        remove.setFixedWidth(24)
        remove.setToolTip("<p>Remove this pair.</p>")
        remove.clicked.connect(lambda: self._remove(line))
        layout.addWidget(remove)
        self._rows.append((line, boxes[0], boxes[1]))
        self._column.insertWidget(len(self._rows), line)
        self._order_keyboard()
        self._tell()

    def reset_choices(self) -> None:
        """Offer the layers that are open now."""
        for _, u, v in self._rows:
            u.reset_choices()
            v.reset_choices()

    def restore(self, names: Sequence[Sequence[str | None]]) -> bool:
        """Choose layers by their names.

        Parameters
        ----------
        names : sequence of two names
            As the form's state has them.

        Returns
        -------
        bool
            False if one of them is not open; then nothing is changed.
        """
        layers = {layer.name: getattr(layer, "__wrapped__", layer) for layer in self._viewer.layers}
        layers[None] = None
        if any(name not in layers for pair in names for name in pair):
            return False
        self.value = [(layers[u], layers[v]) for u, v in names]
        return True

    def _order_keyboard(self) -> None:
        for before, after in pairwise(self.stops):
            QWidget.setTabOrder(before, after)

    def _remove(self, line: QWidget) -> None:
        if len(self._rows) == 1:
            return
        self._rows = [row for row in self._rows if row[0] is not line]
        self._column.removeWidget(line)
        line.deleteLater()
        self._tell()

    def _tell(self, _value: object = None) -> None:
        self.changed.emit(self.value)
