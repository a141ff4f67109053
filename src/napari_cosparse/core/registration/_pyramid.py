"""Both images at ever coarser resolution: pixel p of level l lies at 2**l * p of the image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, minimum_filter, uniform_filter

from napari_cosparse.core.mapping import Map, once
from napari_cosparse.core.types import Mask, Plane

from ._sides import Side, contrast
from ._spline import Spline

SMOOTHING = 0.7  # pixels: deviation of the Gaussian before every second pixel is dropped
LEAST_SIDE = 24  # pixels: below this a level has too few patches
LEVELS = 4
KEPT = 0.5  # of the share of usable pixels: where a coarse level has less, holes are scattered
KNOWN = 7  # of the 3 x 3 pixels that a coarse one stands for: then it is usable despite holes
TAILS = (0.5, 99.5)  # per cent: grey levels beyond are outliers


@dataclass(frozen=True, eq=False)
class Windows:
    """Where the squares of a mosaic come from: a level that shows only parts of its image.

    Attributes
    ----------
    side : int
        Side of a square, in pixels of the level. They lie below one another.
    corners : ndarray, shape (n, 2), float64
        Place of each square's first pixel in the image, in pixels of the level.
    """

    side: int
    corners: NDArray[np.float64]

    @property
    def shifts(self) -> NDArray[np.float64]:
        """Place in the image less place in the mosaic, of each square, shape (n, 2)."""
        shifts = self.corners.copy()
        shifts[:, 0] -= self.side * np.arange(len(shifts))
        return shifts


@dataclass(frozen=True)
class Level:
    """One image at one resolution.

    Attributes
    ----------
    image : ndarray, shape (h, w), float32
        Divided by its contrast.
    usable : ndarray, shape (h, w), bool
        Pixels that may be used.
    scale : float
        Pixels of the finest level per pixel of this one.
    windows : Windows, optional
        Which parts of the image it shows; all of it if None.
    """

    image: Plane
    usable: Mask
    scale: float
    windows: Windows | None = None

    @property
    def constant(self) -> bool:
        """Whether nothing is left to align by."""
        return not self.image.any()

    @cached_property
    def spline(self) -> Spline:
        """The image between its pixels, in float32; every cost of the level needs it."""
        return Spline(self.image)

    @cached_property
    def grey_levels(self) -> tuple[float, float]:
        """Darkest usable grey level but for outliers, and the distance to the brightest."""
        values = self.image[self.usable] if self.usable.any() else self.image
        low, high = (float(v) for v in np.percentile(values, TAILS))
        if high <= low:
            low, high = float(values.min()), float(values.max())
        return low, (high - low) or 1.0


def pyramid(side: Side, levels: int, map_: Map = map) -> list[Level]:
    """Levels of an image, finest first.

    Parameters
    ----------
    side : Side
        Image and usable pixels.
    levels : int
        How many.
    map_ : Map, optional
        Who runs it may stop between two levels.

    Returns
    -------
    list of Level
        Each divided by its own contrast.
    """
    out, image = [], side.image
    for number, usable in enumerate(_usable(side.usable, levels)):
        out.append(once(map_, make_level, image, usable, 2**number))
        if number + 1 < levels:
            image = gaussian_filter(image, SMOOTHING, mode="mirror")[::2, ::2]
    return out


def _usable(finest: Mask, levels: int) -> list[Mask]:
    """Usable pixels of each level: without any unknown pixel beneath them.

    Scattered holes would leave nothing of the coarse levels, though their filled values hardly
    change a mean of many known ones: then those count that are known for the most part. What the
    finest level uses stays the same.
    """
    strict = [finest]
    for _ in range(levels - 1):
        strict.append(minimum_filter(strict[-1], 3, mode="nearest")[::2, ::2])
    if strict[-1].mean() >= KEPT * finest.mean():
        return strict
    # two unknown ones in nine: the edge of a large hole, three, still takes its neighbours with it
    lenient = [finest]
    for _ in range(levels - 1):
        known = uniform_filter(lenient[-1].astype(np.float32), 3, mode="nearest")[::2, ::2]
        lenient.append(np.rint(9 * known) >= KNOWN)
    return lenient


def depth(shape_fixed: tuple[int, int], shape_moving: tuple[int, int]) -> int:
    """Say how many levels a pair of shapes allows.

    Parameters
    ----------
    shape_fixed, shape_moving : tuple of int
        Sizes, in pixels.

    Returns
    -------
    int
        At most four for images up to about a thousand pixels; more for larger ones.
    """
    smallest = min(*shape_fixed, *shape_moving)
    wanted = LEVELS + max(0, int(np.ceil(np.log2(max(*shape_fixed, *shape_moving) / 1024))))
    return max(1, min(wanted, 1 + int(np.log2(max(smallest / LEAST_SIDE, 1)))))


def make_level(image: Plane, usable: Mask, scale: float, windows: Windows | None = None) -> Level:
    """Divide an image by its contrast.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        Any unit.
    usable : ndarray, shape (h, w), bool
        Pixels that may be used.
    scale : float
        Pixels of the finest level per pixel of this one.
    windows : Windows, optional
        Which parts of its image it shows.

    Returns
    -------
    Level
        All 0 if it is constant.
    """
    strength = contrast(image, usable)
    scaled = image / np.float32(strength) if strength else np.zeros_like(image)
    return Level(
        np.ascontiguousarray(scaled, np.float32), np.ascontiguousarray(usable), scale, windows
    )
