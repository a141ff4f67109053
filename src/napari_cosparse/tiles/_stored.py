"""The record of a result that was written to a store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, eq=False)
class Stored:
    """A result that was written to a Zarr store.

    Attributes
    ----------
    path : Path
        The store: an array, or a multiscale image if its name ends in ``.ome.zarr``.
    shape : tuple of int
        Shape of the (finest) array.
    dtype : str
        Its type.
    factor, origin : tuple of float
        Distance of two target samples and position of the first, in guide pixels.
    blocks : int
        Number of blocks, over all planes.
    resumed : int
        How many of them an earlier run had solved.
    memory : int
        Estimate of the memory that the run needs, in bytes, made before it.
    disagreement : tuple of float
        Root mean square and largest difference of neighbouring blocks where they overlap, before
        the cross-fade, in the target's unit; zeros where no blocks overlap.
    misfit : float
        Largest ``|Phi s - y|`` of a block over its known samples, in the target's unit.
    parameters : dict
        All settings, JSON values.
    blank : tuple of tuple of int
        Indices of the target's planes without a known sample; a channel comes last. Their result
        is unknown: NaN, or the invalid value where its type is an integer.
    blank_blocks : int
        Number of blocks of other planes that the target covers, but without a known sample in
        reach: their result is unknown too, other than in memory. Larger blocks reach farther.
    compared : int
        Number of pixels in which blocks overlap, for `disagreement`.
    found : bool
        Whether the store was there already, complete and of this very job: nothing was written.
    """

    path: Path
    shape: tuple[int, ...]
    dtype: str
    factor: tuple[float, float]
    origin: tuple[float, float]
    blocks: int
    resumed: int
    memory: int
    disagreement: tuple[float, float]
    misfit: float
    parameters: dict[str, Any]
    blank: tuple[tuple[int, ...], ...] = ()
    blank_blocks: int = 0
    compared: int = 0
    found: bool = False
