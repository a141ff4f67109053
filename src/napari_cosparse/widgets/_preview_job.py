"""A preview: a part of the layers, computed as a run computes the whole."""

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from time import perf_counter
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
    Upsampled,
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
from ._pace import LEAST, SECONDS, Slow, unless_slow
from ._preview import Index, Part
from ._preview_axis import LONGEST
from ._runner import Steps


@dataclass(frozen=True, eq=False)
class Previewed(Outcome):
    """What a preview gives.

    Attributes
    ----------
    corner : tuple of int
        Row and column of the guide where it begins.
    """

    corner: tuple[int, int]


@dataclass(frozen=True, eq=False)
class _Cut:
    """A part of target and guide, and its values."""

    part: Part
    samples: NDArray[Any]
    guide: NDArray[Any]


def previewing(
    pair: Pair,
    operators: str | Path | OperatorPair,
    settings: Settings,
    choose: Callable[[int], Part],
    planes: tuple[Index, Index],
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Steps:
    """Prepare a preview: a part of what a run would give, as large as the machine manages in time.

    Parameters
    ----------
    pair : Pair
        The layers.
    operators : str, Path or OperatorPair
        Name of a shipped operator pair, a file, or a pair.
    settings : Settings
        Of the run.
    choose : callable
        Gives the part to compute for a number of guide pixels along each axis, as
        `part_to_preview` does.
    planes : tuple of tuple of int
        Which planes of target and guide.
    cancelled : callable, optional
        Asked whether to stop.

    Returns
    -------
    callable
        Makes the generator of `Progress` that returns a `Previewed`; it raises `InputError` where
        nothing is known in the part.
    """
    parallel = threaded_map(threads(), cancelled)

    def steps() -> Generator[Progress, None, Previewed]:
        began = perf_counter()
        yield Progress("Reading the layers", 0, 0)
        bank = load_operators(operators)
        cut = _read(pair, settings, planes, choose(LONGEST))
        if cut is None:
            raise InputError(_unknown(pair.sources()[0].name, planes[0]))
        yield Progress("Measuring the layers", 0, 0)
        whole = _measured(pair, bank, settings, cut, planes, parallel)

        def solving(cut: _Cut) -> Generator[Progress, None, Upsampled]:
            at = cut.part.guide[0].start, cut.part.guide[1].start
            images, own = (cut.samples, cut.guide), cut.part.settings
            return upsample_steps(*images, bank, own, map_=parallel, whole=whole, corner=at)

        left = began + SECONDS - perf_counter() if _smaller(choose, LEAST, cut.part) else inf
        made = yield from unless_slow(solving(cut), left)
        if isinstance(made, Slow):
            less = _smaller(choose, made.side(began + SECONDS - perf_counter()), cut.part)
            cut = (less and _read(pair, settings, planes, less)) or cut
            made = yield from solving(cut)
        shown = replace(made, image=cut.part.cut(made.image))
        return Previewed((shown,), None, (shown,), (), cut.part.corner)

    return steps


def _smaller(choose: Callable[[int], Part], side: int, than: Part) -> Part | None:
    """Choose a part with fewer pixels; None where there is none, as beside a turned target."""
    with suppress(InputError):
        part = choose(side)
        if _pixels(part) < _pixels(than):
            return part
    return None


def _pixels(part: Part) -> int:
    rows, columns = part.guide
    return int((rows.stop - rows.start) * (columns.stop - columns.start))


def _read(pair: Pair, settings: Settings, planes: tuple[Index, Index], part: Part) -> _Cut | None:
    """Read a part of target and guide; None where no sample of it is known."""
    target, guide = pair.sources()
    samples = target.load_gray(planes[0], part.target)
    if not known_samples(samples, settings.invalid).any():
        return None
    return _Cut(part, samples, guide.load(planes[1], part.guide))


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
    cut: _Cut,
    planes: tuple[Index, Index],
    map_: Map,
) -> Scalars | None:
    """Measure what a run would: layers in memory as a whole, of others what lies around the part.

    None where the part is the whole.
    """
    target, guide = pair.sources()
    part = cut.part
    sides = *zip(target.shape, part.target, strict=True), *zip(guide.shape, part.guide, strict=True)
    if all(side == slice(0, n) for n, side in sides):
        return None
    if isinstance(target.pixels, np.ndarray) and isinstance(guide.pixels, np.ndarray):
        images = target.load_gray(planes[0]), guide.load(planes[1])
        return measure_whole(*images, bank, settings, map_)
    span = guide_range(guide_planes(cut.guide), map_) if settings.guided else None
    samples = target.load_gray(planes[0], part.around)
    return measure(samples, span, bank, settings, _factor(part.settings), map_)


def _factor(settings: Settings) -> tuple[float, float]:
    """Distances of two samples, in guide pixels."""
    if settings.transform is not None:
        return steps_of(settings.transform)
    return settings.steps or (1.0, 1.0)
