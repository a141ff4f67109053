"""Make a low-resolution image from a high-resolution one."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError

from ._kernels import Blur
from ._placing import Phase, sampling_operator
from ._scale import as_numbers
from ._settings import Factor, two


def degrade(
    image: ArrayLike,
    factor: Factor,
    *,
    phase: Phase = "centre",
    blur: Blur = "box",
    noise: float = 0.0,
    seed: int = 0,
) -> NDArray[np.float32]:
    """Blur, sub-sample and disturb an image as the sampling operator says.

    Parameters
    ----------
    image : array_like, shape (N1, N2)
        High resolution, any unit.
    factor : float or tuple of float
        Distance of two samples, in pixels, along rows and columns.
    phase : {"centre", "corner"}
        Place of sample (0, 0).
    blur : {"box", "gaussian", "bicubic", "none"}
        What a sample averages.
    noise : float
        Standard deviation of white noise that is added, in the image's unit.
    seed : int
        Seed of the noise.

    Returns
    -------
    ndarray, shape (ceil(N1 / d1), ceil(N2 / d2)), float32
        Same unit.

    Raises
    ------
    InputError
        If the image is not a plane of real numbers, a factor is below 1 or the noise negative.
    """
    fine, steps = as_numbers(image, "image"), two(factor)
    if fine.ndim != 2 or 0 in fine.shape:
        raise InputError(f"image has shape {fine.shape}; it must be one plane (rows, columns)")
    if not all(np.isfinite(d) and d >= 1 for d in steps):
        raise InputError(f"factor {factor} must be finite and at least 1 along both axes")
    if not (np.isfinite(noise) and noise >= 0):
        raise InputError(f"noise {noise} must be a standard deviation: finite and at least 0")
    height, width = (ceil(n / d - 1e-9) for n, d in zip(fine.shape, steps, strict=True))
    shape = (fine.shape[0], fine.shape[1])
    operator = sampling_operator(shape, (height, width), steps, phase=phase, blur=blur)
    samples = operator.forward(fine)
    samples += noise * np.random.default_rng(seed).standard_normal(samples.shape)
    return samples.astype(np.float32)
