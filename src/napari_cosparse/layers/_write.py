"""Upsampled images as layers on the guide's grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from napari.layers import Image
from numpy.typing import NDArray

from napari_cosparse.core.reconstruction import Alignment, Upsampled

from ._axes import Index, match_stacks
from ._blank import blank_planes, join_planes, known_planes
from ._read import read
from ._record import METADATA_KEY, input_record, make_record
from ._world import placement, plane_matrix, set_world, world_matrix

MULTISCALE_FROM = 4096  # pixels along an axis beyond which a result is shown as a pyramid
COARSEST = 1024  # pixels along the longer axis of its last level

LayerData = tuple[Any, dict[str, Any], str]


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


def layer_data(
    results: Upsampled | Sequence[Upsampled | None],
    where: Destination,
    alignment: Alignment | None = None,
) -> LayerData:
    """Turn upsampled planes into a layer on the guide's grid.

    Parameters
    ----------
    results : Upsampled or sequence of Upsampled or None
        What the core returned, one for each plane; None where the target has no known sample:
        such a plane is unknown, NaN or the invalid value of integers.
    where : Destination
        What `destination` noted before the run.
    alignment : Alignment, optional
        What `check_target` found.

    Returns
    -------
    tuple of (ndarray or list, dict, str)
        Layer data, for `napari.layers.Layer.create`. Contrast limits are always given, so that
        napari need not look at the pixels; large images are pyramids of views.

    Raises
    ------
    InputError
        Nothing is known in any plane, or the type of the result cannot say so.
    """
    planes = [results] if isinstance(results, Upsampled) else list(results)
    name, blank = where.inputs["target"]["name"], blank_planes(planes, where.shape[:-2])
    known = known_planes(planes, name)
    image = known[0].image if len(planes) == 1 else join_planes(planes, name)
    looks = where.looks or {"contrast_limits": limits_of(image)}
    data, multiscale = as_levels(image.reshape(where.shape))
    state = {
        "name": where.name,
        "rgb": False,
        "multiscale": multiscale,
        **where.placement,
        **looks,
        "metadata": {METADATA_KEY: provenance(known, where.inputs, alignment, blank)},
    }
    return data, state, "image"


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


def provenance(
    planes: Sequence[Upsampled],
    inputs: dict[str, Any],
    alignment: Alignment | None = None,
    blank: Sequence[tuple[int, ...]] = (),
) -> dict[str, Any]:
    """Everything needed to repeat and to judge a result.

    Parameters
    ----------
    planes : sequence of Upsampled
        What the core returned; of several planes the worst figure is told.
    inputs : dict
        Names and files of the inputs.
    alignment : Alignment, optional
        What `check_target` found.
    blank : sequence of tuple of int
        Further planes, of which nothing is known.

    Returns
    -------
    dict
        JSON-able: parameters, inputs, versions, stop reason, noise, misfit, overshoot and
        whether the guide had a say; the check of its edges, or None if there was none.
    """
    first = planes[0]
    return make_record(
        "upsample",
        first.parameters,
        inputs,
        planes=len(planes) + len(blank),
        blank=[list(place) for place in blank],
        stop=str(first.stop),
        converged=all(bool(plane.stop.converged) for plane in planes),
        noise=max(float(plane.noise) for plane in planes),
        misfit=max(float(plane.misfit) for plane in planes),
        overshoot=max(float(plane.overshoot) for plane in planes),
        guided=all(bool(plane.guided) for plane in planes),
        iterations=sum(int(plane.iterations) for plane in planes),
        alignment=None
        if alignment is None
        else asdict(alignment) | {"shift": list(alignment.shift)},
    )


def as_levels(image: NDArray[Any]) -> tuple[Any, bool]:
    """Offer a large image as a pyramid of views, so that napari draws the coarsest first.

    Parameters
    ----------
    image : ndarray, shape (..., H, W)
        In memory.

    Returns
    -------
    data : ndarray or list of ndarray
        The image, or its levels: views, nothing is copied.
    multiscale : bool
        Whether it is a list.
    """
    if max(image.shape[-2:]) <= MULTISCALE_FROM:
        return image, False
    levels = [image]
    while max(levels[-1].shape[-2:]) > COARSEST:
        levels.append(levels[-1][..., ::2, ::2])
    return levels, True


def limits_of(image: NDArray[Any]) -> tuple[float, float]:
    """Range of the finite values, never empty.

    Parameters
    ----------
    image : ndarray
        Any shape.

    Returns
    -------
    tuple of float
        For `contrast_limits`.
    """
    finite = image[np.isfinite(image)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return low, high if high > low else low + 1.0


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
