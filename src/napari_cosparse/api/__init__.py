"""The functions of the package for Python, the command line and the widgets.

They add two things to those of the core: operators may be given by name or file, and the work
runs in dask's threads.
"""

from napari_cosparse.core.operators import AtomGroup, Learned, OperatorPair
from napari_cosparse.core.reconstruction import (
    Alignment,
    Upsampled,
    degrade,
)
from napari_cosparse.core.registration import (
    Extent,
    Registration,
    apply_to_labels,
    apply_to_points,
    apply_to_shapes,
    moving_extent,
)
from napari_cosparse.io import (
    Transform,
    load_operators,
    load_transform,
    make_scene,
    save_operators,
    save_transform,
    shipped_operators,
)

from ._apply import apply_transform, apply_transform_steps
from ._check import check_alignment, check_target
from ._learn import learn_operators, learn_steps
from ._register import register, register_steps
from ._shared import DEFAULT_OPERATORS as DEFAULT_OPERATORS
from ._shared import REGISTER_OPERATORS as REGISTER_OPERATORS
from ._store import upsample_to_store, upsample_to_store_steps
from ._upsample import upsample, upsample_steps

__all__ = [
    "Alignment",
    "AtomGroup",
    "Extent",
    "Learned",
    "OperatorPair",
    "Registration",
    "Transform",
    "Upsampled",
    "apply_to_labels",
    "apply_to_points",
    "apply_to_shapes",
    "apply_transform",
    "apply_transform_steps",
    "check_alignment",
    "check_target",
    "degrade",
    "learn_operators",
    "learn_steps",
    "load_operators",
    "load_transform",
    "make_scene",
    "moving_extent",
    "register",
    "register_steps",
    "save_operators",
    "save_transform",
    "shipped_operators",
    "upsample",
    "upsample_steps",
    "upsample_to_store",
    "upsample_to_store_steps",
]
