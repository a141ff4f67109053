"""A preview as a layer on its part of the guide's grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from napari.layers import Image, Layer

from napari_cosparse.core.reconstruction import Upsampled

from ._axes import Index
from ._destination import Destination
from ._record import METADATA_KEY
from ._world import set_world, world_matrix
from ._write import LayerData, limits_of, provenance


def preview_place(where: Destination, index: Index, corner: tuple[int, int]) -> dict[str, Any]:
    """Note where a preview is to lie: on its plane of the result, and on no other one.

    Parameters
    ----------
    where : Destination
        Of the whole result.
    index : tuple of int
        Of the plane, on the leading axes of the result.
    corner : tuple of int
        Row and column of the guide's pixel where the part begins.

    Returns
    -------
    dict
        Settings of a layer that has as many axes as the result.
    """
    shift = np.eye(len(where.shape) + 1)
    shift[:-1, -1] = *index, *corner
    world = world_matrix(where.placement) @ shift
    state = set_world({**where.placement, "translate": world[:-1, -1].copy()}, world)
    return {**state, "metadata": {"preview": [*index, *corner]}}


def preview_data(result: Upsampled, where: Destination, place: dict[str, Any]) -> LayerData:
    """Turn an upsampled part of a plane into a layer on the guide's grid.

    Parameters
    ----------
    result : Upsampled
        What the core returned for the part.
    where : Destination
        What `destination` noted for the whole.
    place : dict
        What `preview_place` noted before the run.

    Returns
    -------
    tuple of (ndarray, dict, str)
        Layer data.
    """
    image = result.image.reshape((1,) * (len(where.shape) - 2) + result.image.shape)
    looks = where.looks or {"contrast_limits": limits_of(image)}
    record = {METADATA_KEY: {**provenance([result], where.inputs), **place["metadata"]}}
    name = f"{where.name} preview"
    return image, {"name": name, "rgb": False, **place, **looks, "metadata": record}, "image"


def show_again(layer: Layer, data: LayerData) -> bool:
    """Show another preview in the layer of the one before: a new layer takes napari longer.

    Parameters
    ----------
    layer : napari.layers.Layer
        Of the preview before.
    data : tuple of (ndarray, dict, str)
        What `preview_data` made.

    Returns
    -------
    bool
        False, with the layer as it was, if another name or number of axes asks for a new one.
    """
    image, state, _ = data
    if not isinstance(layer, Image) or (layer.name, layer.ndim) != (state["name"], image.ndim):
        return False
    layer.data = image
    for key, value in state.items():
        if key not in ("name", "rgb"):
            setattr(layer, key, value)
    layer.visible = True
    return True
