"""Write the result as OME-Zarr: coarser levels, and metadata by yaozarrs."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from napari_cosparse.core.rounding import to_type

from ._arrays import write, writing
from ._plan import CHUNK

SMALLEST = 512  # pixels: no coarser level once both sides fit
STRIP = 256  # rows of a coarser level that are made at once


def add_levels(group: Path, unknown: float | None = None) -> Generator[None, None, int]:
    """Make coarser levels of array ``0`` of a group, each the mean of 2 x 2 pixels.

    Parameters
    ----------
    group : Path
        The group.
    unknown : float, optional
        Value of integers that means unknown: such pixels have no say, as NaN has none.

    Yields
    ------
    None
        After each strip.

    Returns
    -------
    int
        Number of levels, the finest included.
    """
    level, fine = 0, zarr.open_array(group / "0", mode="r")
    while max(fine.shape[-2:]) > SMALLEST:
        level += 1
        shape = (*fine.shape[:-2], *(-(-n // 2) for n in fine.shape[-2:]))
        chunks = (*(1 for _ in shape[:-2]), *(min(CHUNK, n) for n in shape[-2:]))
        with writing(f"{group}: level {level}"):
            coarse = zarr.create_array(
                group / str(level),
                shape=shape,
                chunks=chunks,
                dtype=fine.dtype,
                overwrite=True,
                dimension_names=getattr(fine.metadata, "dimension_names", None),
            )
        for index in np.ndindex(shape[:-2]):
            for first in range(0, shape[-2], STRIP):
                last = min(first + STRIP, shape[-2])
                part = np.asarray(fine[(*index, slice(2 * first, 2 * last))])
                values = to_type(_halve(part, unknown), fine.dtype, unknown=unknown)
                write(coarse, (*index, slice(first, last)), values, f"{group}: level {level}")
                yield
        fine = coarse
    return level + 1


def _halve(image: NDArray[Any], unknown: float | None) -> NDArray[np.float64]:
    """Mean of the known ones of 2 x 2 pixels; the last row and column count twice at odd sizes."""
    odd = [(0, n % 2) for n in image.shape]
    full = np.pad(image.astype(np.float64), odd, mode="edge")
    blocks = full.reshape(full.shape[0] // 2, 2, full.shape[1] // 2, 2)
    known = np.isfinite(blocks) & (blocks != unknown)
    count = known.sum((1, 3))
    with np.errstate(invalid="ignore"):
        halved: NDArray[np.float64] = np.where(known, blocks, 0).sum((1, 3)) / count
    return halved


def describe_image(
    group: Path,
    name: str,
    axes: list[dict[str, Any]],
    scale: Sequence[float],
    position: Sequence[float],
    levels: int,
    notes: dict[str, Any],
) -> None:
    """Write the metadata of a group.

    Parameters
    ----------
    group : Path
        The group.
    name : str
        Name of the image.
    axes : list of dict
        See `axes_of`.
    scale : sequence of float
        Size of a pixel along each axis.
    position : sequence of float
        Where the centre of the finest level's first pixel lies.
    levels : int
        Number of levels.
    notes : dict
        Of this package, JSON values.
    """
    from yaozarrs import v05

    data = []
    for level in range(levels):
        size = [*scale[:-2], *(s * 2**level for s in scale[-2:])]
        shift = [*(0.0 for _ in scale[:-2]), *((2**level - 1) / 2 * s for s in scale[-2:])]
        place = [a + b for a, b in zip(position, shift, strict=True)]
        moves = [{"type": "scale", "scale": size}]
        moves += [{"type": "translation", "translation": place}] if any(place) else []
        data.append({"path": str(level), "coordinateTransformations": moves})
    image = v05.Image.model_validate(
        {"multiscales": [{"name": name, "axes": axes, "datasets": data}]}
    )
    ome = json.loads(image.model_dump_json(exclude_none=True, by_alias=True))
    with writing(f"{group}: metadata"):
        root = zarr.open_group(group, mode="a")
        root.attrs.update({"ome": ome, "napari-cosparse": notes})
