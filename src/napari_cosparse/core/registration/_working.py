"""Both images on grids of one pixel size that fit the solvers, and the way back to their pixels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.mapping import Map, once
from napari_cosparse.core.types import Mask, Plane

from ._frame import Matrix
from ._pixel import SAME, Axes, axes_of, pixel_shape, sides_of
from ._resampling import extent, resampled, straightened
from ._sides import LEAST_SIDE, Side, check_mask, luminance, make_side

LARGEST = 2048  # pixels: longer sides are reduced before registration
ENOUGH = 0.5  # share of known pixels that make a reduced pixel known
STRIP = 1 << 24  # pixels read at once from a large image
PIECE = 1 << 20  # pixels brought to one channel at once


@dataclass(frozen=True)
class Source:
    """One image as it came.

    Attributes
    ----------
    image : array-like, shape (h, w) or (h, w, 3) or (h, w, 4)
        NumPy, dask, Zarr: anything with a shape that can be cut.
    name : str
        What it is called in messages.
    mask : ndarray, shape (h, w), optional
        Nonzero where the image may be used.
    invalid : float, optional
        Value that means unknown.
    pixel_size : pair of float, or array_like, shape (2, 2)
        Rows and columns, in any unit that both images share; or pixel steps to steps in the world.
    """

    image: Any
    name: str
    mask: Any = None
    invalid: float | None = None
    pixel_size: Any = (1.0, 1.0)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        shape = np.shape(self.image)
        if len(shape) not in (2, 3):
            raise InputError(
                f"{self.name} has shape {shape}; it must be (rows, columns), or with 3 or 4 colours"
            )
        return int(shape[0]), int(shape[1])

    @property
    def axes(self) -> Axes:
        """Pixel steps to steps in a world whose rows run along the image's, shape (2, 2)."""
        return pixel_shape(axes_of(self.pixel_size, self.name))


@dataclass(frozen=True)
class Working:
    """One image on the working grid.

    Attributes
    ----------
    side : Side
        Ready to be registered.
    to_working : ndarray, shape (3, 3)
        Pixel of the image -> pixel of the working grid.
    shrink : int
        How many times as large as the coarser image's pixels working pixels are along each axis.
    """

    side: Side
    to_working: Matrix
    shrink: int


def working_pair(fixed: Source, moving: Source, map_: Map = map) -> tuple[Working, Working]:
    """Bring two images to working grids of one square pixel size, and undo shear.

    Parameters
    ----------
    fixed, moving : Source
        The images.
    map_ : Map, optional
        Who runs it may stop between two parts.

    Returns
    -------
    tuple of Working
        Both; the pixel is the largest side of any pixel of the two, larger for images of more than
        about 2000 pixels.

    Raises
    ------
    InputError
        If an image, mask or pixel size breaks a rule.
    """
    axes = [source.axes for source in (fixed, moving)]
    pixel = float(np.max([sides_of(one) for one in axes]))
    largest = max(
        length / pixel
        for source, one in zip((fixed, moving), axes, strict=True)
        for length in (*(np.array(source.shape) * sides_of(one)), *extent(source.shape, one))
    )
    shrink = max(1, int(np.ceil(largest / LARGEST)))
    first, second = (_place(source, shrink * pixel, shrink, map_) for source in (fixed, moving))
    return first, second


def _place(source: Source, pixel: float, shrink: int, map_: Map) -> Working:
    axes = source.axes
    ratio = pixel / sides_of(axes)
    if not axes[0, 1] and (np.abs(ratio - 1) <= SAME).all():
        return Working(_whole(source, map_), np.eye(3), shrink)
    reduction = max(1, int(np.floor(ratio.min() + SAME)))
    side = _whole(source, map_) if reduction == 1 else _reduced(source, reduction, map_)
    matrix = np.diag([1 / reduction, 1 / reduction, 1.0])
    matrix[:2, 2] = (1 / reduction - 1) / 2  # the middle of a block of pixels
    rest = ratio / reduction
    if axes[0, 1]:
        side, straight = straightened(side, axes * (reduction / pixel))
        matrix = straight @ matrix
    elif (np.abs(rest - 1) > SAME).any():
        image, usable = resampled(side.image, side.usable, rest)
        side = replace(side, image=image, usable=usable)
        matrix = np.diag([1 / rest[0], 1 / rest[1], 1.0]) @ matrix
    if min(side.image.shape) < LEAST_SIDE:
        raise InputError(
            f"{source.name} has {side.image.shape[0]} x {side.image.shape[1]} pixels of size "
            f"{pixel:g}, the coarser of the two images; registration needs at least {LEAST_SIDE} "
            "along each side: check the pixel sizes"
        )
    return Working(side, matrix, shrink)


