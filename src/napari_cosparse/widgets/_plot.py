"""A small plot that follows napari's theme."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, log10, nan

from qtpy.QtCore import QPointF, QRectF, QSize
from qtpy.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from qtpy.QtWidgets import QSizePolicy, QWidget

COLOURS = ("#3daee9", "#f28e2b")  # seen on light and on dark
MARGIN = 6
HEIGHT = 64  # pixels: two of them and all buttons fit on a screen of 768
MOST_DIGITS = 7  # of a number
LOGARITHMIC_FROM = 20.0  # ratio of largest to smallest value


class Plot(QWidget):
    """One or two lines over their index, with the ends of their values written above them."""

    def __init__(self) -> None:
        """Make a plot without lines; it stays hidden until it has some."""
        super().__init__()
        self._title = ""
        self._lines: dict[str, list[float]] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(HEIGHT)
        self.setVisible(False)

    @property
    def lines(self) -> dict[str, list[float]]:
        """What is drawn."""
        return {name: list(values) for name, values in self._lines.items()}

    @property
    def heading(self) -> str:
        """What is written above: the title, and the ends of the last stretch or the whole range."""
        lines = list(self._lines.values())
        if len(lines) == 1:
            ends, digits = _ends(lines[0]), 4
        else:
            values = [value for line in lines for value in line if isfinite(value)]
            ends, digits = [min(values), max(values)] if values else [], 3  # names need room
        return f"{self._title}   {_told(ends, digits)}".rstrip()

    def show_lines(self, lines: Mapping[str, Sequence[float]], title: str) -> None:
        """Draw lines.

        Parameters
        ----------
        lines : mapping of str to sequence of float
            Name and values of each; values that are not finite leave gaps.
        title : str
            What is drawn.
        """
        self._lines = {name: [float(v) for v in values] for name, values in lines.items()}
        self._title = title
        self.setVisible(bool(self._lines))
        self.setToolTip(f"<p>{title}</p>")
        self.update()

    def add(self, value: float, title: str, *, apart: bool = False) -> None:
        """Continue the line of a cost; it is drawn when `update` is called, or with the window.

        Parameters
        ----------
        value : float
            Next value; ignored if it is not finite.
        title : str
            What is drawn.
        apart : bool
            Whether this is another cost than the one before: then there is a gap.
        """
        if not isfinite(value):
            return
        if not self._lines:
            self.show_lines({"": []}, title)
        line = self._lines[""]
        line += [nan, value] if apart and line else [value]

    def clear(self) -> None:
        """Draw nothing and hide."""
        self.show_lines({}, "")

    def sizeHint(self) -> QSize:  # noqa: N802 Qt's name
        """Prefer a wide and low plot."""
        return QSize(240, HEIGHT)

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 Qt's name
        """Draw frame, lines and texts."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = self.palette().text().color()
        line_height = painter.fontMetrics().height()
        frame = QRectF(self.rect()).adjusted(MARGIN, line_height + 4, -MARGIN, -MARGIN)
        faint = QColor(ink)
        faint.setAlpha(70)
        painter.setPen(QPen(faint, 1))
        painter.drawRect(frame)
        painter.setPen(ink)
        painter.drawText(QPointF(MARGIN, line_height), self.heading)
        self._draw_names(painter, frame.right(), line_height)
        self._draw_lines(painter, frame)
        painter.end()

    def _draw_names(self, painter: QPainter, right: float, height: float) -> None:
        """Write the names of the lines in their colours, at the right of the heading."""
        for number, name in reversed(list(enumerate(self._lines))):
            painter.setPen(QColor(COLOURS[number % len(COLOURS)]))
            right -= painter.fontMetrics().horizontalAdvance(name)
            painter.drawText(QPointF(right, height), name)
            right -= MARGIN

    def _draw_lines(self, painter: QPainter, frame: QRectF) -> None:
        values = [value for line in self._lines.values() for value in line if isfinite(value)]
        if not values:
            return
        scaled = _scale(min(values), max(values))
        bottom, height = frame.bottom(), frame.height()
        for number, line in enumerate(self._lines.values()):
            painter.setPen(QPen(QColor(COLOURS[number % len(COLOURS)]), 2))
            step = frame.width() / max(len(line) - 1, 1)
            for start, stop in _runs(line):
                points = [
                    QPointF(frame.left() + step * place, bottom - scaled(line[place]) * height)
                    for place in range(start, stop)
                ]
                painter.drawPolyline(QPolygonF(points))


def _runs(line: Sequence[float]) -> list[tuple[int, int]]:
    """Find where finite values begin and end."""
    known = [False, *map(isfinite, line), False]
    starts = [place for place in range(len(line)) if known[place + 1] and not known[place]]
    ends = [place for place in range(1, len(line) + 1) if known[place] and not known[place + 1]]
    return list(zip(starts, ends, strict=True))


def _ends(line: Sequence[float]) -> list[float]:
    """Give first and last value after the last gap: what is before it is another cost."""
    runs = _runs(line)
    return [line[runs[-1][0]], line[runs[-1][1] - 1]] if runs else []


def _told(ends: Sequence[float], digits: int) -> str:
    """Write two numbers with as many digits as it takes to see that they differ, if they do."""
    for more in range(digits, MOST_DIGITS + 1):
        told = [f"{value:.{more}g}" for value in ends]
        if len(set(told)) != 1:
            return " ... ".join(told)
    return told[0]


def _scale(low: float, high: float) -> Callable[[float], float]:
    """Map values to [0.05, 0.95], by their logarithm where they differ much."""
    if low > 0 and high / low > LOGARITHMIC_FROM:
        first, span = log10(low), log10(high) - log10(low)
        return lambda value: 0.05 + 0.9 * (log10(value) - first) / span
    span = (high - low) or 1.0
    return lambda value: 0.05 + 0.9 * (value - low) / span
