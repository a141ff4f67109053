"""The range of an image: the unit in which thresholds and scales are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LOW, HIGH = 0.01, 0.99


def robust_range(values: NDArray[Any]) -> tuple[float, float]:
    """Low end and width of the range of an image's valid pixels (contract, "Range").

    Parameters
    ----------
    values : ndarray, shape (n,)
        Valid pixels, in the image's unit.

    Returns
    -------
    low : float
        1 % quantile; 0 if there are no pixels.
    range : float
        1-99 % quantile range; max - min where that is 0; 1 for a constant. Positive.
    """
    if not values.size:
        return 0.0, 1.0
    # quantiles of narrow integers overflow in NumPy, and float16 has no digits to interpolate
    numbers = values.astype(np.result_type(values.dtype, np.float32), copy=False)
    low, high = (float(value) for value in np.quantile(numbers, (LOW, HIGH)))
    return low, (high - low) or (float(numbers.max()) - float(numbers.min())) or 1.0
