"""Hand a pair of layers from one panel to another."""

from typing import Any

from napari.layers import Image

PLUGIN = "napari-cosparse"
REGISTER = "Register two modalities"


def open_register(viewer: Any, *, fixed: Image | None, moving: Image | None) -> None:  # noqa: ANN401
    """Open the registration panel on two layers.

    Parameters
    ----------
    viewer : napari.viewer.Viewer
        The viewer or its proxy.
    fixed, moving : napari.layers.Image or None
        What the panel is to choose.
    """
    panel = viewer.window.add_plugin_dock_widget(PLUGIN, REGISTER, tabify=True)[1]
    panel.choose(fixed, moving)
