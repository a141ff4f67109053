"""Types of images: what may fill the outside, and what limits cubic interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

DType = np.dtype[Any]


def fill_value(fill: float | None, dtype: DType) -> Any:  # noqa: ANN401 - a number of any type
    """Value outside the image.

    Parameters
    ----------
    fill : float, int, bool or None
        None means NaN for floating-point types, 0 for integers, False for masks.
    dtype : dtype
        Type of the image.

    Returns
    -------
    number
        In that type.

    Raises
    ------
    InputError
        If it is no number, or the type cannot hold it.
    """
    if fill is None:
        return dtype.type(np.nan if dtype.kind == "f" else 0)
    if np.ndim(fill) or np.asarray(fill).dtype.kind not in "buif":
        raise InputError(f"fill {fill!r} must be one number: the value outside the image, or None")
    if dtype.kind == "f":
        return dtype.type(fill)
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not np.isfinite(fill) or int(fill) != fill or not low <= fill <= high:
        raise InputError(
            f"fill {fill} does not fit an image of type {dtype}: choose a whole number from {low} "
            f"to {high}, or convert the image to float32 first"
        )
    return dtype.type(fill)


def input_limits(image: NDArray[Any]) -> tuple[Any, Any] | None:
    """Range that cubic interpolation must not leave: of integers that of the image itself.

    Parameters
    ----------
    image : ndarray
        The image.

    Returns
    -------
    tuple of number, or None
        Smallest and largest value; None for floating-point images, and empty ones.
    """
    if image.dtype.kind not in "ui" or not image.size:
        return None
    return int(image.min()), int(image.max())
