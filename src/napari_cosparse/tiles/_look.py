"""Look at whole images once: checksums, and the scalars that all blocks share."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.ranges import robust_range
from napari_cosparse.core.reconstruction import (
    Scalars,
    Settings,
    gray_values,
    guide_planes,
    measure,
)

from ._sources import Source

SAMPLED = 1 << 22  # pixels: of more, the statistics look at pieces all over the image
Range = tuple[float, float] | None


class Digest:
    """Checksum of a plane that does not depend on how it was cut into strips."""

    def __init__(self, source: Source) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._hash.update(repr((source.array.shape, str(source.dtype), source.colour)).encode())

    def add(self, strip: NDArray[Any]) -> None:
        """Add the next rows.

        Parameters
        ----------
        strip : ndarray
            Rows that follow those added before.
        """
        native = strip.dtype.newbyteorder("<")
        self._hash.update(np.ascontiguousarray(strip, native).data.cast("B"))

    def text(self) -> str:
        """Return the checksum.

        Returns
        -------
        str
            Hexadecimal.
        """
        return self._hash.hexdigest()


@dataclass(frozen=True, eq=False)
class Looked:
    """What was seen of a plane of a target.

    Attributes
    ----------
    samples : ndarray, shape (m, m2) or (m, m2, channels)
        All rows of a small target, some of a large one.
    known : ndarray of bool, same shape
        Those that count.
    checksum : str
        Of all rows.
    """

    samples: NDArray[Any]
    known: NDArray[np.bool_]
    checksum: str

    def of(self, channel: int | None) -> Looked:
        """Give one channel of a colour target, or all of a gray one."""
        if channel is None:
            return self
        return replace(self, samples=self.samples[..., channel], known=self.known[..., channel])


def known_samples(
    samples: NDArray[Any], invalid: float | None, weights: NDArray[np.float64] | None = None
) -> NDArray[np.bool_]:
    """Find the samples that count.

    Parameters
    ----------
    samples : ndarray, shape (m, m2) or (m, m2, channels)
        Part of a target.
    invalid : float or None
        Value that means unknown; NaN and infinities always do.
    weights : ndarray, shape (m, m2), optional
        Confidence of these samples; 0 means unknown.

    Returns
    -------
    ndarray of bool, same shape
    """
    known: NDArray[np.bool_] = np.isfinite(samples)
    if invalid is not None:
        known &= samples != invalid
    if weights is not None:
        known &= (weights > 0).reshape(*weights.shape, *(1,) * (samples.ndim - 2))
    return known


def look_at_target(
    source: Source, index: tuple[int, ...], settings: Settings
) -> Generator[None, None, Looked]:
    """Read a plane of a target.

    Parameters
    ----------
    source : Source
        The target.
    index : tuple of int
        Which plane.
    settings : Settings
        They say which samples count.

    Yields
    ------
    None
        After each strip.

    Returns
    -------
    Looked
        Of a large target, a piece that is not among those looked at is there too if the only known
        samples of a channel lie in such ones.
    """
    digest, sampled, spare = Digest(source), [], []
    missed = np.ones(source.channels, bool)  # no piece yet with known samples of these channels
    for rows, strip in source.strips(index):
        digest.add(strip)
        for number, piece in source.pieces(strip):
            first = rows.start + number * source.piece
            known = known_samples(piece, settings.invalid, _rows(settings.weights, first, piece))
            seen = known.reshape(-1, source.channels).any(0)
            if is_sampled(first // source.piece, source.plane):
                sampled.append((piece.copy(), known, seen))  # a view would keep the strip
            elif (seen & missed).any():
                spare.append((piece.copy(), known, seen))
            missed &= ~seen
        yield
    unseen = ~np.any([seen for _, _, seen in sampled], axis=0)
    used = [*sampled, *(part for part in spare if (part[2] & unseen).any())]
    return Looked(
        np.concatenate([piece for piece, _, _ in used]),
        np.concatenate([known for _, known, _ in used]),
        digest.text(),
    )


def _rows(weights: Any, first: int, piece: NDArray[Any]) -> Any:  # noqa: ANN401 - array or None
    return None if weights is None else weights[first : first + len(piece)]


def look_at_guide(
    source: Source, index: tuple[int, ...]
) -> Generator[None, None, tuple[Range, str]]:
    """Read a plane of a guide.

    Parameters
    ----------
    source : Source
        The guide.
    index : tuple of int
        Which plane.

    Yields
    ------
    None
        After each strip.

    Returns
    -------
    range : tuple of float, or None
        Low end and range of its gray values; None if it is constant.
    checksum : str
    """
    digest, grays, ends = Digest(source), [], []
    for rows, strip in source.strips(index):
        digest.add(strip)
        for number, piece in source.pieces(strip):
            gray, end = gray_values(guide_planes(piece))
            ends.append(end)
            if is_sampled(rows.start // source.piece + number, source.plane):
                grays.append(gray)
        yield
    low, high = np.stack(ends).min(0)[0], np.stack(ends).max(0)[1]
    span = robust_range(np.concatenate(grays)) if (high > low).any() else None
    return span, digest.text()


def scalars_of(
    plane: Looked,
    guide: Range,
    operators: OperatorPair,
    settings: Settings,
    factor: tuple[float, float],
    map_: Map = map,
) -> Scalars | None:
    """Measure a plane of the target.

    Parameters
    ----------
    plane : Looked
        One channel.
    guide : tuple of float, or None
        See `look_at_guide`.
    operators : OperatorPair
        The bank.
    settings : Settings
        Of the run.
    factor : tuple of float
        Distances of two samples, in guide pixels.
    map_ : callable
        Like the built-in `map`; who runs it may stop between two steps.

    Returns
    -------
    Scalars or None
        None if no sample is known.
    """
    if not plane.known.any():
        return None
    samples = np.ma.MaskedArray(plane.samples, ~plane.known)
    return measure(samples, guide, operators, settings, factor, map_)


def is_sampled(number: int, plane: tuple[int, int]) -> bool:
    """Whether a piece counts for the statistics: all of a small image, some of a large one.

    Parameters
    ----------
    number : int
        Of the piece, from the top.
    plane : tuple of int
        Shape of the image, in pixels.

    Returns
    -------
    bool
    """
    return number % ceil(plane[0] * plane[1] / SAMPLED) == 0
