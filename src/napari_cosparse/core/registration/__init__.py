"""Registration of two images, and what may be done with the motion that was found."""

from ._apply import apply_to_labels, apply_transform, apply_transform_steps
from ._apply_checks import Registered, invertible, plan_warp
from ._apply_points import Extent, apply_to_points, apply_to_shapes, moving_extent
from ._pixel import pixel_shape
from ._points import point_misfits
from ._register import register, register_steps
from ._registration import Registration
from ._settings import LARGEST_SCALE, SCALED, RegisterSettings
from ._sides import LEAST_MASK, LEAST_SIDE
from ._verdict_words import ALLOW, JUDGE
from ._warp import Warp, resample
from ._warp_types import input_limits

__all__ = [
    "ALLOW",
    "JUDGE",
    "LARGEST_SCALE",
    "LEAST_MASK",
    "LEAST_SIDE",
    "SCALED",
    "Extent",
    "RegisterSettings",
    "Registered",
    "Registration",
    "Warp",
    "apply_to_labels",
    "apply_to_points",
    "apply_to_shapes",
    "apply_transform",
    "apply_transform_steps",
    "input_limits",
    "invertible",
    "moving_extent",
    "pixel_shape",
    "plan_warp",
    "point_misfits",
    "register",
    "register_steps",
    "resample",
]
