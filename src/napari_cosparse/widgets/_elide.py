"""Long names in boxes of choices: an ellipsis in the middle, and the whole name as tool-tip."""

from typing import Any

from qtpy.QtCore import QEvent, QObject, Qt
from qtpy.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QToolTip

GAP = 4  # pixels beside a text, which the style leaves free


class Elide(QObject):
    """Draws a box whose text is too long with an ellipsis; Qt would cut the text off.

    Parameters
    ----------
    box : QComboBox
        The box; it keeps this object.
    """

    def __init__(self, box: QComboBox) -> None:
        """Stand between the box and its events."""
        super().__init__(box)
        self._box = box
        view = box.view()
        if view is not None:
            view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        box.installEventFilter(self)

    @property
    def shown(self) -> str:
        """The text as far as there is room, with its ellipsis."""
        return self._elided(self._option())

    @property
    def tip(self) -> str:
        """The tool-tip of the box, below the whole name where that is not shown."""
        text, told = self._box.currentText(), self._box.toolTip()
        return told if self.shown == text else f"<p><b>{escaped(text)}</b></p>{told}"

    def eventFilter(self, _box: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 Qt's
        """Draw the box, and show its tool-tip, where the text is too long for it."""
        if event is None or event.type() not in (QEvent.Type.Paint, QEvent.Type.ToolTip):
            return False
        option = self._option()
        if self._elided(option) == option.currentText:
            return False
        if event.type() == QEvent.Type.ToolTip:
            place: Any = event
            QToolTip.showText(place.globalPos(), self.tip, self._box)
            return True
        option.currentText = self._elided(option)
        painter = QStylePainter(self._box)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()
        return True

    def _option(self) -> QStyleOptionComboBox:
        option = QStyleOptionComboBox()
        self._box.initStyleOption(option)
        return option

    def _elided(self, option: QStyleOptionComboBox) -> str:
        style = self._box.style()
        if style is None:
            return str(option.currentText)
        area = style.subControlRect(
            QStyle.ComplexControl.CC_ComboBox,
            option,
            QStyle.SubControl.SC_ComboBoxEditField,
            self._box,
        )
        metrics, width = self._box.fontMetrics(), area.width() - GAP
        return str(metrics.elidedText(option.currentText, Qt.TextElideMode.ElideMiddle, width))


def escaped(text: str) -> str:
    """Write a name such that Qt takes no part of it for a tag.

    Parameters
    ----------
    text : str
        The name.

    Returns
    -------
    str
        For rich text.
    """
    return text.replace("&", "&amp;").replace("<", "&lt;")
