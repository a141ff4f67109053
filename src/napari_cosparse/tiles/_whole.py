"""What a run in memory measures, for a part that is solved alone."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.reconstruction import (
    Scalars,
    Settings,
    groups_for,
    guide_planes,
    guide_range,
    measure,
    place,
)

from ._lie import count_on_guide, spread_over
from ._look import is_sampled, known_samples
from ._sources import Source

RANGED = 1 << 20  # pixels of a guide: of more, rows all over it tell the range


def measure_whole(
    target: NDArray[Any],
    guide: NDArray[Any],
    operators: OperatorPair,
    settings: Settings,
    map_: Map = map,
) -> Scalars:
    """Measure images in memory as a run in memory does; large ones by parts all over them.

    Parameters
    ----------
    target : ndarray, shape (m1, m2)
        All of it.
    guide : ndarray, shape (N1, N2) or (N1, N2, channels)
        All of it.
    operators : OperatorPair
        The bank.
    settings : Settings
        Of the run.
    map_ : callable
        Like the built-in `map`; who runs it may stop between two steps.

    Returns
    -------
    Scalars

    Raises
    ------
    InputError
        If the target has no known sample, or does not lie on the guide.
    """
    coverage, sampling = place(guide.shape[:2], target.shape, settings, map_)
    span = None
    if settings.guided:
        planes = guide_planes(guide)
        span = guide_range(planes[:: ceil(planes.shape[0] * planes.shape[1] / RANGED)], map_)
    known, seen = known_samples(target, settings.invalid), _pieces(target)
    if not known_samples(seen, settings.invalid).any():
        seen = target
    whole = measure(seen, span, operators, settings, sampling.factor, map_)
    responses = groups_for(operators, sampling.factor).weight_sum * coverage.pixels

    def count(mask: NDArray[np.bool_]) -> int:
        if settings.transform is None or coverage.turned is None:
            return int(np.count_nonzero(mask & sampling.inside))
        return count_on_guide(mask, settings.transform, guide.shape[:2])

    return spread_over(whole, known, responses, count)


def _pieces(image: NDArray[Any]) -> NDArray[Any]:
    """All of a small image, some rows of a large one: those that a run into a store looks at."""
    source = Source(image, "", colour=False)
    starts = range(0, len(image), source.piece)
    chosen = [start for number, start in enumerate(starts) if is_sampled(number, source.plane)]
    if len(chosen) == len(starts):
        return image
    return np.concatenate([image[start : start + source.piece] for start in chosen])
