"""The alignment check for a target that has not been upsampled."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._alignment import Alignment, check_alignment
from ._interpolate import bicubic, fill_nearest
from ._place import place
from ._placing import Phase
from ._scale import as_array, check_guide_shape, scale_target
from ._settings import Factor, Settings, read_transform

TOUCHED = 1e-3  # weight of unknown samples beyond which an interpolated pixel is unknown


def check_target(
    target: ArrayLike,
    guide: ArrayLike,
    *,
    factor: Factor | None = None,
    phase: Phase = "centre",
    invalid: float | None = None,
    origin: tuple[float, float] | None = None,
    transform: ArrayLike | None = None,
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
    transform : array_like, shape (3, 3), optional
        Maps guide pixel to target pixel, as for `upsample`.
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
    matrix = None if transform is None else read_transform(transform)
    settings = Settings(factor=factor, phase=phase, origin=origin, transform=matrix)
    coverage, places = place(image.shape[:2], shape, settings)
    plain = bicubic(fill_nearest(scaled.samples, scaled.known), places)
    if not scaled.known.all():
        plain[np.abs(bicubic((~scaled.known).astype(np.float32), places)) > TOUCHED] = np.nan
    return check_alignment(coverage.paste(plain), image, tolerance)
