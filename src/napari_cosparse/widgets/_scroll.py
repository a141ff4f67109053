"""Qt parts that the panels are laid out with."""

from itertools import pairwise

from qtpy.QtCore import QEvent, QSize, Qt
from qtpy.QtGui import QResizeEvent
from qtpy.QtWidgets import QFrame, QLabel, QScrollArea, QSizePolicy, QWidget

LEAST_HEIGHT = 80  # pixels: with a result, three panels fit below one another on a low screen
LEAST_TAIL = 40


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


class Tail(Scroll):
    """As high as its contents; it scrolls only where there is no room for them."""

    def __init__(self) -> None:
        """Make an area without contents, never higher than they are."""
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def sizeHint(self) -> QSize:  # noqa: N802 Qt's name
        """Height of the contents at the present width: sentences are wrapped."""
        inside = self.widget()
        layout = None if inside is None else inside.layout()
        if inside is None or layout is None:
            return super().sizeHint()
        height = inside.sizeHint().height()
        if layout.hasHeightForWidth():  # without a bar, which is not needed at that height
            height = max(layout.heightForWidth(self.width()), layout.minimumSize().height())
        return QSize(inside.sizeHint().width(), height)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 Qt's name
        """Little height, less if that is enough."""
        least = min(LEAST_TAIL, self.sizeHint().height())
        return QSize(super().minimumSizeHint().width(), least)

    def event(self, event: QEvent | None) -> bool:
        """Ask for another height when the contents have changed."""
        handled = super().event(event)
        if event is not None and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._show_bar()
        return bool(handled)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 Qt's name
        """Ask for another height at another width."""
        super().resizeEvent(event)
        if event is not None and event.size().width() != event.oldSize().width():
            self.updateGeometry()
        self._show_bar()

    def _show_bar(self) -> None:
        """Show a bar where it is needed: Qt keeps one that is there, as it makes lines shorter."""
        fits = self.height() >= self.sizeHint().height()
        off, needed = (
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
            Qt.ScrollBarPolicy.ScrollBarAsNeeded,
        )
        self.setVerticalScrollBarPolicy(off if fits else needed)


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
