"""A guide in units of its range, made band by band from the image as it was given."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.bands import each_band, padded_rows
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.ranges import robust_range
from napari_cosparse.core.types import Plane

from ._scale import as_array, check_guide_shape

FARTHEST = 20.0  # ranges: a guide's hot pixels count as no farther off, for float32's sake

GRAY_PIXELS = 1 << 15  # at a time: three channels in float64 are many bytes
IN_ORDER = 7  # so many numbers NumPy adds one after the other, more in pairs


def guide_planes(guide: ArrayLike) -> NDArray[Any]:
    """Channels of a guide that count, without a copy.

    Parameters
    ----------
    guide : array_like, shape (N1, N2) or (N1, N2, channels)
        Gray, gray and alpha (2), RGB, RGBA (4: alpha is dropped) or any number of bands.

    Returns
    -------
    ndarray, shape (N1, N2, channels)
        In the guide's type; masked elements are NaN.

    Raises
    ------
    InputError
        If the shape is not that of an image.
    """
    image = as_array(guide, "guide")
    check_guide_shape(image.shape)
    if isinstance(image, np.ma.MaskedArray):
        image = np.ma.filled(image.astype(np.float64), np.nan)
    planes = image[..., None] if image.ndim == 2 else image
    return planes[..., :-1] if planes.shape[2] in (2, 4) else planes


def gray_values(planes: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gray values of a guide, and the smallest and largest values of its channels.

    Parameters
    ----------
    planes : ndarray, shape (h, w, channels)
        Part of a guide.

    Returns
    -------
    gray : ndarray, shape (n,), float64
        Mean of the channels where all are finite.
    ends : ndarray, shape (2, channels), float64
        Smallest and largest values there; infinite (and the wrong way round) where n is 0.
    """
    count = planes.shape[2]
    values = planes.reshape(-1, count)
    if planes.dtype.kind == "f":
        finite = np.logical_and.reduce([np.isfinite(values[:, c]) for c in range(count)])
        values = values if finite.all() else values[finite]
    channels = [values[:, c].astype(np.float64) for c in range(count)]
    nothing = np.inf
    ends = np.array(
        [[c.min(initial=nothing) for c in channels], [c.max(initial=-nothing) for c in channels]]
    )
    if count > IN_ORDER:
        return values.astype(np.float64).mean(1), ends
    total = channels[0]
    for channel in channels[1:]:  # ten times as fast as `mean` along so short an axis, bit by bit
        total += channel
    total /= count
    return total, ends


def guide_range(planes: NDArray[Any], map_: Map = map) -> tuple[float, float] | None:
    """Low end and range of a guide's gray values.

    Parameters
    ----------
    planes : ndarray, shape (N1, N2, channels)
        See `guide_planes`.
    map_ : callable
        Like the built-in `map`.

    Returns
    -------
    tuple of float, or None
        None where all channels are constant, so that the guide has nothing to say.
    """
    height, width = planes.shape[:2]
    # One array of the caller's: what threads free stays with them for as long as they live.
    gray = np.empty(height * width)

    def work(rows: slice) -> tuple[slice, NDArray[np.float64]]:
        values, ends = gray_values(planes[rows])
        part = slice(rows.start * width, rows.start * width + values.size)
        gray[part] = values
        return part, ends

    parts = each_band(work, planes.shape, map_, GRAY_PIXELS)
    ends = np.stack([part[1] for part in parts])
    if not (ends[:, 1].max(0) > ends[:, 0].min(0)).any():
        return None
    known = sum(part.stop - part.start for part, _ in parts)
    if known == gray.size:
        return robust_range(gray, map_)
    return robust_range(np.concatenate([gray[part] for part, _ in parts]), map_)


class ScaledGuide:
    """A guide in units of its gray range, times the guide's strength.

    It keeps the image as it was given and scales rows of it when they are needed: by a table where
    the type has few values.

    Parameters
    ----------
    planes : ndarray, shape (N1, N2, channels)
        See `guide_planes`.
    low, span : float
        See `guide_range`.
    strength : float
        Factor r of the contract: rho in units of both ranges.
    """

    def __init__(self, planes: NDArray[Any], low: float, span: float, strength: float) -> None:
        self._planes = planes
        self._low, self._span, self._strength = low, span, strength
        self.channels: int = planes.shape[2]
        self.finite = planes.dtype.kind != "f"

    def rows(self, channel: int, first: int, last: int, margin: int, out: Plane) -> None:
        """Write some rows of a channel, padded as by `padded_rows`.

        Parameters
        ----------
        channel : int
            Which one.
        first, last : int
            Rows, half open.
        margin : int
            Width of the margin, in pixels.
        out : ndarray, shape (last - first + 2 * margin, w + 2 * margin), float32
            Gets NaN where a channel of the guide is not finite.
        """
        part = padded_rows(self._planes[..., channel], first, last, margin)
        if self._table is not None:
            np.take(self._table, part.view(self._index), out=out, mode="clip")  # "raise" copies
            return
        out[:] = self._scaled(part)
        for other in range(self.channels):
            beside = padded_rows(self._planes[..., other], first, last, margin)
            out[~np.isfinite(beside)] = np.nan

    def _scaled(self, values: NDArray[Any]) -> Plane:
        with np.errstate(invalid="ignore"):  # of infinities, which become NaN
            ranges = (values.astype(np.float64) - self._low) / self._span
        return (self._strength * np.clip(ranges, -FARTHEST, FARTHEST)).astype(np.float32)

    @cached_property
    def _index(self) -> np.dtype[Any]:
        return np.dtype(f"u{self._planes.dtype.itemsize}")

    @cached_property
    def _table(self) -> Plane | None:
        """Scaled values of all numbers of a small type."""
        kind = self._planes.dtype
        if kind.kind not in "biu" or kind.itemsize > 2 or not kind.isnative:
            return None
        numbers = np.arange(2 if kind.kind == "b" else 1 << 8 * kind.itemsize, dtype=self._index)
        return self._scaled(numbers.view(kind))
