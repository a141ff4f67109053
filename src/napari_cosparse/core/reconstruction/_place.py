"""Place a target on its guide, however it lies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import ApartError, InputError
from napari_cosparse.core.mapping import Map

from ._coverage import Coverage, cover, cover_turned
from ._kernels import EDGE, Blur
from ._placing import choose_factor, sampling_operator
from ._sampling_protocol import Sampling
from ._settings import Settings
from ._turned import TurnedSampling

WHOLE = 1e-6  # pixels by which a sample may be wider than the guide
STRAIGHT = 0.01  # samples by which a target may be turned, at its far end, and count as straight


def place(
    guide: tuple[int, int], target: tuple[int, int], settings: Settings, map_: Map = map
) -> tuple[Coverage, Sampling]:
    """Find where the samples lie on the guide.

    Parameters
    ----------
    guide, target : tuple of int
        Shapes, in pixels.
    settings : Settings
        Factor, phase, origin, transform and blur.
    map_ : callable
        Like the built-in `map`; the operator works through it.

    Returns
    -------
    coverage : Coverage
        Part of the guide near the target.
    operator : Sampling
        Phi on that part.

    Raises
    ------
    InputError
        If the two do not overlap or the factor does not fit.
    """
    factor, origin = settings.steps or choose_factor(guide, target), settings.origin
    if settings.transform is not None:
        straight = straighten(settings.transform, target)
        if straight is None:
            return _place_turned(guide, target, settings.transform, settings.blur, map_)
        factor, origin = straight
        _check_fine(factor)
    if origin is not None:
        _check_wide(guide, factor, guide)
    coverage = cover(guide, target, factor, origin)
    if coverage is None:
        raise _apart(guide, origin)
    operator = sampling_operator(
        coverage.size,
        target,
        factor,
        phase=settings.phase,
        origin=None if origin is None else coverage.origin,
        blur=settings.blur,
        map_=map_,
    )
    return coverage, operator


def straighten(
    transform: NDArray[np.float64], target: tuple[int, int]
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Read factor and origin from a transform that turns nothing.

    Parameters
    ----------
    transform : ndarray, shape (3, 3)
        Maps guide pixel (row, column, 1) to target pixel (row, column, 1).
    target : tuple of int
        Shape, in pixels.

    Returns
    -------
    tuple of (factor, origin), or None
        Both along rows and columns, in guide pixels; None where the target is turned, sheared or
        mirrored against the guide.
    """
    back = np.linalg.inv(transform)
    steps = np.diag(back)[:2]
    if (steps <= 0).any():
        return None
    slant = abs(back[0, 1]) * target[1] / steps[0], abs(back[1, 0]) * target[0] / steps[1]
    if max(slant) > STRAIGHT:
        return None
    return (float(steps[0]), float(steps[1])), (float(back[0, 2]), float(back[1, 2]))


def _place_turned(
    guide: tuple[int, int],
    target: tuple[int, int],
    transform: NDArray[np.float64],
    blur: Blur,
    map_: Map,
) -> tuple[Coverage, Sampling]:
    down, right = np.linalg.norm(np.linalg.inv(transform)[:2, :2], axis=0)
    steps = float(down), float(right)
    _check_fine(steps)
    _check_wide(guide, steps, (max(guide), max(guide)))
    coverage = cover_turned(guide, target, transform)
    if coverage is None or coverage.turned is None:
        back = np.linalg.inv(transform)
        raise _apart(guide, (back[0, 2], back[1, 2]))
    operator = TurnedSampling(coverage.size, target, coverage.turned[0], blur, map_)
    return coverage, operator


def _check_fine(steps: tuple[float, float]) -> None:
    """Refuse a transform to pixels smaller than the guide's."""
    if min(steps) < 1 - EDGE:
        raise InputError(
            f"the transform makes a target pixel {steps[0]:.4g} x {steps[1]:.4g} guide pixels: the "
            "target would be finer than the guide. The transform maps guide pixels to target "
            "pixels: is it the other way round? Else swap the images, or reduce the target first."
        )


def _check_wide(guide: tuple[int, int], factor: tuple[float, float], most: tuple[int, int]) -> None:
    """Refuse samples that are wider than all of the guide: it has nothing to say inside one."""
    if factor[0] > most[0] + WHOLE or factor[1] > most[1] + WHOLE:
        raise InputError(
            f"a target pixel would be {factor[0]:.4g} x {factor[1]:.4g} guide pixels, more than "
            f"the whole guide ({guide[0]} x {guide[1]}). Check the factor, or whether the "
            "transform maps guide pixels to target pixels, and not lengths."
        )


def _apart(guide: tuple[int, int], origin: tuple[float, float] | None) -> ApartError:
    at = origin and f"({origin[0]:.6g}, {origin[1]:.6g})"
    return ApartError(
        f"the target does not overlap the guide: its sample (0, 0) lies at {at} on a guide of "
        f"{guide} pixels. Align the layers first."
    )
