"""Between napari's layers and the arrays of the core. No Qt."""

from ._align import Motion, grid_placement, motion_of, moved, moved_placement, pixel_map
from ._atoms import atom_layers, file_of, mosaic, note_file, pair_of, pairs_in
from ._axes import Stack, match_stacks
from ._blank import blank_planes, known_planes
from ._compare import checkerboard
from ._destination import Destination, destination
from ._grid import Grid, grid_of, in_units_of
from ._lazy import Blocks, LazyPlane, lazy_plane
from ._place import Placing, place, steps_of
from ._preview_layer import preview_data, preview_place, show_again
from ._read import Source, levels_of, read
from ._record import METADATA_KEY, input_record, make_record
from ._region_flaw import region_flaw
from ._regions import mask_on, point_pairs, points_on
from ._reopen import file_name, layer_recipe, open_layers, place_of
from ._shown import shown_plane, visible_part
from ._start import Start, level_map, mirror, overlap_of, start_from
from ._stored import is_straight, store_place, stored_data
from ._suggest import is_registered, partner, suggest
from ._world import placement
from ._write import (
    MULTISCALE_FROM,
    LayerData,
    as_levels,
    layer_data,
    limits_of,
    provenance,
)

__all__ = [
    "METADATA_KEY",
    "MULTISCALE_FROM",
    "Blocks",
    "Destination",
    "Grid",
    "LayerData",
    "LazyPlane",
    "Motion",
    "Placing",
    "Source",
    "Stack",
    "Start",
    "as_levels",
    "atom_layers",
    "blank_planes",
    "checkerboard",
    "destination",
    "file_name",
    "file_of",
    "grid_of",
    "grid_placement",
    "in_units_of",
    "input_record",
    "is_registered",
    "is_straight",
    "known_planes",
    "layer_data",
    "layer_recipe",
    "lazy_plane",
    "level_map",
    "levels_of",
    "limits_of",
    "make_record",
    "mask_on",
    "match_stacks",
    "mirror",
    "mosaic",
    "motion_of",
    "moved",
    "moved_placement",
    "note_file",
    "open_layers",
    "overlap_of",
    "pair_of",
    "pairs_in",
    "partner",
    "pixel_map",
    "place",
    "place_of",
    "placement",
    "point_pairs",
    "points_on",
    "preview_data",
    "preview_place",
    "provenance",
    "read",
    "region_flaw",
    "show_again",
    "shown_plane",
    "start_from",
    "steps_of",
    "store_place",
    "stored_data",
    "suggest",
    "visible_part",
]
