"""A preview: a part of the layers, computed as a run computes the whole."""

from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.planes import plane_name
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import (
    Scalars,
    Settings,
    guide_planes,
    guide_range,
    measure,
    upsample_steps,
)
from napari_cosparse.io import load_operators
from napari_cosparse.layers import steps_of
from napari_cosparse.tiles import known_samples, measure_whole, threaded_map

from ._configure import threads
from ._job import Outcome, Pair
from ._preview import Index, Part
from ._runner import Steps


def previewing(
    pair: Pair,
    operators: str | Path | OperatorPair,
    settings: Settings,
    part: Part,
    planes: tuple[Index, Index],
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Steps:
    """Prepare a preview: a part of what a run would give.

    Parameters
    ----------
    pair : Pair
        The layers.
    operators : str, Path or OperatorPair
        Name of a shipped operator pair, a file, or a pair.
    settings : Settings
        Of the run.
    part : Part
        What is computed.
    planes : tuple of tuple of int
        Which planes of target and guide.
    cancelled : callable, optional
        Asked whether to stop.

    Returns
    -------
    callable
        Makes the generator of `Progress` that returns an `Outcome`; it raises `InputError` where
        nothing is known in the part.
    """
    target, guide = pair.sources()
    parallel = threaded_map(threads(), cancelled)

    def steps() -> Generator[Progress, None, Outcome]:
        yield Progress("Reading the layers", 0, 0)
        bank = load_operators(operators)
        samples = target.load_gray(planes[0], part.target)
        if not known_samples(samples, settings.invalid).any():
            raise InputError(_unknown(target.name, planes[0]))
        image = guide.load(planes[1], part.guide)
        yield Progress("Measuring the layers", 0, 0)
        whole = _measured(pair, bank, settings, part, planes, image, parallel)
        corner = part.guide[0].start, part.guide[1].start
        run = upsample_steps(
            samples, image, bank, part.settings, map_=parallel, whole=whole, corner=corner
        )
        result = yield from run
        shown = replace(result, image=part.cut(result.image))
        return Outcome((shown,), None, (shown,), ())

    return steps


def _unknown(name: str, plane: Index) -> str:
    """Say in plain words that nothing is known in a part."""
    which, other = f"{name!r}", "part"
    if plane:
        which, other = f"Plane {plane_name(plane)} of {which}", "plane or part"
    return (
        f"{which} has no known sample in the middle of the view: all there are NaN, "
        f"infinite or the unknown value. Show another {other}, or check Unknown value."
    )


def _measured(
    pair: Pair,
    bank: OperatorPair,
    settings: Settings,
    part: Part,
    planes: tuple[Index, Index],
    image: NDArray[Any],
    map_: Map,
) -> Scalars | None:
    """Measure what a run would: layers in memory as a whole, of others what lies around the part.

    None where the part is the whole.
    """
    target, guide = pair.sources()
    sides = *zip(target.shape, part.target, strict=True), *zip(guide.shape, part.guide, strict=True)
    if all(side == slice(0, n) for n, side in sides):
        return None
    if isinstance(target.pixels, np.ndarray) and isinstance(guide.pixels, np.ndarray):
        images = target.load_gray(planes[0]), guide.load(planes[1])
        return measure_whole(*images, bank, settings, map_)
    span = guide_range(guide_planes(image), map_) if settings.guided else None
    samples = target.load_gray(planes[0], part.around)
    return measure(samples, span, bank, settings, _factor(part.settings), map_)


def _factor(settings: Settings) -> tuple[float, float]:
    """Distances of two samples, in guide pixels."""
    if settings.transform is not None:
        return steps_of(settings.transform)
    return settings.steps or (1.0, 1.0)
