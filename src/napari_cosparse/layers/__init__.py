"""Between napari's layers and the arrays of the core. No Qt."""

from ._grid import Grid, Placing, grid_of, place
from ._read import Source, read
from ._suggest import suggest
from ._write import METADATA_KEY, Destination, LayerData, destination, layer_data, provenance

__all__ = [
    "METADATA_KEY",
    "Destination",
    "Grid",
    "LayerData",
    "Placing",
    "Source",
    "destination",
    "grid_of",
    "layer_data",
    "place",
    "provenance",
    "read",
    "suggest",
]
