"""Qt parts that the panels are laid out with."""

from qtpy.QtCore import QSize, Qt
from qtpy.QtWidgets import QFrame, QLabel, QScrollArea

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
