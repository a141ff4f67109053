"""What the upsampling panel says about a pair of layers and about a result."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from napari_cosparse.core.planes import plane_name
from napari_cosparse.core.reconstruction import Alignment, Settings, Upsampled
from napari_cosparse.layers import Placing, match_stacks, overlap_of, steps_of

if TYPE_CHECKING:
    from ._job import Pair

CHOOSE_TWO = (
    "Choose two image layers: a low-resolution target and a high-resolution guide. "
    "File > Open Sample has a pair to try."
)
SAME_LAYER = "Target and guide are the same layer: choose two layers."
NAMED = 5  # planes that are named one by one
FULL = 0.98  # share of the guide from which on the target is taken to cover it


def pair_text(pair: "Pair", settings: Settings) -> str:
    """Say how target and guide lie on one another.

    Parameters
    ----------
    pair : Pair
        The layers.
    settings : Settings
        As `placed` completes them.

    Returns
    -------
    str
        A few words and sentences.
    """
    target, guide = pair.target_grid.shape, pair.guide_grid.shape
    parts = [f"{target[0]} x {target[1]} onto {guide[0]} x {guide[1]} pixels"]
    parts[0], covered = _lies(pair, settings, parts[0])
    if pair.placing is not None and pair.placing.note:
        parts.append(pair.placing.note)
    if covered < FULL:
        parts.append(f"The target covers {covered:.0%} of the guide; far from it stays NaN.")
    planes = match_stacks(*pair.sources()).planes
    if planes > 1:
        parts.append(f"{planes} planes, one after the other.")
    if pair.target.rgb:
        parts.append("The target is in colour: its luminance is upsampled.")
    return " ".join(parts)


def _lies(pair: "Pair", settings: Settings, sizes: str) -> tuple[str, float]:
    """Say where the samples lie, and which share of the guide they cover."""
    target, guide = pair.target_grid.shape, pair.guide_grid.shape
    if settings.transform is not None:
        rows, columns = steps_of(settings.transform)
        told = f"{sizes}. {turned_text(pair, settings)}, factor {rows:.4g} x {columns:.4g} along "
        told += "its own axes."
        return told, overlap_of(settings.transform, guide, target)
    if settings.origin is None or settings.steps is None:
        given = settings.steps
        told = f"{sizes}, taken to show the same field of view"
        told += "." if given is None else f", factor {given[0]:.4g} x {given[1]:.4g}."
        return told, 1.0
    (rows, columns), (top, left) = settings.steps, settings.origin
    told = f"{sizes}: factor {rows:.4g} x {columns:.4g}, first sample at guide pixel "
    told += f"({top:.4g}, {left:.4g})."
    return told, coverage(Placing(settings.steps, settings.origin), target, guide)


def turned_text(pair: "Pair", settings: Settings) -> str:
    """Say why a transform is needed.

    Parameters
    ----------
    pair : Pair
        The layers.
    settings : Settings
        As `placed` completes them, with a transform.

    Returns
    -------
    str
        A sentence without its full stop.
    """
    placing = pair.placing
    known, used = None if placing is None else placing.transform, settings.transform
    if placing is None or known is None or used is None or not np.array_equal(known, used):
        return "The target lies as the typed transform says"
    return f"The target is {placing.because} against the guide"


def coverage(placing: Placing, target: tuple[int, int], guide: tuple[int, int]) -> float:
    """Share of the guide's pixels that lie under the target.

    Parameters
    ----------
    placing : Placing
        Where the target lies.
    target, guide : tuple of int
        Shapes, in pixels.

    Returns
    -------
    float
        Between 0 and 1.
    """
    shares = []
    for axis in (0, 1):
        start = placing.origin[axis] - placing.factor[axis] / 2
        end = start + placing.factor[axis] * target[axis]
        overlap = min(end, guide[axis] - 0.5) - max(start, -0.5)
        shares.append(max(overlap, 0.0) / guide[axis])
    return prod(shares)


def blank_text(places: Sequence[tuple[int, ...]]) -> str:
    """Name planes of which nothing is known.

    Parameters
    ----------
    places : sequence of tuple of int
        Their indices.

    Returns
    -------
    str
        A sentence; empty if there are none.
    """
    if not places:
        return ""
    named = ", ".join(plane_name(place) for place in places[:NAMED])
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    which = f"Plane {named} has" if len(places) == 1 else f"Planes {named}{more} have"
    return f"{which} no known sample on the guide and stay{'s' * (len(places) == 1)} unknown."


def verdict(results: Sequence[Upsampled], alignment: Alignment | None = None) -> str:
    """Say how a run ended and how well the result fits the target.

    Parameters
    ----------
    results : sequence of Upsampled
        What the core returned, one for each plane.
    alignment : Alignment, optional
        What `check_target` found; told if the edges do not coincide.

    Returns
    -------
    str
        Two or three sentences.
    """
    worst = max(results, key=lambda result: result.misfit)
    noise = "estimated" if worst.noise_estimated else "given"
    steps = sum(result.iterations for result in results)
    parts = [
        f"Done: {steps} iterations, {worst.stop}.",
        f"Misfit to the target at most {worst.misfit:.3g}, noise {worst.noise:.3g} ({noise}).",
    ]
    if not worst.guided:
        parts.append("The guide had no say: it is constant or was left out.")
    if alignment is not None and not alignment.coincide:
        parts.append(f"Warning: {alignment.because}.")
    return " ".join(parts)
