"""Provenance: everything that is needed to repeat and to judge a result."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import napari
import numpy as np
import scipy
from napari.layers import Layer

from napari_cosparse import __version__

METADATA_KEY = "napari-cosparse"


def input_record(layer: Layer, level: int = 0, plane: tuple[int, ...] = ()) -> dict[str, Any]:
    """Name and origin of an input.

    Parameters
    ----------
    layer : napari.layers.Layer
        Any layer.
    level : int
        Pyramid level that was read.
    plane : tuple of int
        Plane of a stack that was read; empty if all were, or if there is one.

    Returns
    -------
    dict
        JSON values: name, path or sample, shape, type, level and plane.
    """
    source = layer.source
    shape = getattr(layer.data, "shape", None)
    return {
        "name": layer.name,
        "path": None if source.path is None else str(source.path),
        "sample": None if source.sample is None else list(source.sample),
        "shape": None if shape is None else [int(n) for n in shape],
        "level": int(level),
        "plane": list(plane),
    }


def make_record(
    action: str,
    parameters: Mapping[str, Any],
    inputs: Mapping[str, Any],
    **figures: Any,  # noqa: ANN401 JSON values
) -> dict[str, Any]:
    """Compose the record of a run.

    Parameters
    ----------
    action : {"learn", "upsample", "register"}
        What was done.
    parameters : mapping
        All settings, the seed among them, as JSON values.
    inputs : mapping of str to dict
        What `input_record` gives for each input.
    **figures
        What was found out, as JSON values.

    Returns
    -------
    dict
        JSON-able, for a layer's metadata.
    """
    return {
        "action": action,
        "parameters": dict(parameters),
        "inputs": dict(inputs),
        **figures,
        "versions": {
            "napari-cosparse": __version__,
            "napari": napari.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
        },
    }
