"""What is wrong with a drawn mask, as far as that is cheap to see."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from napari.layers import Labels, Shapes
from numpy.typing import NDArray

from ._grid import Grid
from ._read import read
from ._regions import closed_outlines, to_pixels

LOOKED_AT = 1 << 24  # labels: more, or such that are not in memory, are read in the run

Points = NDArray[np.float64]


def region_flaw(
    grid: Grid, layer: Labels | Shapes, plane: Sequence[int] = (), *, least: int = 1
) -> str:
    """Say why what is drawn on a layer is no mask of an image.

    Parameters
    ----------
    grid : Grid
        The image's pixels in the world.
    layer : napari.layers.Labels or Shapes
        Where the mask is drawn.
    plane : sequence of int
        Index on the leading axes of a stack.
    least : int
        Pixels of the image that a mask must hold.

    Returns
    -------
    str
        A sentence; empty where nothing wrong can be seen without reading much.
    """
    if isinstance(layer, Shapes):
        outlines, most = closed_outlines(grid, layer, plane), inf
    else:
        outlines, most = _around_labels(grid, layer, plane)
    area = min(most, sum(_on_image(outline, grid.shape) for outline in outlines))
    if not area:
        return (
            f"Nothing drawn on {layer.name!r} lies on {grid.name!r}: draw a closed shape or paint "
            "a label on the part to use, or choose no mask."
        )
    if area < least - 0.5:  # not for rounding
        return (
            f"The mask {layer.name!r} leaves at most {area:.0f} pixels of {grid.name!r}; at least "
            f"{least} are needed: draw it larger, or choose no mask."
        )
    return ""


def _around_labels(grid: Grid, layer: Labels, plane: Sequence[int]) -> tuple[list[Points], float]:
    """Corners of the box around all labels, and how many pixels these cover at most."""
    source = read(layer)
    rows, columns = source.shape
    if not isinstance(source.pixels, np.ndarray) or rows * columns > LOOKED_AT:
        return [_corners(grid.shape)], inf
    drawn = source.load(plane if len(plane) == len(source.leading) else ()) != 0
    lines = [np.flatnonzero(drawn.any(axis)) for axis in (1, 0)]
    if not lines[0].size:
        return [], 0.0
    matrix, covered = to_pixels(grid, layer), np.count_nonzero(drawn)
    box = _corners([line[-1] - line[0] + 1 for line in lines]) + [line[0] for line in lines]
    outline = box @ matrix[:2, :2].T + matrix[:2, 2]
    return [outline], covered * abs(float(np.linalg.det(matrix[:2, :2])))


def _corners(shape: Sequence[int]) -> Points:
    rows, columns = (float(n) for n in shape)
    return np.array([[0, 0], [0, columns], [rows, columns], [rows, 0]]) - 0.5


def _on_image(outline: Points, shape: tuple[int, int]) -> float:
    """Bound the area of a polygon that lies on an image, in pixels, by that of its box."""
    low, high = outline.min(0).clip(-0.5), outline.max(0)
    high = np.minimum(high, np.array(shape) - 0.5)
    return float(np.prod((high - low).clip(0)))
