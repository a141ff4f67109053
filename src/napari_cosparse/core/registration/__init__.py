"""Registration of two images, and what may be done with the motion that was found."""

from ._apply import apply_to_labels, apply_transform
from ._apply_checks import Registered, invertible, plan_warp
from ._apply_points import Extent, apply_to_points, apply_to_shapes, moving_extent
from ._warp import Warp, blocks
from ._warp_types import input_limits

__all__ = [
    "Extent",
    "Registered",
    "Warp",
    "apply_to_labels",
    "apply_to_points",
    "apply_to_shapes",
    "apply_transform",
    "blocks",
    "input_limits",
    "invertible",
    "moving_extent",
    "plan_warp",
]
