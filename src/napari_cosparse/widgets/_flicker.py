"""A button that shows and hides layers twice a second, to compare them with what lies below."""

from collections.abc import Callable, Iterable

from napari.layers import Layer
from qtpy.QtCore import QTimer
from qtpy.QtWidgets import QPushButton

FLICKER_MS = 500


class Flicker(QPushButton):
    """Blinks while it is pressed down; afterwards the layers are shown.

    Parameters
    ----------
    text : str
        Of the button.
    which : callable
        Gives the layers that are there now; without any, the button comes up.
    """

    def __init__(self, text: str, which: Callable[[], Iterable[Layer]]) -> None:
        """Make the button; nothing blinks yet."""
        super().__init__(text)
        self._which = which
        self._hidden: list[Layer] = []
        self._timer = QTimer(self)
        self._timer.setInterval(FLICKER_MS)
        self._timer.timeout.connect(self._blink)
        self.setCheckable(True)
        self.toggled.connect(self._toggle)

    def stop(self) -> None:
        """Show the layers and come up."""
        self.setChecked(False)

    def _toggle(self, down: bool) -> None:
        if down:
            self._timer.start()
            return
        self._timer.stop()
        self._show()

    def _blink(self) -> None:
        if self._hidden:
            self._show()
            return
        self._hidden = list(self._which())
        if not self._hidden:
            self.stop()
        for layer in self._hidden:
            layer.visible = False

    def _show(self) -> None:
        layers, self._hidden = self._hidden, []
        for layer in layers:
            layer.visible = True
