"""Place a target's samples on the guide's grid."""

from __future__ import annotations

from math import ceil
from typing import Literal, get_args

import numpy as np

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.mapping import Map

from ._axis import Axis
from ._kernels import EDGE, Blur
from ._sampling import SamplingOperator

Phase = Literal["centre", "corner"]


def choose_factor(guide: tuple[int, int], target: tuple[int, int]) -> tuple[float, float]:
    """Factor between two grids (contract, "Phase and factor").

    Parameters
    ----------
    guide, target : tuple of int
        Shapes (N1, N2) and (m1, m2), in pixels.

    Returns
    -------
    tuple of float
        The integer d with ceil(N/d) = m on both axes if there is one, else N/m per axis.
    """
    ratios = (guide[0] / target[0], guide[1] / target[1])
    sizes = list(zip(guide, target, strict=True))
    least = max(ceil(n / m) for n, m in sizes)
    most = min(((n - 1) // (m - 1) for n, m in sizes if m > 1), default=least)
    if least <= most:
        whole = float(min(max(round(sum(ratios) / 2), least), most))
        return whole, whole
    return ratios


def sampling_operator(
    guide: tuple[int, int],
    target: tuple[int, int],
    factor: tuple[float, float],
    *,
    phase: Phase = "centre",
    origin: tuple[float, float] | None = None,
    blur: Blur = "box",
    map_: Map = map,
) -> SamplingOperator:
    """Make the sampling operator between two grids.

    Parameters
    ----------
    guide, target : tuple of int
        Shapes (N1, N2) and (m1, m2), in pixels.
    factor : tuple of float
        Distance of two samples along rows and columns, in pixels of the guide; at least 1.
    phase : {"centre", "corner"}
        Sample i lies at ``i d + (d-1)/2`` (a sensor's pixel) or at ``i d`` (the paper).
    origin : tuple of float, optional
        Position of sample (0, 0) on the guide's pixel grid; overrides `phase`.
    blur : {"gaussian", "box", "bicubic", "none"}
        Kernel of a sample.
    map_ : callable
        Like the built-in `map`; runs the parts of an image, perhaps in threads.

    Returns
    -------
    SamplingOperator

    Raises
    ------
    InputError
        If a name is unknown, a factor is below 1, or no sample lies on the guide.
    """
    _check_names(phase, blur)
    starts = origin or tuple(0.0 if phase == "corner" else (d - 1) / 2 for d in factor)
    axes = []
    for n, m, d, start, name in zip(
        guide, target, factor, starts, ("rows", "columns"), strict=True
    ):
        _check_factor(n, m, d, name)
        if origin is None:
            _check_fit(n, m, d, name)
        axes.append(Axis(n, m, d, float(start), blur))
    operator = SamplingOperator(axes[0], axes[1], map_)
    if not operator.inside.any():
        raise InputError(
            f"no sample of the target lies on the guide: origin {starts}, factor {factor}, "
            f"guide {guide}. Align the layers first."
        )
    return operator


def _check_factor(n: int, m: int, d: float, name: str) -> None:
    """Refuse samples that lie closer than pixels of the guide."""
    if not d > 0:
        raise InputError(f"factor {d:g} along the {name} must be at least 1")
    if not (np.isfinite(d) and d >= 1 - EDGE):
        raise InputError(
            f"factor {d:g} along the {name} is below 1: the target ({m}) would be finer than "
            f"the guide ({n}). Swap the images, or reduce the target first."
        )


def _check_fit(n: int, m: int, d: float, name: str) -> None:
    """Refuse a target that covers more or less than the guide."""
    if not (m - 1) * d - 0.5 <= n - 1 + EDGE + d / 2:
        raise InputError(
            f"factor {d:g} puts {m} target {name} on {m * d:g} pixels, but the guide has {n}. "
            f"Give the factor {n / m:g}, or leave it out."
        )
    if m * d < n - d - EDGE:
        raise InputError(
            f"factor {d:g} puts {m} target {name} on {m * d:g} of the guide's {n} pixels. "
            f"Give the factor {n / m:g}, crop the guide, or give the origin of the target."
        )


def _check_names(phase: str, blur: str) -> None:
    """Refuse unknown names of phase and blur."""
    for kind, value, allowed in (
        ("phase", phase, get_args(Phase)),
        ("blur", blur, get_args(Blur)),
    ):
        if value not in allowed:
            raise InputError(f"{kind} {value!r} is unknown; choose one of {', '.join(allowed)}")
