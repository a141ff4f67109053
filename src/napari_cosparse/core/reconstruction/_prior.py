"""The coupled co-sparsity prior on a whole image, summed band by band.

``sum_j w_j sum_px log(eps^2 + c_j^2 + x_j^2)`` with ``x`` the target's and ``c`` the guide's
responses (contract; g of eq. coupling up to constants).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from napari_cosparse.core.borders import fold, pad
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import GlobalOperator, OperatorPair, Tile, tiles_of
from napari_cosparse.core.types import Plane

Band = tuple[int, int]

BAND_ROWS = 64
FACTORS_PER_LOG = 4  # eps^2 >= 1e-8 and x^2 <= 1e9 ranges^2: four factors stay inside float32
GUIDE_CACHE_BYTES = 1 << 28


class Prior:
    """Cost, gradient and curvature of the coupled co-sparsity of an image with a fixed guide.

    Parameters
    ----------
    pair : OperatorPair
        The bank.
    shape : tuple of int
        Height and width of the image, in pixels.
    guide : ndarray, shape (channels, h, w), float32, or None
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
        guide: Plane | None,
        map_: Map,
        floor: Plane | None = None,
    ) -> None:
        self.shape = shape
        self._map = map_
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
        self._channels = None if guide is None else [pad(plane, self.margin) for plane in guide]
        self._cache: dict[Tile, dict[int, Plane]] | None = None
        if guide is not None and pair.atoms * shape[0] * shape[1] * 4 <= GUIDE_CACHE_BYTES:
            self._cache = {}

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
        padded = pad(image, self.margin)
        bands = self._map(partial(self._band_gradient, padded, eps), self._bands())
        cost, total = self._gather_bands(bands)
        return cost, fold(total, self.margin)

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
        padded = pad(image, self.margin)
        bands = self._map(partial(self._band_curvature, padded, eps), self._bands())
        return fold(self._gather_bands(bands)[1], self.margin)

    def _bands(self) -> list[Band]:
        height = self.shape[0]
        return [(row, min(row + BAND_ROWS, height)) for row in range(0, height, BAND_ROWS)]

    def _gather_bands(self, bands: Iterable[tuple[float, Plane]]) -> tuple[float, Plane]:
        """Add overlapping bands in their order: the sum does not depend on the threads."""
        margin = self.margin
        total = np.zeros((self.shape[0] + 2 * margin, self.shape[1] + 2 * margin), np.float32)
        cost = 0.0
        for (first, last), (part, rows) in zip(self._bands(), bands, strict=True):
            cost += part
            total[first : last + 2 * margin] += rows
        return cost, total

    def _tiles(self, band: Band) -> Iterable[tuple[int, Tile]]:
        for part, atoms in enumerate(self._target.atoms):
            for tile in tiles_of(*band, self.shape[1], len(atoms)):
                yield part, tile

    def _band_gradient(self, padded: Plane, eps: float, band: Band) -> tuple[float, Plane]:
        source, out = self._band_planes(padded, band)
        cost = 0.0
        for part, tile in self._tiles(band):
            local = _shifted(tile, band)
            x = self._target.respond(part, source, local)
            scale = self._scale(part, tile, x, eps)
            cost += self._weights[part] * log_sum(scale)
            np.divide(x, scale, out=x)
            self._target.windows[part].scatter(self._double[part], x, out, local)
        return cost, out

    def _band_curvature(self, padded: Plane, eps: float, band: Band) -> tuple[float, Plane]:
        source, out = self._band_planes(padded, band)
        for part, tile in self._tiles(band):
            local = _shifted(tile, band)
            scale = self._scale(part, tile, self._target.respond(part, source, local), eps)
            np.reciprocal(scale, out=scale)
            self._target.windows[part].scatter(self._squares[part], scale, out, local)
        return 0.0, out

    def _band_planes(self, padded: Plane, band: Band) -> tuple[Plane, Plane]:
        source = padded[band[0] : band[1] + 2 * self.margin]
        return source, np.zeros(source.shape, np.float32)

    def _scale(self, part: int, tile: Tile, x: Plane, eps: float) -> Plane:
        """Return ``eps^2 + floor^2 + c^2 + x^2`` of a tile."""
        scale = np.multiply(x, x)
        scale += self._smoothing(tile, eps)
        if self._channels is not None:
            scale += self._guide_term(part, tile)
        return scale

    def _smoothing(self, tile: Tile, eps: float) -> Plane | np.float32:
        """Squared eps with its floor, one number per pixel."""
        if self._floor is None:
            return np.float32(eps**2)
        rows = slice(tile.row, tile.row + tile.rows)
        columns = slice(tile.column, tile.column + tile.width)
        return (self._floor[rows, columns] + np.float32(eps**2))[:, None]

    def _guide_term(self, part: int, tile: Tile) -> Plane:
        """Largest squared guide response over the channels, kept tile by tile where it fits."""
        if self._cache is None:
            return self._guide_squares(part, tile)
        parts = self._cache.setdefault(tile, {})
        if part not in parts:
            parts[part] = self._guide_squares(part, tile)
        return parts[part]

    def _guide_squares(self, part: int, tile: Tile) -> Plane:
        assert self._channels is not None  # noqa: S101 - narrows the type for the checker
        largest: Plane | None = None
        for channel in self._channels:
            c = self._guide.respond(part, channel, tile)
            np.multiply(c, c, out=c)
            largest = c if largest is None else np.maximum(largest, c, out=largest)
        assert largest is not None  # noqa: S101 - a guide has at least one channel
        # Responses that touch an unknown pixel of the guide are NaN: they say nothing.
        return np.fmax(largest, np.float32(0), out=largest)


def log_sum(values: Plane) -> float:
    """Sum of logarithms, one logarithm for a product of several values.

    Parameters
    ----------
    values : ndarray, shape (rows, k, width), float32
        Positive; their products over a few atoms should fit float32 and are recomputed singly
        where they do not.

    Returns
    -------
    float
        Summed in float64.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # caught below
        total = _log_of_products(values)
    if np.isfinite(total):
        return total
    return float(np.log(values, dtype=np.float64).sum())


def _log_of_products(values: Plane) -> float:
    """Multiply one half of the atoms by the other, twice, and take logarithms of the rest."""
    total, factors = 0.0, 1
    while factors < FACTORS_PER_LOG and values.shape[1] > 1:
        half = values.shape[1] // 2
        if values.shape[1] % 2:
            total += float(np.log(values[:, -1]).sum(dtype=np.float64))
        values = values[:, :half] * values[:, half : 2 * half]
        factors *= 2
    return total + float(np.log(values).sum(dtype=np.float64))


def _shifted(tile: Tile, band: Band) -> Tile:
    """Return the tile in the coordinates of its band."""
    return Tile(tile.row - band[0], tile.column, tile.rows, tile.width)
