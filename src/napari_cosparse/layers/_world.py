"""Placement of a layer in the world as a dictionary and as one matrix, and back.

A layer maps data to the world by ``affine o (rotate shear scale + translate)``. Here this is one
homogeneous matrix over all of its axes; a new place is set through `affine` alone, so that scale
and the others keep their meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from napari.layers import Layer
from napari.utils.transforms import CompositeAffine
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

PLACEMENT = ("scale", "translate", "rotate", "shear", "affine", "units", "axis_labels")

Matrix = NDArray[np.float64]
State = dict[str, Any]


def placement(layer: Layer, level: int = 0) -> State:
    """Copy where a layer lies, as keywords for a new layer.

    Parameters
    ----------
    layer : napari.layers.Layer
        Any layer.
    level : int
        Pyramid level of a multiscale layer. A pixel of a coarse level is the mean of a block, so
        its centre lies in the middle of the block.

    Returns
    -------
    dict
        Scale, translate, rotate, shear, affine, units and axis labels of that level.
    """
    state: State = {name: _copy(getattr(layer, name)) for name in PLACEMENT}
    state["affine"] = np.array(layer.affine.affine_matrix, np.float64)
    if getattr(layer, "multiscale", False) and level:
        step = np.asarray(layer.downsample_factors[level], np.float64)[: layer.ndim]
        linear = physical_matrix(state)[:-1, :-1]
        state["translate"] = state["translate"] + linear @ ((step - 1) / 2)
        state["scale"] = state["scale"] * step
    return state


def physical_matrix(state: State) -> Matrix:
    """Compose scale, shear, rotate and translate.

    Parameters
    ----------
    state : dict
        As `placement` gives it.

    Returns
    -------
    ndarray, shape (ndim + 1, ndim + 1), float64
        Maps data coordinates to those before `affine`.
    """
    parts = {name: state[name] for name in ("scale", "translate", "rotate", "shear")}
    matrix = CompositeAffine(ndim=len(state["scale"]), **parts).affine_matrix
    return np.array(matrix, np.float64)


def world_matrix(state: State) -> Matrix:
    """Compose all transforms of a layer.

    Parameters
    ----------
    state : dict
        As `placement` gives it.

    Returns
    -------
    ndarray, shape (ndim + 1, ndim + 1), float64
        Maps data coordinates to the world, in the layer's own units.
    """
    return np.asarray(state["affine"], np.float64) @ physical_matrix(state)


def set_world(state: State, world: Matrix) -> State:
    """Set `affine` such that data lie where a matrix says.

    Parameters
    ----------
    state : dict
        As `placement` gives it.
    world : ndarray, shape (ndim + 1, ndim + 1), float64
        Data coordinates to the world.

    Returns
    -------
    dict
        A copy with another `affine`; the other transforms stay.
    """
    affine = world @ np.linalg.inv(physical_matrix(state))
    affine[-1] = np.eye(len(affine))[-1]  # exactly: napari reads the rest as an affine matrix
    return {**state, "affine": affine}


def plane_matrix(world: Matrix, name: str) -> Matrix:
    """Cut the last two axes out of a matrix.

    Parameters
    ----------
    world : ndarray, shape (ndim + 1, ndim + 1), float64
        Data coordinates to the world.
    name : str
        Name of the layer, for the message.

    Returns
    -------
    ndarray, shape (3, 3), float64
        Maps (row, column, 1) to the last two world axes.

    Raises
    ------
    InputError
        The planes of the layer are tilted out of the last two world axes.
    """
    size = np.abs(world[:-1, :-1]).max()
    mixed = np.abs(world[:-3, -3:-1]).max(initial=0), np.abs(world[-3:-1, :-3]).max(initial=0)
    if max(mixed) > 1e-9 * size:
        raise InputError(
            f"layer {name!r} is tilted out of its plane by its rotate, shear or affine; "
            "only transforms within the plane are supported"
        )
    plane: Matrix = np.delete(np.delete(world, np.s_[:-3], 0), np.s_[:-3], 1)
    return plane


def leading_matrix(world: Matrix) -> Matrix:
    """Cut the last two axes off a matrix.

    Parameters
    ----------
    world : ndarray, shape (ndim + 1, ndim + 1), float64
        Data coordinates to the world, of a layer whose planes are not tilted.

    Returns
    -------
    ndarray, shape (ndim - 1, ndim - 1), float64
        Maps the index (..., 1) of a plane to the other world axes.
    """
    matrix: Matrix = np.delete(np.delete(world, np.s_[-3:-1], 0), np.s_[-3:-1], 1)
    return matrix


def embed(plane: Matrix, ndim: int) -> Matrix:
    """Let a transform of the plane act on the last two of several axes.

    Parameters
    ----------
    plane : ndarray, shape (3, 3), float64
        Homogeneous matrix over (row, column, 1).
    ndim : int
        Number of axes.

    Returns
    -------
    ndarray, shape (ndim + 1, ndim + 1), float64
        The identity on the leading axes.
    """
    whole = np.eye(ndim + 1)
    whole[-3:, -3:] = plane
    return whole


def is_physical(unit: object) -> bool:
    """Whether a unit measures anything.

    Parameters
    ----------
    unit : pint.Unit
        Unit of an axis.

    Returns
    -------
    bool
        False for `pixel`, which says that nobody has said.
    """
    return str(unit) not in {"pixel", "dimensionless", ""}


def unit_factors(source: tuple[Any, ...], wanted: tuple[Any, ...]) -> tuple[float, ...] | None:
    """Convert units axis by axis.

    Parameters
    ----------
    source, wanted : tuple of pint.Unit
        Units of the axes of two layers.

    Returns
    -------
    tuple of float, or None
        What to multiply coordinates by; None where a unit cannot be converted.
    """
    factors = []
    for ours, theirs in zip(source, wanted, strict=True):
        if ours == theirs:
            factors.append(1.0)
        elif ours.is_compatible_with(theirs):
            factors.append(float((1.0 * ours).to(theirs).magnitude))
        else:
            return None
    return tuple(factors)


def in_units(state: State, units: tuple[Any, Any], factors: tuple[float, float]) -> State:
    """Express scale and translate of the last two axes in other units.

    Parameters
    ----------
    state : dict
        As `placement` gives it.
    units : tuple of pint.Unit
        The other units.
    factors : tuple of float
        What to multiply by.

    Returns
    -------
    dict
        A copy. Its `affine` still is the old one: `set_world` follows.
    """
    ratio = np.ones(len(state["scale"]))
    ratio[-2:] = factors
    scale, translate = np.asarray(state["scale"]) * ratio, np.asarray(state["translate"]) * ratio
    units = (*state["units"][:-2], *units)
    return {**state, "scale": scale, "translate": translate, "units": units}


def _copy(value: Any) -> Any:  # noqa: ANN401 arrays, tuples or an affine
    return np.array(value, np.float64) if isinstance(value, np.ndarray) else value
