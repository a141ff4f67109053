"""What of a layer the viewer shows: its plane, and the part of that in the window."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from napari.components import Dims
from napari.layers import Image, Labels
from numpy.typing import NDArray

from ._read import levels_of
from ._world import unit_factors

CANVAS = 600, 800  # height and width that are taken where napari (before 0.9) does not tell


def visible_part(layer: Image, viewer: Any, level: int = 0) -> NDArray[np.float64]:  # noqa: ANN401
    """Find the pixels that the viewer shows.

    What napari notes at the layer would not do: it counts whole chunks of a pyramid, and does not
    convert units.

    Parameters
    ----------
    layer : napari.layers.Image
        Layer in a viewer.
    viewer : napari.components.ViewerModel
        The viewer.
    level : int
        Pyramid level in whose pixels the answer is given.

    Returns
    -------
    ndarray, shape (2, 2), float64
        First and last visible row and column, maybe beyond the layer's; those of the whole plane
        where the viewer does not show planes, or nothing of the layer.
    """
    dims = viewer.dims
    shown = list(dims.displayed)
    last = np.array(levels_of(layer)[level]) - 1.0
    whole = np.stack([np.zeros(2), last])
    if set(shown) != {dims.ndim - 2, dims.ndim - 1}:
        return whole
    camera, size = _camera_and_size(viewer)
    middle, half = np.asarray(camera.center, np.float64)[-2:], np.divide(size, 2 * camera.zoom)
    places = []
    for sides in product((-1, 1), repeat=2):
        point = np.array(dims.point, np.float64)
        point[shown] = middle + half * sides
        places.append(_to_data(layer, dims, point)[-2:])
    corners = np.stack([np.min(places, 0), np.max(places, 0)])
    if layer.multiscale:
        factors = np.asarray(layer.downsample_factors, np.float64)[level]
        corners /= factors[layer.ndim - 2 : layer.ndim]  # what follows is colour
    return corners if (corners[1] >= 0).all() and (corners[0] <= last).all() else whole


def shown_plane(layer: Image | Labels, dims: Dims) -> tuple[int, ...]:
    """Find the plane of a stack that the viewer shows.

    Parameters
    ----------
    layer : napari.layers.Image or Labels
        A stack, or a plane.
    dims : napari.components.Dims
        The viewer's sliders.

    Returns
    -------
    tuple of int
        Index on the leading axes, inside the stack; empty for a plane.
    """
    place = _to_data(layer, dims, np.asarray(dims.point, np.float64))
    index = np.rint(place[: layer.ndim - 2]).astype(int)
    shape = layer.level_shapes[0] if layer.multiscale else layer.data.shape
    return tuple(int(np.clip(i, 0, n - 1)) for i, n in zip(index, shape, strict=False))


def _to_data(layer: Image | Labels, dims: Dims, point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take a point of the viewer's world to the layer's pixels, of the finest level."""
    count = layer.ndim
    place, known = np.zeros(count), point[-count:]
    place[count - len(known) :] = known
    # the viewer counts in units of its own; it has none where napari compares numbers as they are
    units = getattr(dims, "units", None) or ()
    if len(units) >= count:
        place *= unit_factors(tuple(units)[-count:], layer.units) or 1.0
    return np.asarray(layer.world_to_data(place), np.float64)


def _camera_and_size(viewer: Any) -> tuple[Any, tuple[float, float]]:  # noqa: ANN401
    """Camera, and height and width of what it draws to."""
    if not hasattr(viewer, "canvas"):
        return viewer.camera, CANVAS
    height, width = viewer.canvas.viewbox_size(viewer.layers)
    return viewer.scene.camera, (float(height), float(width))
