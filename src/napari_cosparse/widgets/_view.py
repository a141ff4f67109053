"""Open a viewer from a script or from the command line."""

from collections.abc import Iterable

import napari
from napari.layers import Layer

from napari_cosparse.layers import LayerData


def show_layers(layers: Iterable[LayerData], title: str = "napari-cosparse") -> None:
    """Open a viewer on layers and run it until it is closed.

    Parameters
    ----------
    layers : iterable of (array, dict, str)
        Layer data, the lowest layer first.
    title : str
        Title of the window.
    """
    viewer = napari.Viewer(title=title)
    for layer in layers:
        viewer.add_layer(Layer.create(*layer))
    napari.run()
