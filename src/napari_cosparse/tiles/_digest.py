"""Checksum of what a run keeps: Zarr takes chunks that are lost for empty ones."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Mapping
from itertools import product
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


def checksums(store: Path, names: Iterable[str]) -> Generator[None, None, dict[str, str]]:
    """Read arrays of a store, chunk by chunk.

    Parameters
    ----------
    store : Path
        An array, or a group of arrays.
    names : iterable of str
        Which of the group; that of an array is empty.

    Yields
    ------
    None
        After each chunk.

    Returns
    -------
    dict of str to str
        By name.

    Raises
    ------
    Exception
        Zarr's, or the file system's, if one cannot be read.
    """
    found = {}
    for name in names:
        array: Any = zarr.open_array(store / name, mode="r")
        digest = Digest()
        digest.add(np.frombuffer(f"{array.shape} {array.dtype}".encode(), np.uint8))
        starts = (
            range(0, size, step) for size, step in zip(array.shape, array.chunks, strict=True)
        )
        for corner in product(*starts):
            chunk = zip(corner, array.chunks, strict=True)
            digest.add(np.asarray(array[tuple(slice(a, a + size) for a, size in chunk)]))
            yield
        found[name] = digest.text
    return found
