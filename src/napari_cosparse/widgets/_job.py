"""From chosen layers and settings to the upsampling that a worker runs."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from napari.layers import Image
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.planes import plane_of_all
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import (
    Alignment,
    Settings,
    Upsampled,
    check_target,
)
from napari_cosparse.io import load_operators
from napari_cosparse.layers import (
    Grid,
    Placing,
    Source,
    blank_planes,
    grid_of,
    known_planes,
    match_stacks,
    overlap_of,
    place,
    read,
    steps_of,
)
from napari_cosparse.tiles import gather, known_samples, threaded_map

from ._configure import threads
from ._plane import begin, counted
from ._runner import Steps
from ._text import CHOOSE_TWO, SAME_LAYER

FINEST = 1 - 1e-6  # least factor


@dataclass(frozen=True)
class Pair:
    """Two layers that fit together.

    Attributes
    ----------
    target, guide : napari.layers.Image
        The layers.
    target_grid, guide_grid : Grid
        Their pixel grids in the world.
    placing : Placing or None
        Where the target lies on the guide; None leaves it to factor and phase.
    levels : tuple of int
        Pyramid levels of target and guide.
    """

    target: Image
    guide: Image
    target_grid: Grid
    guide_grid: Grid
    placing: Placing | None
    levels: tuple[int, int] = (0, 0)

    def sources(self) -> tuple[Source, Source]:
        """Pixels of both, not yet read."""
        return read(self.target, self.levels[0]), read(self.guide, self.levels[1])


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run gives.

    Attributes
    ----------
    results : tuple of Upsampled or None
        What the core returned, one for each plane; None where the target has no known sample on
        the guide.
    alignment : Alignment or None
        Whether the edges of target and guide coincide, of the first known plane; None where the
        guide had no say.
    known : tuple of Upsampled
        Those of the results that there are.
    blank : tuple of tuple of int
        Indices of the other planes in the result.
    """

    results: tuple[Upsampled | None, ...]
    alignment: Alignment | None
    known: tuple[Upsampled, ...]
    blank: tuple[tuple[int, ...], ...]


def pair_up(
    target: Image | None,
    guide: Image | None,
    *,
    positions: bool,
    levels: tuple[int, int] = (0, 0),
) -> Pair:
    """Check that two layers can be target and guide.

    Parameters
    ----------
    target, guide : napari.layers.Image or None
        What is chosen.
    positions : bool
        Whether the layers' transforms say where the target lies.
    levels : tuple of int
        Pyramid levels of target and guide.

    Returns
    -------
    Pair
        The layers and how they lie on one another.

    Raises
    ------
    InputError
        They cannot; the message says why.
    """
    if target is None or guide is None:
        raise InputError(CHOOSE_TWO)
    if target is guide:
        raise InputError(SAME_LAYER)
    low, fine = read(target, levels[0]), read(guide, levels[1])
    match_stacks(low, fine)
    grids = grid_of(target, levels[0]), grid_of(guide, levels[1])
    return Pair(target, guide, *grids, place(*grids) if positions else None, levels)


def placed(pair: Pair, settings: Settings) -> Settings:
    """Complete the settings by what the layers say; what was typed wins.

    Parameters
    ----------
    pair : Pair
        The layers.
    settings : Settings
        As typed.

    Returns
    -------
    Settings
        With factor and origin where the layers say them, or with a transform where the target's
        rows and columns do not run along the guide's.

    Raises
    ------
    InputError
        The target is finer than the guide, or does not lie on it.
    """
    settings = _placed_by_layers(pair, settings)
    guide, target = pair.guide_grid.shape, pair.target_grid.shape
    factor = settings.steps or (guide[0] / target[0], guide[1] / target[1])
    if settings.transform is not None:
        factor = steps_of(settings.transform)
    if min(factor) < FINEST:
        raise InputError(
            f"The target is finer than the guide (factor {factor[0]:.3g} x {factor[1]:.3g}): swap "
            "the layers, or correct scale and units of one of them."
        )
    if not _overlaps(pair, settings, factor):
        raise InputError(
            "The target does not lie on the guide: move one of the layers, register them, or "
            "choose Position: same field of view (Advanced)."
        )
    return settings


def _placed_by_layers(pair: Pair, settings: Settings) -> Settings:
    """Take from the layers what was not typed."""
    placing = pair.placing
    if settings.transform is not None or placing is None:
        return settings
    if placing.transform is not None:
        return replace(settings, factor=None, origin=None, transform=placing.transform)
    factor, origin = settings.factor or placing.factor, settings.origin or placing.origin
    return replace(settings, factor=factor, origin=origin)


def upsampling(
    pair: Pair,
    operators: str | Path | OperatorPair,
    settings: Settings,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Steps:
    """Prepare a run; pixels and operators are read when it starts, in the worker.

    Parameters
    ----------
    pair : Pair
        The layers.
    operators : str, Path or OperatorPair
        Name of a shipped operator pair, a file, or a pair.
    settings : Settings
        As `placed` completes them.
    cancelled : callable, optional
        Asked whether to stop.

    Returns
    -------
    callable
        Makes the generator of `Progress` that returns an `Outcome`.
    """
    target, guide = pair.sources()
    stack = match_stacks(target, guide)
    count = stack.planes
    parallel = threaded_map(threads(), cancelled)
    readers = [
        partial(gather, name=f"layer {source.name!r}", cancelled=cancelled)
        for source in (target, guide)
    ]

    def steps() -> Generator[Progress, None, Outcome]:
        yield Progress("Reading the layers", 0, 0)
        bank = load_operators(operators)
        results: list[Upsampled | None] = []
        alignment = None
        places = zip(np.ndindex(*stack.shape), stack.pairs(), strict=True)
        for number, (index, (ours, theirs)) in enumerate(places):
            samples, run = target.load_gray(ours, reader=readers[0]), None
            if count == 1 or known_samples(samples, settings.invalid).any():
                images = samples, guide.load(theirs, reader=readers[1])
                run = begin(images, bank, settings, parallel, alone=count == 1)
            if run is None:
                where = plane_of_all(index, number, count)
                yield Progress(f"{where}, nothing is known", 0, 0)
                results.append(None)
                continue
            first = all(earlier is None for earlier in results)
            result = yield from counted(run, index, number, count)
            results.append(result)
            if first and result.guided:
                yield Progress("Comparing the edges", 0, 0)
                alignment = _alignment(images, result, settings)
        known = tuple(known_planes(results, target.name))
        return Outcome(tuple(results), alignment, known, blank_planes(results, stack.shape))

    return steps


def _alignment(
    images: tuple[NDArray[Any], NDArray[Any]], result: Upsampled, settings: Settings
) -> Alignment:
    """Check whether the edges of target and guide coincide."""
    where: dict[str, Any] = {"transform": settings.transform}
    if settings.transform is None:
        where = {"factor": result.factor, "origin": result.origin}
    return check_target(*images, **where, invalid=settings.invalid)


def _overlaps(pair: Pair, settings: Settings, factor: tuple[float, float]) -> bool:
    """Whether any sample lies on the guide."""
    guide, target = pair.guide_grid.shape, pair.target_grid.shape
    if settings.transform is not None:
        back = np.linalg.inv(settings.transform)
        return overlap_of(settings.transform, guide, target) + overlap_of(back, target, guide) > 0
    if settings.origin is None:
        return True
    for n, m, d, start in zip(guide, target, factor, settings.origin, strict=True):
        if start + (m - 1) * d < -0.5 - d / 2 or start > n - 0.5 + d / 2:
            return False
    return True
