"""How numbers go back into the type of an image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def to_type(
    values: NDArray[np.floating[Any]],
    dtype: np.dtype[Any],
    limits: tuple[Any, Any] | None = None,
    unknown: float | None = None,
) -> NDArray[Any]:
    """Round and clip numbers into a type.

    Parameters
    ----------
    values : ndarray, float64
        Numbers in any unit.
    dtype : dtype
        Type of the result; a mask is true from one half on.
    limits : tuple of number, or None
        Range to clip integers to; that of the type if None.
    unknown : float, optional
        What integers get where a number is not finite; None if all are.

    Returns
    -------
    ndarray of `dtype`
        The numbers.
    """
    if dtype.kind == "b":
        return np.asarray(values >= 0.5)
    if dtype.kind == "f":
        return values.astype(dtype)
    info = np.iinfo(dtype)
    low, high = limits or (info.min, info.max)
    whole = np.rint(values if unknown is None else np.where(np.isfinite(values), values, unknown))
    # float64 cannot hold the largest 64-bit integers: compare first, then convert the rest
    above, below = whole >= float(high), whole <= float(low)
    result = np.where(above | below, 0.0, whole).astype(dtype)
    result[above], result[below] = high, low
    return result


def unknown_value(dtype: np.dtype[Any], invalid: float | None) -> float | None:
    """Value of an image of some type where nothing is known.

    Parameters
    ----------
    dtype : dtype
        Of the image.
    invalid : float or None
        Value that means unknown, if there is one.

    Returns
    -------
    float or None
        NaN, or of integers the invalid value; None if the type has neither.
    """
    if dtype.kind == "f":
        return float("nan")
    if invalid is None or dtype.kind == "b":
        return None
    limits = np.iinfo(dtype)
    held = float(invalid).is_integer() and limits.min <= invalid <= limits.max
    return float(invalid) if held else None
