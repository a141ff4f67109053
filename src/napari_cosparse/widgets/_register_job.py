"""From chosen layers and settings to the registration that a worker runs."""

from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from napari.layers import Labels, Points, Shapes

from napari_cosparse import api
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress
from napari_cosparse.layers import (
    lazy_plane,
    mask_on,
    point_pairs,
)
from napari_cosparse.tiles import Cancelled

from ._configure import threads
from ._couple import Couple
from ._register_best import with_best
from ._runner import Steps


def start_keywords(
    pair: Couple, how: str, points: tuple[Points | None, Points | None]
) -> dict[str, Any]:
    """Turn the choice of a start into keywords of `register`.

    Parameters
    ----------
    pair : Couple
        The layers.
    how : {"search", "place", "points"}
        What is chosen.
    points : tuple of napari.layers.Points or None
        Layers of corresponding points.

    Returns
    -------
    dict
        ``initial``, ``points``, ``search`` and the pixel sizes.

    Raises
    ------
    InputError
        The start is not possible; the message says why.
    """
    start = pair.start
    told: dict[str, Any] = {"initial": None, "points": None, "search": how == "search"}
    if start.informative:
        told["pixel_size_fixed"] = start.pixels_fixed
        told["pixel_size_moving"] = start.pixels_moving
    if how == "points":
        if points[0] is None or points[1] is None:
            raise InputError("Add two layers of points: one on each image, in the same order.")
        ours, theirs = point_pairs(*pair.grids, (points[0], points[1]))
        if start.mirrored:
            theirs = theirs @ np.diag([1.0, -1.0]) + [0, pair.grids[1].shape[1] - 1]
        return {**told, "points": (ours, theirs)}
    if how == "place" and not start.overlap:
        raise InputError(
            "The layers do not overlap where they lie: drag one onto the other (Transform mode), "
            "or search everywhere."
        )
    if how == "place" or start.informative:
        told["initial"] = start.matrix
    return told


def masks(
    pair: Couple, drawn: tuple[Labels | Shapes | None, Labels | Shapes | None]
) -> dict[str, Any]:
    """Turn chosen mask layers into keywords of `register`.

    Parameters
    ----------
    pair : Couple
        The layers.
    drawn : tuple of napari.layers.Labels, napari.layers.Shapes or None
        Masks of the fixed and the moving image.

    Returns
    -------
    dict
        ``mask_fixed`` and ``mask_moving``.

    Raises
    ------
    InputError
        A mask is empty on its image.
    """
    flips = False, pair.start.mirrored
    found = [
        None if layer is None else mask_on(grid, layer, plane, mirrored=flip)
        for grid, layer, plane, flip in zip(pair.grids, drawn, pair.planes, flips, strict=True)
    ]
    return {"mask_fixed": found[0], "mask_moving": found[1]}


def registering(
    pair: Couple,
    operators: str | Path | OperatorPair,
    keywords: dict[str, Any],
    cancelled: Callable[[], bool] | None = None,
) -> Steps:
    """Prepare a run; pixels and operators are read when it starts, in the worker.

    Parameters
    ----------
    pair : Couple
        The layers.
    operators : str, Path or OperatorPair
        Name of a shipped operator pair, a file, or a pair.
    keywords : dict
        Of `register`.
    cancelled : callable, optional
        Asked whether to stop.

    Returns
    -------
    callable
        Makes the generator of `Progress` that returns a `Registration` between the pixels of the
        finest levels.
    """

    def ask() -> None:
        if cancelled is not None and cancelled():
            raise Cancelled

    invalid = keywords.get("invalid", (None, None))
    fixed, moving = (
        lazy_plane(*which, **options, ask=ask) for which, options in pair.planes_to_read(invalid)
    )

    def steps() -> Generator[Progress, None, Any]:
        yield Progress("Reading the layers", 0, 0)
        how = {"threads": threads(), "cancelled": cancelled, **keywords}
        run = api.register_steps(fixed, moving, operators, **how)
        found = yield from with_best(run)
        return at_finest(pair, found)

    return steps


def at_finest(pair: Couple, found: Any) -> Any:  # noqa: ANN401 a Registration
    """Turn a registration of two levels into one of the finest levels.

    Parameters
    ----------
    pair : Couple
        The layers.
    found : Registration
        Between the levels that were read.

    Returns
    -------
    Registration
        Between the finest levels; its figures in pixels stay those of the levels.
    """
    if pair.levels == (0, 0) and not pair.start.mirrored:
        return found
    fine = pair.finest
    sizes = [
        tuple(size / step for size, step in zip(sizes, to_fine.diagonal()[:2], strict=True))
        for sizes, to_fine in zip(
            (found.pixel_size_fixed, found.pixel_size_moving), pair.maps, strict=True
        )
    ]
    return replace(
        found,
        matrix=pair.to_finest(found.matrix),
        start=pair.to_finest(found.start),
        fixed_shape=fine[0].shape,
        moving_shape=fine[1].shape,
        pixel_size_fixed=sizes[0],
        pixel_size_moving=sizes[1],
    )
