"""Qt parts that the panels are laid out with."""

from itertools import pairwise

from qtpy.QtCore import QSize, Qt
from qtpy.QtWidgets import QFrame, QLabel, QScrollArea, QWidget

LEAST_HEIGHT = 120  # pixels


class Scroll(QScrollArea):
    """Scrolls up and down; never narrower than what is in it."""

    def __init__(self) -> None:
        """Make an area without contents."""
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 Qt's name
        """Width of the contents and of the bar beside it."""
        inside, bar = self.widget(), self.verticalScrollBar()
        if inside is None or bar is None:
            return super().minimumSizeHint()
        return QSize(inside.minimumSizeHint().width() + bar.sizeHint().width(), LEAST_HEIGHT)


def text_label() -> QLabel:
    """Label for sentences: wrapped, and copied with the mouse.

    Returns
    -------
    QLabel
    """
    label = QLabel()
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def tab_order(inside: QWidget, form: QWidget, *after: QWidget) -> None:
    """Let the keyboard go from the form to what stands below it, and then to the widgets after.

    Parameters
    ----------
    inside : QWidget
        Holds the form and what stands below it.
    form : QWidget
        Its own order stays.
    *after : QWidget
        Come last.
    """
    parts = [
        part
        for part in inside.findChildren(QWidget)
        if part.focusPolicy() != Qt.FocusPolicy.NoFocus
        and part is not form
        and not form.isAncestorOf(part)
        and part.window() is inside.window()  # not the lists that boxes of choices open
    ]
    for before, then in pairwise([*parts, *after]):
        QWidget.setTabOrder(before, then)
