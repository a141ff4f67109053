"""The coupled co-sparsity prior on a whole image, summed band by band.

``sum_j w_j sum_px log(eps^2 + c_j^2 + x_j^2)`` with ``x`` the target's and ``c`` the guide's
responses (contract; g of eq. coupling up to constants).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from threading import Lock, local
from typing import Protocol, TypeVar

import numpy as np

from napari_cosparse.core.bands import each_band, padded_rows, total
from napari_cosparse.core.borders import fold_axis
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import Memory, OperatorPair, Tile, tiles_of
from napari_cosparse.core.types import Plane

from ._band import BandWork, Key, Terms

T = TypeVar("T")

BAND_ROWS = 64  # changes no bit, nor do the rows of a tile
LAST_BANDS = 2  # that are cut in halves
BYTES_PER_PIXEL = 80  # of a whole solve (contract, "Memory")
GUIDE_CACHE_BYTES = 80_000_000  # what smaller solves may take, so that they keep the guide's term


class Guide(Protocol):
    """A guide in units of the target, made band by band."""

    @property
    def channels(self) -> int:
        """Number of channels."""
        ...

    @property
    def finite(self) -> bool:
        """Whether no pixel is NaN."""
        ...

    def rows(self, channel: int, first: int, last: int, margin: int, out: Plane) -> None:
        """Write some rows of a channel, padded as by `padded_rows`."""
        ...


class PlainGuide:
    """A guide that is already in units of the target.

    Parameters
    ----------
    planes : ndarray, shape (channels, h, w), float32
    """

    def __init__(self, planes: Plane) -> None:
        self._planes = planes
        self.channels = len(planes)
        self.finite = False  # as far as one knows

    def rows(self, channel: int, first: int, last: int, margin: int, out: Plane) -> None:
        """Write some rows of a channel, padded as by `padded_rows`."""
        padded_rows(self._planes[channel], first, last, margin, out)


@dataclass(frozen=True)
class _Band:
    """Rows of the image, with what does not change from evaluation to evaluation."""

    first: int
    last: int
    tiles: tuple[Key, ...]
    kept: dict[Key, Plane]  # the guide's term of each tile, once it is known
    keep: bool  # whether it is kept


class _Own(local):
    """What belongs to one thread."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.works: dict[tuple[int, int | None], BandWork] = {}


