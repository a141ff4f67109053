"""A look at whether target and guide show their edges in the same places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.api import Alignment, Upsampled, check_alignment
from napari_cosparse.core.reconstruction import bicubic, sampling_operator

_TOUCHED = 1e-3  # weight of unknown samples beyond which an interpolated pixel is unknown


def alignment(
    target: NDArray[Any], guide: NDArray[Any], result: Upsampled, invalid: float | None
) -> Alignment:
    """Compare the edges of the target, plainly interpolated, with those of the guide.

    Not those of the result: the guide has drawn them where it has its own.

    Parameters
    ----------
    target : ndarray, shape (m1, m2)
        As it was read.
    guide : ndarray, shape (N1, N2) or (N1, N2, channels)
        As it was read.
    result : Upsampled
        Gives the places of the samples.
    invalid : float or None
        Value of the target that means unknown.

    Returns
    -------
    Alignment
        The verdict.
    """
    samples = target.astype(np.float32)
    known = np.isfinite(samples) & (target != invalid if invalid is not None else True)
    shape = (target.shape[0], target.shape[1])
    size = (guide.shape[0], guide.shape[1])
    places = sampling_operator(size, shape, result.factor, origin=result.origin)
    image = bicubic(np.where(known, samples, samples[known].mean()), places)
    unknown = bicubic((~known).astype(np.float32), places)
    image[np.abs(unknown) > _TOUCHED] = np.nan
    return check_alignment(image, guide)
