"""Panels and samples for napari. The modules import Qt, so they are loaded when they are used."""

from importlib import import_module
from typing import Any

__all__ = ["UpsamplePanel", "resampled", "show_layers"]

_HOMES = {
    "UpsamplePanel": "._upsample",
    "resampled": "._register_images",
    "show_layers": "._view",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 a class or a function
    """Load a public name at its first use (PEP 562): the samples must not need Qt."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
