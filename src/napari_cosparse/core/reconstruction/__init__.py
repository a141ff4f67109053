"""Reconstruction of a target from its samples with the help of a guide."""

from ._alignment import Alignment, check_alignment
from ._check_target import check_target
from ._degrade import degrade
from ._guide import gray_values, guide_planes, guide_range
from ._holes import without_gaps
from ._interpolate import bicubic
from ._place import place, straighten
from ._placing import choose_factor, sampling_operator
from ._recipe import groups_for
from ._sampling import SamplingOperator
from ._scalars import Scalars, measure
from ._scale import nothing_known
from ._settings import Settings
from ._upsample import upsample, upsample_steps
from ._upsampled import Upsampled
from ._weights import check_weights

__all__ = [
    "Alignment",
    "SamplingOperator",
    "Scalars",
    "Settings",
    "Upsampled",
    "bicubic",
    "check_alignment",
    "check_target",
    "check_weights",
    "choose_factor",
    "degrade",
    "gray_values",
    "groups_for",
    "guide_planes",
    "guide_range",
    "measure",
    "nothing_known",
    "place",
    "sampling_operator",
    "straighten",
    "upsample",
    "upsample_steps",
    "without_gaps",
]
