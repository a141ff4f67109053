"""Results of the core as layers on the guide's grid."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from typing import Any

import napari
import numpy as np
from napari.layers import Image
from numpy.typing import NDArray

from napari_cosparse import __version__
from napari_cosparse.core.reconstruction import Alignment, Upsampled

PLACEMENT = ("scale", "translate", "rotate", "shear", "affine", "units", "axis_labels")
METADATA_KEY = "napari-cosparse"

LayerData = tuple[Any, dict[str, Any], str]


@dataclass(frozen=True, eq=False)
class Destination:
    """What a result layer takes over from target and guide, noted before the run.

    Attributes
    ----------
    name : str
        Name of the result layer.
    shape : tuple of int
        Shape of its data: the guide's without colour.
    placement : dict
        The guide's transforms, units and axis labels.
    looks : dict
        The target's colormap and contrast limits; empty for a target in colour.
    inputs : dict
        Names and files of target and guide.
    """

    name: str
    shape: tuple[int, ...]
    placement: dict[str, Any]
    looks: dict[str, Any]
    inputs: dict[str, Any]


def destination(target: Image, guide: Image) -> Destination:
    """Note where and how the upsampled target is to be shown.

    Parameters
    ----------
    target : napari.layers.Image
        The low-resolution layer.
    guide : napari.layers.Image
        The high-resolution layer, whose finest level is the result's grid.

    Returns
    -------
    Destination
        Copies of the layers' settings: later changes to the layers do not matter.
    """
    state = guide.as_layer_data_tuple()[1]
    looks = {}
    if not target.rgb:
        looks = {
            "colormap": target.colormap,
            "contrast_limits": tuple(float(limit) for limit in target.contrast_limits),
        }
    return Destination(
        name=f"{target.name} [upsampled]",
        shape=tuple(guide.data.shape[: guide.ndim]),
        placement={key: state[key] for key in PLACEMENT},
        looks=looks,
        inputs={"target": _input(target), "guide": _input(guide)},
    )


def layer_data(
    result: Upsampled, where: Destination, alignment: Alignment | None = None
) -> LayerData:
    """Turn an upsampled image into a layer on the guide's grid.

    Parameters
    ----------
    result : Upsampled
        What the core returned.
    where : Destination
        What `destination` noted before the run.
    alignment : Alignment, optional
        What `check_target` found.

    Returns
    -------
    tuple of (ndarray, dict, str)
        Layer data, for `napari.layers.Layer.create` or `viewer.add_image`. Contrast limits are
        always given, so that napari need not look at the pixels.
    """
    looks = where.looks or {"contrast_limits": _limits(result.image)}
    state = {
        "name": where.name,
        "rgb": False,
        **where.placement,
        **looks,
        "metadata": {METADATA_KEY: provenance(result, where.inputs, alignment)},
    }
    return result.image.reshape(where.shape), state, "image"


def provenance(
    result: Upsampled, inputs: dict[str, Any], alignment: Alignment | None = None
) -> dict[str, Any]:
    """Everything needed to repeat and to judge a result.

    Parameters
    ----------
    result : Upsampled
        What the core returned.
    inputs : dict
        Names and files of the inputs.
    alignment : Alignment, optional
        What `check_target` found.

    Returns
    -------
    dict
        JSON-able: parameters, inputs, versions, stop reason, noise, misfit, overshoot and
        whether the guide had a say; the check of its edges, or None if there was none.
    """
    return {
        "parameters": dict(result.parameters),
        "inputs": inputs,
        "stop": str(result.stop),
        "converged": bool(result.stop.converged),
        "noise": float(result.noise),
        "misfit": float(result.misfit),
        "overshoot": float(result.overshoot),
        "guided": bool(result.guided),
        "alignment": None if alignment is None else _plain(alignment),
        "iterations": int(result.iterations),
        "versions": {
            "napari-cosparse": __version__,
            "napari": napari.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def _plain(alignment: Alignment) -> dict[str, Any]:
    """Alignment as JSON values."""
    return asdict(alignment) | {"shift": list(alignment.shift)}


def _input(layer: Image) -> dict[str, Any]:
    """Name and origin of a layer, JSON-able."""
    path = layer.source.path
    return {"name": layer.name, "path": None if path is None else str(path)}


def _limits(image: NDArray[np.float32]) -> tuple[float, float]:
    """Range of the finite values, never empty."""
    finite = image[np.isfinite(image)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return low, high if high > low else low + 1.0