def band_edges(height: int, unit: int) -> list[int]:
    """Cut rows into bands; the last ones are lower, so that no thread waits long for another.

    Parameters
    ----------
    height : int
        Number of rows.
    unit : int
        Rows that stay together: bands are made of whole units, but for the last one.

    Returns
    -------
    list of int
        First row of each band, and the number of rows.
    """
    edges = [0]
    while edges[-1] < height:
        rows = BAND_ROWS if height - edges[-1] > LAST_BANDS * BAND_ROWS else BAND_ROWS // 2
        edges.append(min(edges[-1] + max(rows // unit, 1) * unit, height))
    return edges


def _columnwise(tiles: Iterable[Tile]) -> list[Tile]:
    """Order tiles so that those below one another follow one another, from the top."""
    return sorted(tiles, key=lambda tile: (tile.column, tile.row))


class Prior:
    """Cost, gradient and curvature of the coupled co-sparsity of an image with a fixed guide.

    Parameters
    ----------
    pair : OperatorPair
        The bank.
    shape : tuple of int
        Height and width of the image, in pixels.
    guide : ndarray, shape (channels, h, w), float32, or Guide, or None
        Guide in units of the target (multiplied by rho); None means unguided (c = 0). Several
        channels count by the largest squared response; responses that touch a NaN count as 0.
    map_ : callable
        Like the built-in `map`; may run the calls in threads.
    floor : ndarray, shape (h, w), float32, optional
        Floor under eps at each pixel, added in squares; see `smooth_floor`.
    """

    def __init__(
        self,
        pair: OperatorPair,
        shape: tuple[int, int],
        guide: Plane | Guide | None,
        map_: Map,
        floor: Plane | None = None,
    ) -> None:
        self.shape, self.map_ = shape, map_
        self._floor = None if floor is None else floor**2
        self._source = PlainGuide(guide) if isinstance(guide, np.ndarray) else guide
        self._terms = Terms(
            pair,
            0 if self._source is None else self._source.channels,
            self._source is None or self._source.finite,
            floor is not None,
        )
        self.margin = self._terms.margin
        self._bands = self._cut()
        self._own = _Own()

    def _cut(self) -> list[_Band]:
        """Bands of which only neighbours write to the same rows, margins included."""
        height, width = self.shape
        plans: dict[int, tuple[Key, ...]] = {}
        cut, every = [], self._terms.target.atoms
        room = GUIDE_CACHE_BYTES - BYTES_PER_PIXEL * height * width
        for first, last in pairwise(band_edges(height, self._terms.unit)):
            if last - first not in plans:
                plans[last - first] = tuple(
                    (part, tile)
                    for part, atoms in enumerate(every)
                    for tile in _columnwise(tiles_of(0, last - first, width, *atoms.shape))
                )
            room -= sum(map(len, every)) * (last - first) * width * 4
            keep = self._source is not None and room >= 0
            cut.append(_Band(first, last, plans[last - first], {}, keep))
        return cut

    def evaluate(self, image: Plane, eps: float) -> tuple[float, Plane]:
        """Cost and gradient at an image.

        Parameters
        ----------
        image : ndarray, shape (h, w), float32
            Target in units of its range.
        eps : float
            Smoothing of the logarithm, in the same unit.

        Returns
        -------
        cost : float
            Summed in float64; no unit.
        gradient : ndarray, shape (h, w), float32
        """
        costs, gradient = self._sum(partial(self._band_gradient, image, eps))
        return total(costs), gradient

    def curvature(self, image: Plane, eps: float) -> Plane:
        """Diagonal of the majorising quadratic's matrix ``Omega^T W Omega`` at an image.

        Exact farther than the atoms' reach from the border; nearer, an atom that meets a pixel
        and its reflection counts them one by one.

        Parameters
        ----------
        image : ndarray, shape (h, w), float32
            Target in units of its range.
        eps : float
            Smoothing of the logarithm, in the same unit.

        Returns
        -------
        ndarray, shape (h, w), float32
        """
        return self._sum(partial(self._band_curvature, image, eps))[1]

    def _sum(self, work: Callable[[_Band], tuple[T, Plane]]) -> tuple[list[T], Plane]:
        """Add overlapping units of bands, one band at a time.

        At most two units meet at a pixel, so that the sum does not depend on their order.
        """
        margin, unit, door = self.margin, self._terms.unit, Lock()
        plane = np.zeros((self.shape[0] + 2 * margin, self.shape[1] + 2 * margin), np.float32)

        def add(band: _Band) -> T:
            result, shares = work(band)
            with door:
                for first, share in zip(range(band.first, band.last, unit), shares, strict=True):
                    rows = plane[first : min(first + unit, band.last) + 2 * margin]
                    rows += share[: len(rows)]
            return result

        return list(self.map_(add, self._bands)), self._fold(plane)

    def _fold(self, plane: Plane) -> Plane:
        """Add the margins back onto the pixels they reflect; the inside of the same plane."""
        rows = fold_axis(plane, self.margin, 0)
        each_band(lambda band: fold_axis(rows[band], self.margin, 1), self.shape, self.map_)
        return rows[:, self.margin : self.margin + self.shape[1]]

    def _band_gradient(self, image: Plane, eps: float, band: _Band) -> tuple[Plane, Plane]:
        work = self._prepared(image, eps, band)
        return work.gradient(), work.out

    def _band_curvature(self, image: Plane, eps: float, band: _Band) -> tuple[None, Plane]:
        work = self._prepared(image, eps, band)
        work.curvature()
        return None, work.out

    def _prepared(self, image: Plane, eps: float, band: _Band) -> BandWork:
        """Work of this thread, filled with a band."""
        work = self._work(band)
        padded_rows(image, band.first, band.last, self.margin, work.source)
        work.smoothing[...] = np.float32(eps**2)
        if self._floor is not None:
            work.smoothing[:, 0] += self._floor[band.first : band.last]
        if self._source is not None and not band.keep:
            self._fill_channels(self._source, band, work)
        return work

    def _fill_channels(self, source: Guide, band: _Band, work: BandWork) -> None:
        for channel, out in enumerate(work.channels):
            source.rows(channel, band.first, band.last, self.margin, out)

    def _work(self, band: _Band) -> BandWork:
        """Work of this thread for bands like this one; for this one if its guide is kept."""
        key = band.last - band.first, band.first if band.keep else None
        if key not in self._own.works:
            self._own.works[key] = self._new_work(band)
        return self._own.works[key]

    def _new_work(self, band: _Band) -> BandWork:
        shape, memory = (band.last - band.first, self.shape[1]), self._own.memory
        if not band.keep or self._source is None:
            return BandWork(self._terms, band.tiles, shape, memory)
        known = len(band.kept) == len(band.tiles)
        for part, tile in band.tiles[: 0 if known else None]:
            atoms = len(self._terms.target.atoms[part])
            band.kept[part, tile] = np.empty((tile.rows, atoms, tile.width), np.float32)
        work = BandWork(self._terms, band.tiles, shape, memory, band.kept)
        if not known:
            self._fill_channels(self._source, band, work)
            work.keep_guide()
        return work
