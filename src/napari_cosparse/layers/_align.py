"""Placement after a registration.

The core finds T, fixed pixel -> moving pixel. With F and M, the matrices from pixels to the world
of both layers, the moving layer is put right by ``F T^-1 M^-1`` after all that it had before: the
world map, which brings any other layer along.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from napari.layers import Layer
from numpy.typing import ArrayLike

from napari_cosparse.core.errors import InputError

from ._grid import Grid, in_units_of
from ._record import METADATA_KEY
from ._start import pixel_size
from ._world import (
    Matrix,
    State,
    embed,
    in_units,
    physical_matrix,
    placement,
    plane_matrix,
    set_world,
    unit_factors,
    world_matrix,
)
from ._write import LayerData


@dataclass(frozen=True, eq=False)
class Motion:
    """What a registration does to layers.

    Attributes
    ----------
    world : ndarray, shape (3, 3), float64
        Old place in the world to the new one, both in `units`.
    units : tuple of pint.Unit
        The fixed layer's.
    """

    world: Matrix
    units: tuple[Any, Any]


def motion_of(fixed: Grid, moving: Grid, matrix: ArrayLike) -> Motion:
    """Turn a registration into what is to be done to layers.

    Parameters
    ----------
    fixed, moving : Grid
        As they lay when the registration began.
    matrix : array_like, shape (3, 3)
        Fixed pixel to moving pixel.

    Returns
    -------
    Motion
        Brings the moving layer onto the fixed one.

    Raises
    ------
    InputError
        The matrix has no inverse.
    """
    transform = np.asarray(matrix, np.float64)
    if transform.shape != (3, 3) or not np.isfinite(transform).all():
        raise InputError(f"transform of shape {transform.shape} must be (3, 3) and finite")
    if abs(np.linalg.det(transform)) < np.finfo(float).tiny:
        raise InputError(f"transform {transform.tolist()} has no inverse")
    ours, _ = in_units_of(fixed, moving)
    world = fixed.matrix @ np.linalg.inv(transform) @ np.linalg.inv(ours)
    world[-1] = (0, 0, 1)
    return Motion(world, fixed.units)


def moved(
    layer: Layer,
    motion: Motion,
    *,
    name: str | None = None,
    record: Mapping[str, Any] | None = None,
) -> LayerData:
    """Make a layer that shares another one's data and lies elsewhere.

    Parameters
    ----------
    layer : napari.layers.Layer
        Image, labels, points, shapes or any other; all channels, planes and levels move alike.
    motion : Motion
        What is done to its place in the world.
    name : str, optional
        Name of the new layer; that of the old one with "[registered]" if None.
    record : mapping, optional
        Where the motion comes from, for the metadata.

    Returns
    -------
    tuple of (data, dict, str)
        Layer data. `affine` does it all: scale and the others keep their meaning. The new layer
        is visible, also where the old one is hidden.
    """
    data, state, kind = layer.as_layer_data_tuple()
    state = {**state, **moved_placement(layer, motion)}
    state["visible"] = True
    state["name"] = name or f"{layer.name} [registered]"
    state["metadata"] = {**layer.metadata, **({METADATA_KEY: dict(record)} if record else {})}
    return data, state, kind


def moved_placement(layer: Layer, motion: Motion) -> dict[str, Any]:
    """Find where a layer lies after a motion.

    Parameters
    ----------
    layer : napari.layers.Layer
        Any layer of two or more axes.
    motion : Motion
        What is done to its place in the world.

    Returns
    -------
    dict
        Scale, translate, rotate, shear, affine, units and axis labels, in the motion's units.

    Raises
    ------
    InputError
        The layer has fewer than two axes.
    """
    if layer.ndim < 2:
        raise InputError(f"layer {layer.name!r} has {layer.ndim} axis; it cannot be turned")
    state = placement(layer)
    factors = unit_factors(layer.units[-2:], motion.units) or (1.0, 1.0)  # as napari draws them
    to_units = embed(np.diag([*factors, 1.0]), layer.ndim)
    world = embed(motion.world, layer.ndim) @ to_units @ world_matrix(state)
    return set_world(in_units(state, motion.units, (factors[0], factors[1])), world)


def pixel_map(layer: Layer, motion: Motion, fixed: Grid) -> Matrix:
    """Find the transform from the fixed pixels to those of a layer that moves along.

    Parameters
    ----------
    layer : napari.layers.Image or Labels
        As it lies now.
    motion : Motion
        What is done to it.
    fixed : Grid
        The fixed layer's pixels, in the motion's units.

    Returns
    -------
    ndarray, shape (3, 3), float64
        Fixed pixel to the layer's pixel.
    """
    new = plane_matrix(world_matrix(moved_placement(layer, motion)), layer.name)
    matrix: Matrix = np.linalg.inv(new) @ fixed.matrix
    matrix[-1] = (0, 0, 1)
    return matrix


def grid_placement(grid: Grid, axis_labels: tuple[str, ...], like: Layer | None = None) -> State:
    """Place data on a pixel grid.

    Parameters
    ----------
    grid : Grid
        Where the last two axes lie.
    axis_labels : tuple of str
        Labels of the last two axes.
    like : napari.layers.Layer, optional
        Layer whose leading axes the data have.

    Returns
    -------
    dict
        Scale, translate, rotate, shear, affine, units and axis labels for a new layer.
    """
    more = 0 if like is None else like.ndim - 2
    ndim = more + 2
    lead = placement(like) if like is not None else {}
    state: State = {
        "scale": np.array([*list(lead.get("scale", ()))[:more], *pixel_size(grid.matrix)]),
        "translate": np.array([*list(lead.get("translate", ()))[:more], *grid.matrix[:2, 2]]),
        "rotate": np.eye(ndim),
        "shear": np.zeros(ndim * (ndim - 1) // 2),
        "affine": np.eye(ndim + 1),
        "units": (*tuple(lead.get("units", ()))[:more], *grid.units),
        "axis_labels": (*tuple(lead.get("axis_labels", ()))[:more], *axis_labels),
    }
    world = physical_matrix(state)
    world[-3:, -3:] = grid.matrix
    return set_world(state, world)
