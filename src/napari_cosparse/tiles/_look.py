"""Look at whole images once: checksums, and the scalars that all blocks share."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def look_at_target(
    source: Source, index: tuple[int, ...]
) -> Generator[None, None, tuple[Any, str]]:
    """Read a plane of a target.

    Parameters
    ----------
    source : Source
        The target.
    index : tuple of int
        Which plane.

    Yields
    ------
    None
        After each strip.

    Returns
    -------
    samples : ndarray
        All rows of a small target, some of a large one.
    checksum : str
    """
    digest, parts = Digest(source), []
    for rows, strip in source.strips(index):
        digest.add(strip)
        for number, piece in source.pieces(strip):
            if _sampled(rows.start // source.piece + number, source.plane):
                parts.append(piece.copy())  # a view would keep the strip
        yield
    return np.concatenate(parts), digest.text()


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
            if _sampled(rows.start // source.piece + number, source.plane):
                grays.append(gray)
        yield
    low, high = np.stack(ends).min(0)[0], np.stack(ends).max(0)[1]
    span = robust_range(np.concatenate(grays)) if (high > low).any() else None
    return span, digest.text()


def scalars_of(
    samples: Any,  # noqa: ANN401 - of any type
    guide: Range,
    operators: OperatorPair,
    settings: Settings,
    factor: tuple[float, float],
) -> Scalars | None:
    """Measure a plane of the target.

    Parameters
    ----------
    samples : ndarray, shape (m, m2)
        See `look_at_target`.
    guide : tuple of float, or None
        See `look_at_guide`.
    operators : OperatorPair
        The bank.
    settings : Settings
        Of the run.
    factor : tuple of float
        Distances of two samples, in guide pixels.

    Returns
    -------
    Scalars or None
        None if no sample is known.
    """
    known = np.isfinite(samples)
    if settings.invalid is not None:
        known &= samples != settings.invalid
    return measure(samples, guide, operators, settings, factor) if known.any() else None


def _sampled(number: int, plane: tuple[int, int]) -> bool:
    """Whether a piece counts for the statistics: all of a small image, some of a large one."""
    return number % ceil(plane[0] * plane[1] / SAMPLED) == 0
