"""Upsampled images as layers on the guide's grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.reconstruction import Alignment, Upsampled

from ._blank import blank_planes, join_planes, known_planes
from ._destination import Destination
from ._record import METADATA_KEY, make_record

MULTISCALE_FROM = 4096  # pixels along an axis beyond which a result is shown as a pyramid
COARSEST = 1024  # pixels along the longer axis of its last level

LayerData = tuple[Any, dict[str, Any], str]


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
