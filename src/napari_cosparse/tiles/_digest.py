"""Checksum of an array that is seen band by band."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Digest:
    """Of the bits of all bands, one after the other."""

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
