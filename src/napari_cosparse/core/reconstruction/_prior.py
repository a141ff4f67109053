"""The coupled co-sparsity prior on a whole image, summed band by band.

``sum_j w_j sum_px log(eps^2 + c_j^2 + x_j^2)`` with ``x`` the target's and ``c`` the guide's
responses (contract; g of eq. coupling up to constants).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Lock, local
from typing import Protocol

import numpy as np

from napari_cosparse.core.bands import each_band, padded_rows
from napari_cosparse.core.borders import fold_axis
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import GlobalOperator, OperatorPair, Store, Tile, tiles_of
from napari_cosparse.core.types import Plane

BAND_ROWS = 64
FACTORS_PER_LOG = 4  # eps^2 >= 1e-8 and x^2 <= 1e9 ranges^2: four factors stay inside float32
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

    def rows(self, channel: int, first: int, last: int, margin: int) -> Plane:
        """Return some rows of a channel, padded as by `padded_rows`."""
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

    def rows(self, channel: int, first: int, last: int, margin: int) -> Plane:
        """Return some rows of a channel, padded as by `padded_rows`."""
        return padded_rows(self._planes[channel], first, last, margin)


@dataclass(frozen=True)
class _Band:
    """Rows of the image, with what does not change from evaluation to evaluation."""

    first: int
    last: int
    tiles: tuple[tuple[int, Tile], ...]  # number of the group, tile in the band's coordinates
    squares: dict[tuple[int, Tile], Plane]  # the guide's term of a tile, where it is kept
    keep: bool  # whether it is


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
        self._target = GlobalOperator(pair, "v")
        self._guide = GlobalOperator(pair, "u")
        self._weights = [group.weight for group in pair.groups]
        self._double = [
            np.float32(2 * weight) * atoms
            for weight, atoms in zip(self._weights, self._target.atoms, strict=True)
        ]
        self._squares = [
            np.float32(2 * weight) * atoms**2
            for weight, atoms in zip(self._weights, self._target.atoms, strict=True)
        ]
        self.margin = self._target.margin
        self._source = PlainGuide(guide) if isinstance(guide, np.ndarray) else guide
        self._bands = self._cut()
        self._stores = local()

    def _cut(self) -> list[_Band]:
        """Bands of which only neighbours write to the same rows, margins included."""
        height, width = self.shape
        rows = max(BAND_ROWS, 2 * self.margin)
        plans: dict[int, tuple[tuple[int, Tile], ...]] = {}
        cut = []
        atoms_in_all = sum(map(len, self._target.atoms))
        room = GUIDE_CACHE_BYTES - BYTES_PER_PIXEL * height * width
        for first in range(0, height, rows):
            last = min(first + rows, height)
            if last - first not in plans:
                plans[last - first] = tuple(
                    (part, tile)
                    for part, atoms in enumerate(self._target.atoms)
                    for tile in tiles_of(0, last - first, width, *atoms.shape)
                )
            room -= atoms_in_all * (last - first) * width * 4
            cut.append(_Band(first, last, plans[last - first], {}, room >= 0))
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
        return sum(costs), gradient

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

    def _sum(self, work: Callable[[_Band], tuple[float, Plane]]) -> tuple[list[float], Plane]:
        """Add overlapping bands, one at a time.

        At most two bands meet at a pixel, so that the sum does not depend on their order.
        """
        margin, door = self.margin, Lock()
        total = np.zeros((self.shape[0] + 2 * margin, self.shape[1] + 2 * margin), np.float32)

        def add(band: _Band) -> float:
            cost, rows = work(band)
            with door:
                total[band.first : band.last + 2 * margin] += rows
            return cost

        return list(self.map_(add, self._bands)), self._fold(total)

    def _fold(self, total: Plane) -> Plane:
        """Add the margins back onto the pixels they reflect; the inside of the same plane."""
        rows = fold_axis(total, self.margin, 0)
        each_band(lambda band: fold_axis(rows[band], self.margin, 1), self.shape, self.map_)
        return rows[:, self.margin : self.margin + self.shape[1]]

    def _band_gradient(self, image: Plane, eps: float, band: _Band) -> tuple[float, Plane]:
        source = padded_rows(image, band.first, band.last, self.margin)
        out, cost = np.zeros(source.shape, np.float32), 0.0
        store = self._store()
        for (part, tile), x, scale in self._responses(source, eps, band):
            cost += self._weights[part] * log_sum(scale, store)
            np.divide(x, scale, out=x)
            self._target.windows[part].scatter(self._double[part], x, out, tile, store)
        return cost, out

    def _band_curvature(self, image: Plane, eps: float, band: _Band) -> tuple[float, Plane]:
        source = padded_rows(image, band.first, band.last, self.margin)
        out = np.zeros(source.shape, np.float32)
        store = self._store()
        for (part, tile), _, scale in self._responses(source, eps, band):
            np.reciprocal(scale, out=scale)
            self._target.windows[part].scatter(self._squares[part], scale, out, tile, store)
        return 0.0, out

    def _store(self) -> Store:
        """Memory of this thread."""
        if not hasattr(self._stores, "own"):
            self._stores.own = Store()
        own: Store = self._stores.own
        return own

    def _responses(
        self, source: Plane, eps: float, band: _Band
    ) -> Iterator[tuple[tuple[int, Tile], Plane, Plane]]:
        """Yield each tile of a band with x and ``eps^2 + floor^2 + c^2 + x^2``."""
        smoothing = self._smoothing(eps, band)
        channels, store = self._channels(band), self._store()
        for key in band.tiles:
            part, tile = key
            x = self._target.respond(part, source, tile, store)
            scale = np.multiply(x, x, out=store.plane("scale", x.shape, x.dtype))
            scale += smoothing if smoothing.ndim == 0 else smoothing[tile.inside][:, None]
            if self._source is not None:
                scale += self._guide_term(key, channels, band)
            yield key, x, scale

    def _smoothing(self, eps: float, band: _Band) -> Plane:
        """Squared eps with its floor: one number, or one for each pixel of a band."""
        square = np.float32(eps**2)
        return np.asarray(
            square if self._floor is None else self._floor[band.first : band.last] + square
        )

    def _channels(self, band: _Band) -> list[Plane]:
        """Return padded rows of the guide's channels; none where their term is kept already."""
        if self._source is None or len(band.squares) == len(band.tiles):
            return []
        rows = partial(self._source.rows, first=band.first, last=band.last, margin=self.margin)
        return [rows(channel) for channel in range(self._source.channels)]

    def _guide_term(self, key: tuple[int, Tile], channels: list[Plane], band: _Band) -> Plane:
        """Largest squared guide response over the channels, kept where there is room."""
        if not band.keep:
            return self._guide_squares(*key, channels, self._store())
        if key not in band.squares:
            band.squares[key] = self._guide_squares(*key, channels, self._store()).copy()
        return band.squares[key]

    def _guide_squares(self, part: int, tile: Tile, channels: list[Plane], store: Store) -> Plane:
        largest: Plane | None = None
        for channel in channels:
            name = "guide" if largest is None else "channel"
            c = self._guide.respond(part, channel, tile, store, name)
            np.multiply(c, c, out=c)
            largest = c if largest is None else np.maximum(largest, c, out=largest)
        assert largest is not None and self._source is not None  # noqa: S101, PT018 - a guide has a channel
        if self._source.finite:
            return largest
        # Responses that touch an unknown pixel of the guide are NaN: they say nothing.
        return np.fmax(largest, np.float32(0), out=largest)


