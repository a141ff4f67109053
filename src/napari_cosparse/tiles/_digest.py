"""Checksum of what a run keeps: Zarr takes chunks that are lost for empty ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Digest:
    """Checksum of the bits of all bands, one after the other."""

    def __init__(self) -> None:
        """Begin without any."""
        self._sum = hashlib.blake2b(digest_size=16)

    def add(self, band: NDArray[Any]) -> None:
        """See a further band.

        Parameters
        ----------
        band : ndarray
            Of any type.
        """
        self._sum.update(np.ascontiguousarray(band).data)

    @property
    def text(self) -> str:
        """Hexadecimal."""
        return self._sum.hexdigest()


def is_whole(notes: Mapping[str, Any] | None, bands: Iterable[NDArray[Any]]) -> bool:
    """Say whether what an earlier run kept is what it noted.

    Parameters
    ----------
    notes : mapping or None
        Of the run, with the checksum as "digest"; None if it did not come so far.
    bands : iterable of ndarray
        What can be read of it now.

    Returns
    -------
    bool
    """
    if notes is None:
        return False
    digest = Digest()
    try:
        for band in bands:
            digest.add(band)
    except Exception:  # noqa: BLE001 - whatever is wrong with a chunk, its block is made again
        return False
    return digest.text == notes.get("digest")
