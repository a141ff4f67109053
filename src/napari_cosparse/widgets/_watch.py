"""Hear of changes to where layers lie and to what is drawn on them."""

from collections.abc import Callable, Iterable
from typing import Any

from napari.layers import Labels, Layer
from qtpy.QtCore import QObject, QTimer

MOVES = (
    *("data", "scale", "translate", "rotate", "shear", "affine"),
    *("units", "axis_labels", "name"),
)
PAINTED = "labels_update"  # after the pixels have changed, unlike `paint`
PAUSE = 100  # milliseconds: while somebody paints, looking at once would make the brush slow


class Watch:
    """Calls a function when one of a few layers moves or is painted on.

    Parameters
    ----------
    callback : callable
        Called with the event, or without one after painting. Where it belongs to a Qt object, it
        is not called after that is gone.
    """

    def __init__(self, callback: Callable[..., Any]) -> None:
        """Watch nothing yet."""
        self._callback = callback
        self._layers: list[Layer] = []
        owner = getattr(callback, "__self__", None)
        self._timer = QTimer(owner if isinstance(owner, QObject) else None)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(lambda: callback())

    def follow(self, layers: Iterable[Layer]) -> None:
        """Watch these layers and no others.

        Parameters
        ----------
        layers : iterable of napari.layers.Layer
            None of them twice.
        """
        layers = list(layers)
        if set(layers) == set(self._layers):
            return  # connecting takes milliseconds, and whoever refreshes asks each time
        for layer in self._layers:
            for move in MOVES:
                layer.events[move].disconnect(self._callback)
            if isinstance(layer, Labels):
                layer.events[PAINTED].disconnect(self._painted)
        self._layers = layers
        for layer in self._layers:
            for move in MOVES:
                layer.events[move].connect(self._callback)
            if isinstance(layer, Labels):
                layer.events[PAINTED].connect(self._painted)
        if not self._layers:
            self._timer.stop()

    def _painted(self, event: object = None) -> None:  # noqa: ARG002 napari hands it over
        self._timer.start()
