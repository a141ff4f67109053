"""Hear of changes to where layers lie."""

from collections.abc import Callable, Iterable
from typing import Any

from napari.layers import Layer

MOVES = (
    *("data", "scale", "translate", "rotate", "shear", "affine"),
    *("units", "axis_labels", "name"),
)


class Watch:
    """Calls a function when one of a few layers moves, until it is told to watch others.

    Parameters
    ----------
    callback : callable
        Called with the event.
    """

    def __init__(self, callback: Callable[[Any], None]) -> None:
        """Watch nothing yet."""
        self._callback = callback
        self._layers: list[Layer] = []

    def follow(self, layers: Iterable[Layer]) -> None:
        """Watch these layers and no others.

        Parameters
        ----------
        layers : iterable of napari.layers.Layer
            None of them twice.
        """
        for layer in self._layers:
            for move in MOVES:
                layer.events[move].disconnect(self._callback)
        self._layers = list(layers)
        for layer in self._layers:
            for move in MOVES:
                layer.events[move].connect(self._callback)
