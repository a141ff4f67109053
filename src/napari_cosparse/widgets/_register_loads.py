"""Layers that transforms from files have made: loading a file again brings them up to date."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from napari.layers import Layer

from napari_cosparse.layers import METADATA_KEY, LayerData, placement

from ._register_found import Found

Add = Callable[[Iterable[LayerData]], list[Layer]]


@dataclass(frozen=True, eq=False)
class Made:
    """A layer, and where it was put.

    Attributes
    ----------
    layer : napari.layers.Layer
        The layer; the user may have dragged or deleted it since.
    place : dict
        As `placement` gives it.
    resampled : bool
        Whether it has the fixed layer's pixels.
    """

    layer: Layer
    place: dict[str, Any]
    resampled: bool

    @property
    def stays(self) -> bool:
        """Whether it lies where it was put."""
        return _alike(placement(self.layer), self.place)


class Loads:
    """Adds layers; those that the same file has made for the same layers are taken again.

    Not one that was dragged since: a place that somebody chose is not taken back.

    Parameters
    ----------
    viewer : napari.viewer.Viewer
        Where they are.
    add : callable
        Adds new layers to it.
    """

    def __init__(self, viewer: Any, add: Add) -> None:  # noqa: ANN401 the viewer or its proxy
        """Know of no file yet."""
        self._viewer, self._add = viewer, add
        self._made: dict[tuple[Any, ...], list[Made]] = {}

    def put(self, found: Found, layers: Iterable[LayerData]) -> list[Layer]:
        """Add layers that a transform makes, or bring those of before up to date.

        Parameters
        ----------
        found : Found
            The transform; one that was not loaded from a file always adds layers.
        layers : iterable of (data, dict, str)
            The moving layer in its new place, maybe resampled too.

        Returns
        -------
        list of napari.layers.Layer
            One for each, with its name and its looks as the user has left them.
        """
        file = found.record.get("loaded")
        if file is None:
            return self._add(layers)
        made = self._made.setdefault((file, found.fixed, found.moving), [])
        there = list(self._viewer.layers)
        made[:] = [one for one in made if one.layer in there]
        return [self._put(made, data) for data in layers]

    def _put(self, made: list[Made], data: LayerData) -> Layer:
        resampled = "resampled" in data[1]["metadata"][METADATA_KEY]
        for one in made:
            if one.stays and one.resampled == resampled:
                made.remove(one)
                layer = one.layer
                _renew(layer, data)
                self._viewer.layers.selection.active = layer
                break
        else:
            (layer,) = self._add([data])
        made.append(Made(layer, placement(layer), resampled))
        return layer


def _renew(layer: Layer, data: LayerData) -> None:
    """Give a layer the pixels, the place and the record of a new one, not its looks.

    But it is shown, as a new one would be.
    """
    pixels, state, _ = data
    if layer.data is not pixels:
        layer.data = pixels
    for name in placement(layer):
        setattr(layer, name, state[name])
    layer.metadata = state["metadata"]
    layer.visible = True


def _alike(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return all(
        np.array_equal(first[name], place)
        if isinstance(place, np.ndarray)
        else first[name] == place
        for name, place in second.items()
    )
