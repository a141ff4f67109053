"""Bimodal co-sparse analysis models for napari, Python and the command line.

The functions live in `napari_cosparse.api` and are loaded when first used, so that napari finds
the plugin without importing it all.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import (
        Alignment,
        AtomGroup,
        Extent,
        Learned,
        OperatorPair,
        Registration,
        Transform,
        Upsampled,
        apply_to_labels,
        apply_to_points,
        apply_to_shapes,
        apply_transform,
        apply_transform_steps,
        check_alignment,
        check_target,
        degrade,
        learn_operators,
        learn_steps,
        load_operators,
        load_transform,
        make_scene,
        moving_extent,
        register,
        register_steps,
        save_operators,
        save_transform,
        shipped_operators,
        upsample,
        upsample_steps,
        upsample_to_store,
        upsample_to_store_steps,
    )

__version__ = "0.1.0"

__all__ = [
    "Alignment",
    "AtomGroup",
    "Extent",
    "Learned",
    "OperatorPair",
    "Registration",
    "Transform",
    "Upsampled",
    "__version__",
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


def __getattr__(name: str) -> object:
    """Load a public function from the facade when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.api"), name)
    return found


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
