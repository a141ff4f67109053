"""The fixed image laid on a canvas in the moving image's orientation, and where that lies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import affine_transform

from napari_cosparse.core.types import Mask

from ._frame import Frame, Matrix
from ._pyramid import Level


def turned(level: Level, linear: NDArray[np.float64]) -> Level:
    """Lay the fixed image on a canvas in the moving image's orientation, centre on centre.

    Parameters
    ----------
    level : Level
        Fixed image.
    linear : ndarray, shape (2, 2)
        Fixed pixel -> canvas pixel.

    Returns
    -------
    Level
        Unusable where the canvas shows nothing.
    """
    shape, size = np.array(level.image.shape), canvas_shape(level, linear)
    back = np.linalg.inv(linear)
    offset = (shape - 1) / 2 - back @ ((np.array(size) - 1) / 2)
    image = affine_transform(level.image, back, offset, size, order=1, mode="nearest")
    if level.usable.all():
        return Level(image, _inside(back, offset, size, shape), level.scale)
    usable = affine_transform(
        level.usable.astype(np.float32), back, offset, size, order=1, cval=0.0
    )
    return Level(image, usable > 0.99, level.scale)


def canvas_shape(level: Level, linear: NDArray[np.float64]) -> tuple[int, int]:
    """Size of the canvas that `turned` lays an image on.

    Parameters
    ----------
    level : Level
    linear : ndarray, shape (2, 2)
        As for `turned`.

    Returns
    -------
    tuple of int
        Rows and columns.
    """
    rows, columns = np.ceil(np.abs(linear) @ (np.array(level.image.shape) - 1)).astype(int) + 1
    return int(rows), int(columns)


def _inside(
    back: NDArray[np.floating],
    offset: NDArray[np.floating],
    size: tuple[int, int],
    shape: NDArray[np.int64],
) -> Mask:
    """Canvas pixels that lie in an image: as its warped mask would say, in a tenth of the time."""
    rows, columns = np.arange(size[0])[:, None], np.arange(size[1])
    inside = np.ones(size, bool)
    for line, first, last in zip(back, offset, shape - 1, strict=True):
        place = line[0] * rows + (line[1] * columns + first)
        inside &= (place >= 0) & (place <= last)
    return inside


def placed(
    shift: tuple[int, int],
    canvas: Level,
    linear: NDArray[np.float64],
    moving: Level,
    frame: Frame,
) -> Matrix:
    """Group element that lays the canvas of the turned fixed image on the moving image.

    Parameters
    ----------
    shift : tuple of int
        Place of the canvas' first pixel in the moving image, in pixels of the level.
    canvas : Level
        Turned fixed image.
    linear : ndarray, shape (2, 2)
        What turned it.
    moving : Level
        Moving image.
    frame : Frame
        Centres and unit of length.

    Returns
    -------
    ndarray, shape (3, 3)
        In normalised coordinates.
    """
    centre = (np.array(canvas.image.shape) - 1) / 2 + shift
    fixed_centre = (np.array(frame.shape_fixed) - 1) / 2
    level_centre = canvas.scale * (np.array(_level_shape(frame, int(canvas.scale))) - 1) / 2
    tau = np.eye(3)
    tau[:2, :2] = linear
    # the last pixels of a level and of the image differ: the centres do not coincide
    lag = linear @ (fixed_centre - level_centre)
    tau[:2, 2] = (centre * moving.scale + lag - frame.centre_moving) / frame.radius
    return tau


def _level_shape(frame: Frame, scale: int) -> tuple[int, int]:
    rows, columns = (-(-size // scale) for size in frame.shape_fixed)
    return rows, columns
