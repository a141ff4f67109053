"""What the upsampling panel says about a pair of layers and about a result."""

from math import prod
from typing import TYPE_CHECKING

from napari_cosparse.core.reconstruction import Alignment, Upsampled
from napari_cosparse.layers import Placing

if TYPE_CHECKING:
    from ._job import Pair

CHOOSE_TWO = (
    "Choose two image layers: a low-resolution target and a high-resolution guide. "
    "File > Open Sample has a pair to try."
)
SAME_LAYER = "Target and guide are the same layer: choose two layers."
FULL = 0.98  # share of the guide from which on the target is taken to cover it


def pair_text(pair: "Pair") -> str:
    """Say how target and guide lie on one another.

    Parameters
    ----------
    pair : Pair
        The layers.

    Returns
    -------
    str
        A few words and sentences.
    """
    target, guide = pair.target_grid.shape, pair.guide_grid.shape
    parts = [f"{target[0]} x {target[1]} onto {guide[0]} x {guide[1]} pixels"]
    if pair.placing is None:
        parts[0] += ", taken to show the same field of view."
    else:
        (rows, columns), (top, left) = pair.placing.factor, pair.placing.origin
        parts[0] += (
            f": factor {rows:.4g} x {columns:.4g}, first sample at guide pixel "
            f"({top:.4g}, {left:.4g})."
        )
        covered = coverage(pair.placing, target, guide)
        if covered < FULL:
            parts.append(f"The target covers {covered:.0%} of the guide; far from it stays NaN.")
    if pair.target.rgb:
        parts.append("The target is in colour: its luminance is upsampled.")
    return " ".join(parts)


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


def verdict(result: Upsampled, alignment: Alignment | None = None) -> str:
    """Say how a run ended and how well the result fits the target.

    Parameters
    ----------
    result : Upsampled
        What the core returned.
    alignment : Alignment, optional
        What `check_target` found; told if the edges do not coincide.

    Returns
    -------
    str
        Two or three sentences.
    """
    noise = "estimated" if result.noise_estimated else "given"
    parts = [
        f"Done: {result.iterations} iterations, {result.stop}.",
        f"Misfit to the target at most {result.misfit:.3g}, noise {result.noise:.3g} ({noise}).",
    ]
    if not result.guided:
        parts.append("The guide had no say: it is constant or was left out.")
    if alignment is not None and not alignment.coincide:
        parts.append(f"Warning: {alignment.because}.")
    return " ".join(parts)
