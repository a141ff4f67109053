"""Pixels of registered layers on the fixed layer's grid."""

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from napari.components import Dims
from napari.layers import Image, Labels
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.registration import apply_transform
from napari_cosparse.layers import (
    METADATA_KEY,
    Grid,
    LayerData,
    checkerboard,
    grid_of,
    grid_placement,
    level_map,
    levels_of,
    pixel_map,
    read,
    shown_plane,
)
from napari_cosparse.tiles import warp_lazily, warp_levels

if TYPE_CHECKING:
    from ._register_found import Found

LARGE = 2048  # pixels along an axis: larger results are pyramids
SMALL = 1024  # pixels of a checkerboard's longer side

Matrix = NDArray[np.float64]


def resampled_with(found: "Found", layer: Image | Labels) -> LayerData:
    """Resample a layer onto the fixed layer's pixels by a transform.

    Parameters
    ----------
    found : Found
        The transform.
    layer : napari.layers.Image or Labels
        The moving layer, or another one that belongs to it.

    Returns
    -------
    tuple of (dask array or list, dict, str)
        Layer data.
    """
    matrix = found.matrix
    if layer is not found.moving:
        matrix = pixel_map(layer, found.motion(layer), found.fixed_grid)
    return resampled(layer, matrix, found.fixed, record=found.record)


def resampled(
    layer: Image | Labels,
    matrix: ArrayLike,
    fixed: Image,
    *,
    record: Mapping[str, Any] | None = None,
) -> LayerData:
    """Resample a layer onto the fixed layer's pixels, when they are looked at.

    Parameters
    ----------
    layer : napari.layers.Image or Labels
        What is resampled; stacks and levels alike.
    matrix : array_like, shape (3, 3)
        Pixel of the fixed layer to pixel of the layer, of the finest levels.
    fixed : napari.layers.Image
        The fixed layer.
    record : mapping, optional
        Where the transform comes from, for the metadata.

    Returns
    -------
    tuple of (dask array or list, dict, str)
        Layer data. Labels are taken from the nearest pixel, so that no new one appears.
    """
    rgb, labels = bool(getattr(layer, "rgb", False)), isinstance(layer, Labels)
    options: dict[str, Any] = {"order": "nearest", "fill": 0} if labels else {}
    grid, matrix = grid_of(fixed), np.asarray(matrix, np.float64)
    if layer.multiscale:
        data: Any = warp_levels(list(layer.data), matrix, grid.shape, colour=rgb, **options)
    else:
        data = [
            warp_lazily(layer.data, matrix @ to_fine, size, colour=rgb, **options)
            for size, to_fine in _sizes(grid.shape)
        ]
    many = len(data) > 1
    state = {
        "name": f"{layer.name} [resampled]",
        "multiscale": many,
        "opacity": layer.opacity,
        **grid_placement(grid, fixed.axis_labels[-2:], layer),
        "metadata": {METADATA_KEY: {**(record or {}), "resampled": True}},
        **({} if labels else _looks(layer, rgb=rgb)),
    }
    return data if many else data[0], state, "labels" if labels else "image"


def checkerboard_layer(found: "Found", dims: Dims) -> LayerData:
    """Show both images in the fields of a checkerboard, not larger than a screen.

    Parameters
    ----------
    found : Found
        The transform.
    dims : napari.components.Dims
        The viewer's sliders.

    Returns
    -------
    tuple of (ndarray, dict, str)
        Layer data on the fixed layer's grid.
    """
    grid = found.fixed_grid
    level = _level(found.fixed, max(grid.shape) / SMALL)
    step = ceil(max(levels_of(found.fixed)[level]) / SMALL)
    fixed = read(found.fixed, level).load_gray(shown_plane(found.fixed, dims))[::step, ::step]
    to_fine = level_map(found.fixed, level) @ np.diag([float(step), float(step), 1.0])
    matrix = np.asarray(found.matrix) @ to_fine
    near = _level(found.moving, float(np.sqrt(abs(np.linalg.det(matrix[:2, :2])))))
    source = read(found.moving, near).load_gray(shown_plane(found.moving, dims))
    matrix = np.linalg.inv(level_map(found.moving, near)) @ matrix
    rows, columns = fixed.shape
    moving = apply_transform(source.astype(np.float32), matrix, shape=(rows, columns))
    grid = Grid(grid.name, (rows, columns), grid.matrix @ to_fine, grid.units)
    state = {
        "name": f"{found.fixed.name} and {found.moving.name} [checkerboard]",
        "contrast_limits": (0, 1),
        "rgb": False,
        **grid_placement(grid, found.fixed.axis_labels[-2:]),
        "metadata": {METADATA_KEY: {**found.record, "checkerboard": True}},
    }
    return checkerboard(fixed, moving), state, "image"


def _sizes(shape: tuple[int, int]) -> list[tuple[tuple[int, int], Matrix]]:
    """Choose the levels of a large result, so that napari computes the coarsest alone at first."""
    found = [(shape, np.eye(3))]
    while max(found[-1][0]) > LARGE:
        size = tuple(ceil(n / 2 ** len(found)) for n in shape)
        steps = [n / m for n, m in zip(shape, size, strict=True)]
        to_fine = np.diag([*steps, 1.0])
        to_fine[:2, 2] = [(step - 1) / 2 for step in steps]
        found.append(((size[0], size[1]), to_fine))
    return found


def _looks(layer: Image, *, rgb: bool) -> dict[str, Any]:
    """Take colours over; contrast limits are always given, so that nothing is computed."""
    if rgb:
        return {"rgb": True}
    limits = tuple(float(limit) for limit in layer.contrast_limits)
    return {"rgb": False, "colormap": layer.colormap, "contrast_limits": limits}


def _level(layer: Image, shrink: float) -> int:
    """Choose the coarsest level that is not smaller than the size divided by a number."""
    shapes = levels_of(layer)
    fits = [n for n, shape in enumerate(shapes) if max(shapes[0]) / max(shape) <= shrink + 1e-9]
    return fits[-1] if fits else 0
