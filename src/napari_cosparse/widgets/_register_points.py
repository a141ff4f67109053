"""What the registration panel says about pairs of points: how far they miss one another."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.registration import point_misfits
from napari_cosparse.layers import in_units_of

from ._couple import Couple

FREE = {"SO": 3, "SE": 3, "similarity": 4, "SA": 5, "A": 6}  # numbers that points determine

FEWEST = 3  # pairs: two may be exchanged and still fit a rotation
GOOD = 0.5  # moving pixels by which points may miss one another and are not to blame
EXACT = 0.01  # moving pixels; less is rounding

Pairs = tuple[NDArray[np.float64], NDArray[np.float64]]


def fit_text(pair: Couple, keywords: dict[str, Any]) -> str:
    """Say how well the chosen motion brings the points onto one another.

    Parameters
    ----------
    pair : Couple
        The layers.
    keywords : dict
        Of `register`, with its points and pixel sizes.

    Returns
    -------
    str
        A sentence; empty without points.
    """
    points, group = keywords["points"], str(keywords["group"])
    if points is None:
        return ""
    count = len(points[0])
    told = f"{count} pair{'s' * (count != 1)} of points"
    if 2 * count <= FREE[group]:
        return f"{told} fit exactly, as any would with this motion: set more to see how well."
    sizes = {name: keywords[name] for name in keywords if name.startswith("pixel_size_")}
    return f"{told} fit to {_told(pair, point_misfits(points, group, **sizes))}."


def apart_text(pair: Couple, points: Pairs, matrix: Any) -> str:  # noqa: ANN401 array_like
    """Say how far a motion leaves the points apart.

    Parameters
    ----------
    pair : Couple
        The layers.
    points : tuple of ndarray, shape (n, 2)
        Of the fixed and the moving image, in pixels of the finest levels.
    matrix : array_like, shape (3, 3)
        Fixed pixel to moving pixel, of the finest levels.

    Returns
    -------
    str
        A sentence.
    """
    return f"The points then miss one another by {_told(pair, _apart(pair, points, matrix))}."


def are_good(pair: Couple, points: Pairs, found: Any) -> bool:  # noqa: ANN401 a Registration
    """Say whether an answer brings the points onto one another, and they are enough to tell.

    Parameters
    ----------
    pair : Couple
        The layers.
    points : tuple of ndarray, shape (n, 2)
        Of the fixed and the moving image, in pixels of the finest levels.
    found : Registration
        What the core returned, between the finest levels.

    Returns
    -------
    bool
    """
    left, count = _apart(pair, points, found.matrix), len(points[0])
    enough = count >= FEWEST and 2 * count > FREE[str(found.group)]
    return bool(enough and left.max() < GOOD)


def _apart(pair: Couple, points: Pairs, matrix: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """Distances that a motion leaves, in moving pixels."""
    motion = np.asarray(matrix, np.float64)
    left = points[0] @ motion[:2, :2].T + motion[:2, 2] - points[1]
    world = left @ in_units_of(*pair.finest)[0][:2, :2].T
    return np.asarray(np.hypot(*world.T) / _pixel(pair))


def _told(pair: Couple, left: NDArray[np.float64]) -> str:
    """Word distances in moving pixels: their root mean square, and the worst."""
    if left.max() < EXACT:
        return f"less than {EXACT:g} px"
    together, worst = float(np.sqrt((left**2).mean())), int(left.argmax())
    more = []
    if pair.start.informative and pair.grids[0].is_physical:
        more.append(f"{together * _pixel(pair):.2g} {pair.grids[0].units[0]}")
    if len(left) > 1:
        more.append(f"worst: number {worst + 1}, {left[worst]:.2g} px")
    return f"{together:.2g} px" + (f" ({'; '.join(more)})" if more else "")


def _pixel(pair: Couple) -> float:
    """Side of a square pixel as large as the moving level's, in the fixed layer's unit."""
    area = np.linalg.det(in_units_of(*pair.grids)[0][:2, :2])
    return float(np.sqrt(abs(area)))