def _whole(source: Source, map_: Map) -> Side:
    mask = None if source.mask is None else np.asarray(source.mask)
    return make_side(np.asarray(source.image), source.name, mask, source.invalid, map_)


def _reduced(source: Source, factor: int, map_: Map) -> Side:
    """Average blocks of pixels, reading strips."""
    rows, columns = (size // factor for size in source.shape)
    if min(rows, columns) < LEAST_SIDE:
        raise InputError(
            f"{source.name} has {source.shape[0]} x {source.shape[1]} pixels, which is "
            f"{rows} x {columns} of the pixels of the other image; registration needs at least "
            f"{LEAST_SIDE} along each side: check the pixel sizes"
        )
    if source.mask is not None:
        _check_reduced_mask(source, factor)
    image = np.empty((rows, columns), np.float64)
    known = np.empty((rows, columns), np.bool_)
    for top, stop in _strips(source.image, rows, columns, factor):
        part = slice(top * factor, stop * factor), slice(0, columns * factor)
        image[top:stop], known[top:stop] = once(map_, block_means, source, part, factor)
    return make_side(np.where(known, image, np.nan), source.name, map_=map_)


def _strips(
    image: Any,  # noqa: ANN401 - anything with a shape that can be cut
    rows: int,
    columns: int,
    factor: int,
) -> Iterator[tuple[int, int]]:
    """First row of reduced pixels and the one after the last, of parts that are read at once."""
    step = max(1, STRIP // (columns * factor * factor))
    chunks = getattr(image, "chunks", None)
    if isinstance(chunks, tuple) and chunks:
        deep = chunks[0] if isinstance(chunks[0], int) else max(chunks[0])
        step = max(step, min(deep // factor, 4 * step))  # lest a chunk be read many times
    for top in range(0, rows, step):
        yield top, min(top + step, rows)


def _check_reduced_mask(source: Source, factor: int) -> None:
    """Refuse a mask that does not fit or leaves too little of the reduced image."""
    if tuple(source.mask.shape) != source.shape:
        check_mask(np.zeros(source.mask.shape, np.bool_), source.shape, source.name)
    rows, columns = (size // factor for size in source.shape)
    share = np.empty((rows, columns))
    for top, stop in _strips(source.mask, rows, columns, factor):
        part = source.mask[top * factor : stop * factor, : columns * factor]
        blocks = (np.nan_to_num(np.asarray(part)) != 0).reshape(stop - top, factor, columns, factor)
        share[top:stop] = blocks.mean((1, 3))
    chosen = share >= ENOUGH
    name = source.name if factor == 1 else f"{source.name} (reduced {factor} times)"
    check_mask(chosen, chosen.shape, name)


def block_means(source: Source, part: tuple[slice, slice], factor: int) -> tuple[Plane, Mask]:
    """Average blocks of pixels of a part of an image.

    Parameters
    ----------
    source : Source
        The image.
    part : tuple of slice
        Rows and columns, whole blocks; only these are read, at once.
    factor : int
        Side of a block, in pixels.

    Returns
    -------
    image : ndarray, shape (h, w), float64
        Mean of the known pixels of each block, in the image's unit.
    known : ndarray, shape (h, w), bool
        Where at least half of them are.
    """
    raw = np.asarray(source.image[part])
    mask = None if source.mask is None else np.asarray(source.mask[part])
    rows, columns = (size // factor for size in raw.shape[:2])
    image, known = np.empty((rows, columns)), np.empty((rows, columns), np.bool_)
    step = max(1, PIECE // (columns * factor * factor))
    for top in range(0, rows, step):
        piece = slice(top * factor, (top + step) * factor)
        found = _means(source, raw[piece], None if mask is None else mask[piece], factor)
        image[top : top + step], known[top : top + step] = found
    return image, known


def _means(
    source: Source, raw: NDArray[Any], mask: NDArray[Any] | None, factor: int
) -> tuple[Plane, Mask]:
    gray = luminance(raw, source.name)
    known = np.isfinite(gray)
    if source.invalid is not None:
        known &= (raw if raw.ndim == 2 else raw[..., :3].max(-1)) != source.invalid
    if mask is not None:
        known &= np.nan_to_num(mask) != 0
    shape = gray.shape[0] // factor, factor, gray.shape[1] // factor, factor
    count = known.reshape(shape).sum((1, 3))
    total = np.where(known, gray, 0).reshape(shape).sum((1, 3))
    return total / np.maximum(count, 1), count >= ENOUGH * factor**2
