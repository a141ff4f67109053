"""A button that shows and hides a layer twice a second, to compare it with what lies below."""

from collections.abc import Callable

from napari.layers import Layer
from qtpy.QtCore import QTimer
from qtpy.QtWidgets import QPushButton

FLICKER_MS = 500


class Flicker(QPushButton):
    """Blinks while it is pressed down; afterwards the layer is shown.

    Parameters
    ----------
    text : str
        Of the button.
    which : callable
        Gives the layer, or None where there is none any more.
    """

    def __init__(self, text: str, which: Callable[[], Layer | None]) -> None:
        """Make the button; nothing blinks yet."""
        super().__init__(text)
        self._which = which
        self._layer: Layer | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(FLICKER_MS)
        self._timer.timeout.connect(self._blink)
        self.setCheckable(True)
        self.toggled.connect(self._toggle)

    def stop(self) -> None:
        """Show the layer and come up."""
        self.setChecked(False)

    def _toggle(self, down: bool) -> None:
        if down:
            self._timer.start()
            return
        self._timer.stop()
        layer, self._layer = self._layer, None
        if layer is not None:
            layer.visible = True

    def _blink(self) -> None:
        layer = self._which()
        if layer is not self._layer:
            if self._layer is not None:
                self._layer.visible = True
            self._layer = layer
        if layer is None:
            self.stop()
            return
        layer.visible = not layer.visible