def log_sum(values: Plane, store: Store | None = None) -> float:
    """Sum of logarithms, one logarithm for a product of several values.

    Parameters
    ----------
    values : ndarray, shape (rows, k, width), float32
        Positive; their products over a few atoms should fit float32 and are recomputed singly
        where they do not.
    store : Store, optional
        Where the products may live.

    Returns
    -------
    float
        Summed in float64.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # caught below
        total = _log_of_products(values, store or Store())
    if np.isfinite(total):
        return total
    return float(np.log(values, dtype=np.float64).sum())


def _log_of_products(values: Plane, store: Store) -> float:
    """Multiply one half of the atoms by the other, twice, and take logarithms of the rest."""
    total, factors = 0.0, 1
    while factors < FACTORS_PER_LOG and values.shape[1] > 1:
        half = values.shape[1] // 2
        if values.shape[1] % 2:
            total += float(np.log(values[:, -1]).sum(dtype=np.float64))
        shape = (values.shape[0], half, values.shape[2])
        out = store.plane(f"products {factors}", shape, values.dtype)
        values = np.multiply(values[:, :half], values[:, half : 2 * half], out=out)
        factors *= 2
    logs = np.log(values, out=store.plane("logs", values.shape, values.dtype))
    return total + float(logs.sum(dtype=np.float64))
