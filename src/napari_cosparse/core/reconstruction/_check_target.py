"""The alignment check for a target that has not been upsampled."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from napari_cosparse.core.errors import InputError

from ._alignment import Alignment, check_alignment
from ._coverage import Coverage, cover
from ._interpolate import bicubic, fill_nearest
from ._placing import Phase, choose_factor, sampling_operator
from ._sampling import SamplingOperator
from ._scale import as_array, check_guide_shape, scale_target
from ._settings import Factor, two

TOUCHED = 1e-3  # weight of unknown samples beyond which an interpolated pixel is unknown


def check_target(
    target: ArrayLike,
    guide: ArrayLike,
    *,
    factor: Factor | None = None,
    phase: Phase = "centre",
    invalid: float | None = None,
    origin: tuple[float, float] | None = None,
    tolerance: float = 2.0,
) -> Alignment:
    """Compare the edges of a target, interpolated without the guide, with those of the guide.

    Not those of the upsampled target: the guide has drawn them where it has its own.

    Parameters
    ----------
    target : array_like, shape (m1, m2)
        Low resolution; any real numeric type and unit.
    guide : array_like, shape (N1, N2) or (N1, N2, channels)
        High resolution.
    factor : float or tuple of float, optional
        Distance of two target samples, in guide pixels; from the shapes if None.
    phase : {"centre", "corner"}
        Where the first sample lies, as for `upsample`.
    invalid : float, optional
        Value of the target that means unknown; NaN and infinities always do.
    origin : tuple of float, optional
        Position of target sample (0, 0) on the guide's grid, in pixels; overrides `phase`.
    tolerance : float
        Shift that is not worth a warning, in guide pixels.

    Returns
    -------
    Alignment
        Its `coincide` is True where in doubt.

    Raises
    ------
    InputError
        If the target has no known sample or does not overlap the guide, or a shape is wrong.
    """
    scaled, image = scale_target(target, invalid), as_array(guide, "guide")
    check_guide_shape(image.shape)
    shape = (scaled.samples.shape[0], scaled.samples.shape[1])
    coverage, places = _place(image.shape[:2], shape, factor, phase, origin)
    plain = bicubic(fill_nearest(scaled.samples, scaled.known), places)
    if not scaled.known.all():
        plain[np.abs(bicubic((~scaled.known).astype(np.float32), places)) > TOUCHED] = np.nan
    return check_alignment(coverage.paste(plain), image, tolerance)


def _place(
    guide: tuple[int, int],
    target: tuple[int, int],
    factor: Factor | None,
    phase: Phase,
    origin: tuple[float, float] | None,
) -> tuple[Coverage, SamplingOperator]:
    """Where the samples lie on the guide."""
    steps = choose_factor(guide, target) if factor is None else two(factor)
    coverage = cover(guide, target, steps, None if origin is None else two(origin, "origin"))
    if coverage is None:
        raise InputError(
            f"the target does not overlap the guide: its sample (0, 0) lies at {origin} "
            f"on a guide of {guide} pixels; align the images first"
        )
    inner = None if origin is None else coverage.origin
    return coverage, sampling_operator(coverage.size, target, steps, phase=phase, origin=inner)
