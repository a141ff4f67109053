"""Checksum of what a run keeps: Zarr takes chunks that are lost for empty ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zarr
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


def is_whole(
    notes: Mapping[str, Any] | None, array: Path, bands: Iterable[tuple[Any, ...]]
) -> bool:
    """Say whether what an earlier run kept is what it noted.

    Parameters
    ----------
    notes : mapping or None
        Of the run, with the checksum as "digest"; None if it did not come so far.
    array : Path
        Where it kept it.
    bands : iterable of tuple
        Indices of the bands, in the order in which they were written.

    Returns
    -------
    bool
    """
    if notes is None:
        return False
    digest = Digest()
    try:
        kept: Any = zarr.open_array(array, mode="r")
        for band in bands:
            digest.add(np.asarray(kept[band]))
    except Exception:  # noqa: BLE001 - whatever is wrong with a chunk, its block is made again
        return False
    return digest.text == notes.get("digest")
