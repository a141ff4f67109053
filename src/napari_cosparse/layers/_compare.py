"""Two images in the fields of a checkerboard, to judge a registration by eye."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FIELDS = 8  # along the longer side

Plane = NDArray[np.float32]


def checkerboard(first: ArrayLike, second: ArrayLike, fields: int = FIELDS) -> Plane:
    """Show two images of one size alternately.

    Parameters
    ----------
    first, second : array_like, shape (H, W)
        Images in any unit; each is scaled by its own range (1-99 % quantiles).
    fields : int
        Number of fields along the longer side.

    Returns
    -------
    ndarray, shape (H, W), float32
        Between 0 and 1; where the second is unknown, the first.
    """
    one, two = _unit(np.asarray(first)), _unit(np.asarray(second))
    side = max(1, -(-max(one.shape) // fields))
    rows, columns = (np.arange(n) // side for n in one.shape)
    odd = (rows[:, None] + columns) % 2 == 1
    mixed: Plane = np.where(odd & np.isfinite(two), two, one)
    return mixed


def _unit(image: NDArray[Any]) -> Plane:
    values = image.astype(np.float32)
    finite = values[np.isfinite(values)]
    low, high = np.quantile(finite, (0.01, 0.99)) if finite.size else (0.0, 1.0)
    scaled: Plane = np.clip((values - low) / ((high - low) or 1.0), 0, 1)
    return scaled
