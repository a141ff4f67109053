"""Between napari's layers and the arrays of the core. No Qt."""

from ._align import (
    GROUPS,
    Motion,
    Start,
    mirror,
    motion_of,
    moved,
    moved_placement,
    overlap_of,
    start_from,
)
from ._axes import Stack, match_stacks
from ._grid import Grid, Placing, grid_of, place
from ._read import Source, levels_of, read, shown_plane
from ._record import METADATA_KEY, input_record, make_record
from ._regions import mask_on, point_pairs, points_on
from ._suggest import suggest
from ._write import (
    Destination,
    LayerData,
    as_levels,
    destination,
    layer_data,
    limits_of,
    provenance,
)

__all__ = [
    "GROUPS",
    "METADATA_KEY",
    "Destination",
    "Grid",
    "LayerData",
    "Motion",
    "Placing",
    "Source",
    "Stack",
    "Start",
    "as_levels",
    "destination",
    "grid_of",
    "input_record",
    "layer_data",
    "levels_of",
    "limits_of",
    "make_record",
    "mask_on",
    "match_stacks",
    "mirror",
    "motion_of",
    "moved",
    "moved_placement",
    "overlap_of",
    "place",
    "point_pairs",
    "points_on",
    "provenance",
    "read",
    "shown_plane",
    "start_from",
    "suggest",
]
