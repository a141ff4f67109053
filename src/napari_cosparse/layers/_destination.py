"""Where an upsampled image is to lie, and how it is to look: on the guide's grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from napari.layers import Image

from ._axes import match_stacks
from ._read import read
from ._record import input_record
from ._world import placement, plane_matrix, set_world, world_matrix


@dataclass(frozen=True, eq=False)
class Destination:
    """What a result layer takes over from target and guide, noted before the run.

    Attributes
    ----------
    name : str
        Name of the result layer.
    shape : tuple of int
        Shape of its data: the guide's plane after the leading axes of both.
    placement : dict
        The guide's transforms, units and axis labels; the target's for axes that only it has.
    looks : dict
        The target's colormap and contrast limits; empty for a target in colour.
    inputs : dict
        Names and files of target and guide, with the levels that are read, and of the operators.
    """

    name: str
    shape: tuple[int, ...]
    placement: dict[str, Any]
    looks: dict[str, Any]
    inputs: dict[str, Any]


def destination(
    target: Image,
    guide: Image,
    levels: tuple[int, int] = (0, 0),
    operators: str | None = None,
) -> Destination:
    """Note where and how the upsampled target is to be shown.

    Parameters
    ----------
    target : napari.layers.Image
        The low-resolution layer.
    guide : napari.layers.Image
        The high-resolution layer.
    levels : tuple of int
        Pyramid levels of target and guide that are read; the guide's is the result's grid.
    operators : str, optional
        Name or file of the operators, for the record.

    Returns
    -------
    Destination
        Copies of the layers' settings: later changes to the layers do not matter.
    """
    low, fine = read(target, levels[0]), read(guide, levels[1])
    stack = match_stacks(low, fine)
    looks = {}
    if not target.rgb:
        looks = {
            "colormap": target.colormap,
            "contrast_limits": tuple(float(limit) for limit in target.contrast_limits),
        }
    return Destination(
        name=f"{target.name} [upsampled]",
        shape=(*stack.shape, *fine.shape),
        placement=_placement(target, guide, levels, stack.labels),
        looks=looks,
        inputs={
            "target": input_record(target, levels[0]),
            "guide": input_record(guide, levels[1]),
            "operators": operators,
        },
    )


def _placement(
    target: Image, guide: Image, levels: tuple[int, int], labels: tuple[str, ...]
) -> dict[str, Any]:
    """Take the guide's place, and that of the target for axes which only the target has."""
    state, ndim = placement(guide, levels[1]), len(labels) + 2
    if ndim == guide.ndim:
        return state
    theirs = placement(target, levels[0])
    kept = [target.axis_labels.index(label) for label in labels[: ndim - guide.ndim]]
    plane = plane_matrix(world_matrix(state), guide.name)
    ours = {
        name: np.concatenate([np.asarray(theirs[name])[kept], np.asarray(state[name])])
        for name in ("scale", "translate")
    }
    joined = {
        **ours,
        "rotate": np.eye(ndim),
        "shear": np.zeros(ndim * (ndim - 1) // 2),
        "affine": np.eye(ndim + 1),
        **{
            name: tuple(theirs[name][axis] for axis in kept) + tuple(state[name])
            for name in ("units", "axis_labels")
        },
    }
    world = world_matrix(joined)
    world[-3:, -3:] = plane
    return set_world(joined, world)
