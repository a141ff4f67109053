"""Placement before and after a registration.

The core finds T, fixed pixel -> moving pixel. With F and M, the matrices from pixels to the world
of both layers, the moving layer is put right by ``F T^-1 M^-1`` after all that it had before: the
world map, which brings any other layer along.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from napari.layers import Image, Layer
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError

from ._grid import Grid
from ._read import levels_of
from ._record import METADATA_KEY
from ._world import (
    Matrix,
    State,
    embed,
    in_units,
    is_physical,
    physical_matrix,
    placement,
    plane_matrix,
    set_world,
    unit_factors,
    world_matrix,
)
from ._write import LayerData

PROBES = 33  # points along each axis by which the overlap is measured


@dataclass(frozen=True, eq=False)
class Start:
    """How two layers lie on one another now.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3), float64
        Fixed pixel (row, column, 1) to moving pixel. Where `mirrored`, to the moving image whose
        columns are reversed.
    pixel_size_fixed, pixel_size_moving : tuple of float
        Along rows and columns, in the fixed layer's units.
    overlap : float
        Share of the fixed image that lies on the moving one.
    mirrored : bool
        Whether one of the layers is shown mirrored against the other.
    informative : bool
        False where both layers have default transforms, or where one has no unit and default
        transforms: then nobody has said how large the pixels are.
    note : str
        What was assumed about units; empty if nothing.
    """

    matrix: Matrix
    pixel_size_fixed: tuple[float, float]
    pixel_size_moving: tuple[float, float]
    overlap: float
    mirrored: bool
    informative: bool
    note: str


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


def start_from(fixed: Grid, moving: Grid) -> Start:
    """Find how two layers lie on one another, whatever their transforms and units are.

    Parameters
    ----------
    fixed, moving : Grid
        Pixel grids in the world.

    Returns
    -------
    Start
        The transform that their present placement means.

    Raises
    ------
    InputError
        A layer is squashed to a line.
    """
    for grid in (fixed, moving):
        if abs(np.linalg.det(grid.matrix[:2, :2])) < np.finfo(float).tiny:
            raise InputError(f"layer {grid.name!r} is squashed to a line by its transforms")
    ours, note = _in_units_of(fixed, moving)
    matrix = np.linalg.inv(ours) @ fixed.matrix
    mirrored = bool(np.linalg.det(matrix[:2, :2]) < 0)
    if mirrored:
        matrix = mirror(moving.shape) @ matrix
    return Start(
        matrix=matrix,
        pixel_size_fixed=_pixel_size(fixed.matrix),
        pixel_size_moving=_pixel_size(ours),
        overlap=overlap_of(matrix, fixed.shape, moving.shape),
        mirrored=mirrored,
        informative=not (moving.is_default or fixed.is_default)
        or (moving.is_default and fixed.is_default and fixed.shape == moving.shape),
        note=note,
    )


def mirror(shape: tuple[int, int]) -> Matrix:
    """Matrix that reverses the columns of an image; it is its own inverse.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns.

    Returns
    -------
    ndarray, shape (3, 3), float64
        Pixel to pixel.
    """
    return np.array([[1.0, 0, 0], [0, -1, shape[1] - 1], [0, 0, 1]])


def level_map(layer: Image, level: int) -> Matrix:
    """Map pixels of a pyramid level to those of the finest.

    Parameters
    ----------
    layer : napari.layers.Image
        Multiscale or not.
    level : int
        Pyramid level.

    Returns
    -------
    ndarray, shape (3, 3), float64
        (row, column, 1) to (row, column, 1).
    """
    fine, coarse = levels_of(layer)[0], levels_of(layer)[level]
    steps = [n / m for n, m in zip(fine, coarse, strict=True)]
    matrix = np.diag([*steps, 1.0])
    matrix[:2, 2] = [(step - 1) / 2 for step in steps]
    return matrix


def overlap_of(matrix: ArrayLike, fixed: tuple[int, int], moving: tuple[int, int]) -> float:
    """Share of the fixed image that lies on the moving one.

    Parameters
    ----------
    matrix : array_like, shape (3, 3)
        Fixed pixel to moving pixel.
    fixed, moving : tuple of int
        Shapes, in pixels.

    Returns
    -------
    float
        Between 0 and 1, to about 3 %.
    """
    lines = [np.linspace(-0.5, n - 0.5, PROBES + 1)[:-1] + 0.5 * n / PROBES for n in fixed]
    points = np.stack([*np.meshgrid(*lines, indexing="ij"), np.ones((PROBES, PROBES))])
    rows, columns = (np.asarray(matrix) @ points.reshape(3, -1))[:2]
    inside = (rows >= -0.5) & (rows <= moving[0] - 0.5)
    inside &= (columns >= -0.5) & (columns <= moving[1] - 0.5)
    return float(inside.mean())


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
    ours, _ = _in_units_of(fixed, moving)
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
        Layer data. `affine` does it all: scale and the others keep their meaning.
    """
    data, state, kind = layer.as_layer_data_tuple()
    state = {**state, **moved_placement(layer, motion)}
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
        "scale": np.array([*list(lead.get("scale", ()))[:more], *_pixel_size(grid.matrix)]),
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


def _in_units_of(fixed: Grid, moving: Grid) -> tuple[NDArray[np.float64], str]:
    """Bring moving's world to the fixed layer's units, and say what was assumed."""
    factors = unit_factors(moving.units, fixed.units)
    if factors is not None:
        return np.diag([*factors, 1.0]) @ moving.matrix, ""
    physical = [grid for grid in (fixed, moving) if any(map(is_physical, grid.units))]
    if len(physical) == 2:
        units = " and ".join(str(grid.units[0]) for grid in physical)
        note = f"The units {units} cannot be converted: the numbers are compared as they are."
    else:
        (known,) = physical
        other = moving if known is fixed else fixed
        note = (
            f"{other.name!r} has no unit: its numbers are taken as {known.units[0]}s, as napari "
            "draws them."
        )
    return moving.matrix, note


def _pixel_size(matrix: Matrix) -> tuple[float, float]:
    rows, columns = np.linalg.norm(matrix[:2, :2], axis=0)
    return float(rows), float(columns)
