"""Names for the arrays that travel through the core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Image of one modality, shape (rows, columns): float32 in kernels, float64 in checks.
Plane = NDArray[np.floating[Any]]

#: Choice of pixels, shape (rows, columns).
Mask = NDArray[np.bool_]
