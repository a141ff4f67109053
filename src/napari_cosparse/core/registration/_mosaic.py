"""Windows of a large image, read alone and laid below one another as one level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.types import Mask, Plane

from ._frame import Matrix
from ._pixel import SAME, sides_of
from ._pyramid import Level, Windows, make_level
from ._resampling import resampled, sampled
from ._sides import fill
from ._working import Source, block_means

SPARE = 3  # blocks of pixels around those that are resampled aslant
RIM = 3  # pixels: border of a window that serves the patches of its other pixels only
Corner = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """One image at one resolution, of which windows can be read.

    Attributes
    ----------
    source : Source
        The image.
    to_working : ndarray, shape (3, 3)
        Pixel of the image -> pixel of the working grid; may shear, but does not mirror.
    scale : float
        Working pixels per pixel of this grid. Pixel 0 of both coincides.
    last_column : int, optional
        If given, the columns of the working grid are reversed and this is the last one.
    """

    source: Source
    to_working: Matrix
    scale: float
    last_column: int | None = None

    def mosaic(self, corners: Corner, side: int) -> Level:
        """Read windows.

        Parameters
        ----------
        corners : ndarray, shape (n, 2)
            Where the windows shall begin, in pixels of this grid; they will to half a pixel of the
            image, or exactly where that is sheared.
        side : int
            Their side, in pixels of this grid.

        Returns
        -------
        Level
        """
        cells = [self._cell(corner, side) for corner in corners]
        gray = np.concatenate([image for image, _, _ in cells])
        known = np.concatenate([known for _, known, _ in cells])
        inner = np.zeros((len(cells), side, side), np.bool_)
        inner[:, RIM:-RIM, RIM:-RIM] = True
        image = fill(gray, known, known & inner.reshape(known.shape))
        places = np.stack([place for _, _, place in cells])
        return make_level(image.image, image.usable, self.scale, Windows(side, places))

    def _cell(self, corner: Corner, side: int) -> tuple[Plane, Mask, Corner]:
        """Values, where they are known, and where the window begins."""
        if self.last_column is None:
            return self._read(corner, side)
        last = self.last_column / self.scale
        image, known, place = self._read(np.array([corner[0], last - corner[1] - side + 1]), side)
        return image[:, ::-1], known[:, ::-1], np.array([place[0], last - place[1] - side + 1])

    def _read(self, corner: Corner, side: int) -> tuple[Plane, Mask, Corner]:
        if self.to_working[0, 1] or self.to_working[1, 0]:
            return (*self._read_sheared(corner, side), corner)
        steps, offset = np.diag(self.to_working)[:2], self.to_working[:2, 2]
        ratio = self.scale / steps  # pixels of the image per pixel of the grid
        factor = max(1, int(np.floor(ratio.min() + SAME)))
        rest = ratio / factor
        middle = (corner * self.scale - offset) / steps
        first = np.rint(middle - (factor - 1) / 2).astype(int)
        place = (steps * (first + (factor - 1) / 2) + offset) / self.scale
        count = np.ceil((side - 1) * rest - SAME).astype(int) + 1
        image, known = _padded(self.source, first, count, factor)
        if (np.abs(rest - 1) > SAME).any():
            middle_value = image[known].mean() if known.any() else 0.0
            image, known = resampled(np.where(known, image, middle_value), known, rest)
        return image[:side, :side], known[:side, :side], place

    def _read_sheared(self, corner: Corner, side: int) -> tuple[Plane, Mask]:
        """Read blocks around a window whose pixels lie aslant on the image, and resample them."""
        linear, shift = self.to_working[:2, :2], self.to_working[:2, 2]
        factor = max(1, int(np.floor((self.scale / sides_of(linear)).min() + SAME)))
        back = np.linalg.inv(linear) * self.scale / factor  # to steps of blocks of pixels
        first = np.linalg.solve(linear, corner * self.scale - shift)  # in pixels of the image
        ends = np.array([[0, 0], [0, side - 1], [side - 1, 0], [side - 1, side - 1]]) @ back.T
        low = np.floor(first / factor + ends.min(0)).astype(int) - SPARE
        count = np.ceil(np.ptp(ends, axis=0)).astype(int) + 2 * SPARE + 1
        image, known = _padded(self.source, low * factor, count, factor)
        middle_value = image[known].mean() if known.any() else 0.0
        begin = (first - (factor - 1) / 2) / factor - low
        return sampled(np.where(known, image, middle_value), known, back, begin, (side, side))


def _padded(
    source: Source, first: NDArray[np.int_], count: NDArray[np.int_], factor: int
) -> tuple[Plane, Mask]:
    """Block means from a pixel on; unknown where a block leaves the image."""
    image, known = np.zeros(count), np.zeros(count, np.bool_)
    low = np.clip(-(first // factor), 0, count)
    high = np.clip((np.array(source.shape) - first) // factor, low, count)
    if (high > low).all():
        inside = slice(low[0], high[0]), slice(low[1], high[1])
        rows, columns = (
            slice(int(begin), int(end))
            for begin, end in zip(first + low * factor, first + high * factor, strict=True)
        )
        image[inside], known[inside] = block_means(source, (rows, columns), factor)
    return image, known
