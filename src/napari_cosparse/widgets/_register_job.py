"""From chosen layers and settings to the registration that a worker runs."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from napari.layers import Image, Labels, Points, Shapes
from numpy.typing import NDArray

from napari_cosparse import api
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress
from napari_cosparse.layers import (
    Grid,
    Start,
    grid_of,
    level_map,
    mask_on,
    mirror,
    point_pairs,
    read,
    start_from,
)

from ._configure import threads
from ._register_best import with_best
from ._runner import Steps

CHOOSE_TWO = (
    "Choose two image layers: fixed stays, moving is brought onto it. File > Open Sample has a "
    "displaced pair to try."
)
Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Couple:
    """A fixed and a moving layer, as they lie now.

    Attributes
    ----------
    fixed, moving : napari.layers.Image
        The layers.
    levels : tuple of int
        Their pyramid levels that are read.
    planes : tuple of tuple of int
        Their planes that are read.
    grids : tuple of Grid
        Pixel grids of these levels.
    start : Start
        How they lie on one another.
    """

    fixed: Image
    moving: Image
    levels: tuple[int, int]
    planes: tuple[tuple[int, ...], tuple[int, ...]]
    grids: tuple[Grid, Grid]
    start: Start

    @property
    def finest(self) -> tuple[Grid, Grid]:
        """Pixel grids of the finest levels."""
        return grid_of(self.fixed), grid_of(self.moving)

    def to_finest(self, matrix: Matrix) -> Matrix:
        """Turn a transform between the levels that were read into one of the finest levels."""
        ours = mirror(self.grids[1].shape) @ matrix if self.start.mirrored else matrix
        fixed = level_map(self.fixed, self.levels[0])
        return level_map(self.moving, self.levels[1]) @ ours @ np.linalg.inv(fixed)


def couple(
    fixed: Image | None,
    moving: Image | None,
    levels: tuple[int, int],
    planes: tuple[tuple[int, ...], tuple[int, ...]],
) -> Couple:
    """Check that two layers can be registered.

    Parameters
    ----------
    fixed, moving : napari.layers.Image or None
        What is chosen.
    levels : tuple of int
        Pyramid levels.
    planes : tuple of tuple of int
        Indices on the leading axes of stacks.

    Returns
    -------
    Couple
        The layers and how they lie on one another.

    Raises
    ------
    InputError
        They cannot; the message says why.
    """
    if fixed is None or moving is None:
        raise InputError(CHOOSE_TWO)
    if fixed is moving:
        raise InputError("Fixed and moving are the same layer: choose two layers.")
    for layer, level, plane in zip((fixed, moving), levels, planes, strict=True):
        read(layer, level).lazy(plane)
    grids = grid_of(fixed, levels[0]), grid_of(moving, levels[1])
    return Couple(fixed, moving, levels, planes, grids, start_from(*grids))


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
        told["pixel_size_fixed"] = start.pixel_size_fixed
        told["pixel_size_moving"] = start.pixel_size_moving
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
    found = [
        None if layer is None else mask_on(grid, layer, plane)
        for grid, layer, plane in zip(pair.grids, drawn, pair.planes, strict=True)
    ]
    if pair.start.mirrored and found[1] is not None:
        found[1] = found[1][:, ::-1]
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
    fixed = read(pair.fixed, pair.levels[0]).lazy(pair.planes[0])
    moving = read(pair.moving, pair.levels[1]).lazy(pair.planes[1])

    def steps() -> Generator[Progress, None, Any]:
        yield Progress("Reading the layers", 0, 0)
        shown = np.asarray(moving)[:, ::-1] if pair.start.mirrored else moving
        how = {"threads": threads(), "cancelled": cancelled, **keywords}
        run = api.register_steps(fixed, shown, operators, **how)
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
        tuple(
            size / step
            for size, step in zip(sizes, level_map(layer, level).diagonal()[:2], strict=True)
        )
        for sizes, layer, level in (
            (found.pixel_size_fixed, pair.fixed, pair.levels[0]),
            (found.pixel_size_moving, pair.moving, pair.levels[1]),
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
