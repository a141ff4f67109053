# mypy: disable-error-code="no-untyped-call, no-any-return"
# dask's arrays have no types
"""Resample arrays that do not fit the memory: each chunk of the result reads only its window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import Registered, Warp, invertible, plan_warp, resample

CHUNK = 1024  # rows and columns of the result's chunks, where the map does not shrink the image

Block = tuple[slice, slice]


def warp_lazily(
    array: Any,  # noqa: ANN401 - a NumPy, dask or Zarr array; they have no common type
    matrix: ArrayLike | Registered,
    shape: tuple[int, int] | None = None,
    *,
    chunks: int | None = None,
    order: str = "linear",
    fill: float | None = None,
    origin: tuple[int, int] = (0, 0),
    colour: bool = False,
    limits: tuple[float, float] | None = None,
) -> da.Array:
    """Resample a moving array onto the fixed image's pixels when it is asked for.

    Each plane becomes what `apply_transform` makes of it, to the last bit.

    Parameters
    ----------
    array : array, shape (..., H, W) or (..., H, W, 3 or 4)
        NumPy, dask or Zarr array. All planes are moved by the same transform; leading axes
        (time, channel, depth) keep their chunks.
    matrix : array_like, shape (3, 3), or Registration
        Maps fixed pixel (row, column, 1) to moving pixel (row, column, 1).
    shape : tuple of int, optional
        Rows and columns of the result; see `apply_transform`.
    chunks : int, optional
        Rows and columns of the result's chunks; 1024, less where the map shrinks the image, if
        None.
    order, fill, origin :
        As in `apply_transform`.
    colour : bool
        Whether the last axis holds colours.
    limits : tuple of float, optional
        Range that cubic interpolation of integers is clipped to. None takes each plane's own, for
        which all of it is read once; give the range where that is too much.

    Returns
    -------
    dask.array.Array, shape (..., *shape) or (..., *shape, 3 or 4)
        In the type of `array`.

    Raises
    ------
    InputError
        If an argument breaks a rule, or the registration is not trusted.
    """
    source = _as_dask(array, colour=colour)
    first = source.ndim - (3 if colour else 2)
    image_shape = source.shape[first : first + 2]
    warp, size = plan_warp(image_shape, source.dtype, matrix, shape, order, fill, origin)
    side = _chunk(warp, chunks)
    job = _Job(source, first, replace(warp, limits=limits), _planes_limits(source, first, warp))
    if limits is not None:
        job = replace(job, ranges=())
    edges = [[*range(0, n, side), n] for n in size]
    rows = [
        da.concatenate(
            [
                job.part((slice(top, bottom), slice(left, right)))
                for left, right in zip(edges[1][:-1], edges[1][1:], strict=True)
            ],
            axis=first + 1,
        )
        for top, bottom in zip(edges[0][:-1], edges[0][1:], strict=True)
    ]
    return da.concatenate(rows, axis=first)


def warp_levels(
    levels: Sequence[Any],
    matrix: ArrayLike | Registered,
    shape: tuple[int, int] | None = None,
    *,
    chunks: int | None = None,
    order: str = "linear",
    fill: float | None = None,
    origin: tuple[int, int] = (0, 0),
    colour: bool = False,
) -> list[da.Array]:
    """Resample a multiscale array, each level from its own.

    A pixel of a coarse level is taken for the mean over the fine pixels that it covers, so its
    centre is the centre of these.

    Parameters
    ----------
    levels : sequence of array, shape (..., H, W) or (..., H, W, 3 or 4)
        The levels, finest first.
    matrix, shape, chunks, order, fill, origin, colour :
        As in `warp_lazily`, for the finest level.

    Returns
    -------
    list of dask.array.Array
        As many levels, with about the same factors between them.

    Raises
    ------
    InputError
        If an argument breaks a rule, or the registration is not trusted.
    """
    if not levels:
        raise InputError("levels is empty; give at least one array")
    axis = levels[0].ndim - (3 if colour else 2)
    sizes = [np.array(level.shape[axis : axis + 2], float) for level in levels]
    motion = invertible(matrix)
    motion[:2, 2] += motion[:2, :2] @ np.asarray(origin, float)
    finest = np.array(
        shape or getattr(matrix, "fixed_shape", None) or levels[0].shape[axis : axis + 2], float
    )
    results = []
    for level, coarse in zip(levels, sizes, strict=True):
        shrink = sizes[0] / coarse
        target = np.maximum(np.rint(finest / shrink), 1)
        adapted = np.linalg.inv(_coarse_to_fine(shrink)) @ motion @ _coarse_to_fine(finest / target)
        adapted[2] = 0, 0, 1
        rows, columns = (int(n) for n in target)
        results.append(
            warp_lazily(
                level,
                adapted,
                (rows, columns),
                chunks=chunks,
                order=order,
                fill=fill,
                colour=colour,
            )
        )
    return results


def _coarse_to_fine(factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pixel of a coarse grid to pixel of the fine one; both cover the same area."""
    matrix = np.diag([*factors, 1.0])
    matrix[:2, 2] = (factors - 1) / 2
    return matrix


@dataclass(frozen=True, eq=False)
class _Job:
    """An array, where its rows are, how it is resampled, and its range, plane by plane."""

    source: da.Array
    axis: int
    warp: Warp
    ranges: tuple[da.Array, ...]

    def part(self, block: Block) -> da.Array:
        """One chunk of the result."""
        lead = self.source.chunks[: self.axis]
        colours = tuple((size,) for size in self.source.shape[self.axis + 2 :])
        chunks = (*lead, *((axis.stop - axis.start,) for axis in block), *colours)
        window = self.warp.window(block)
        if window is None:
            shape = tuple(sum(sizes) for sizes in chunks)
            return da.full(shape, self.warp.fill, dtype=self.source.dtype, chunks=chunks)
        cut = self.source[(slice(None),) * self.axis + window]
        whole = cut.rechunk(dict.fromkeys(range(self.axis, cut.ndim), -1))
        work = partial(_planes, warp=self.warp, window=window, block=block, axis=self.axis)
        return da.map_blocks(
            work,
            whole,
            *self.ranges,
            chunks=chunks,
            dtype=self.source.dtype,
            meta=np.empty((0,) * cut.ndim, self.source.dtype),
        )


def _planes(
    part: NDArray[Any],
    *ranges: NDArray[Any],
    warp: Warp,
    window: Block,
    block: Block,
    axis: int,
) -> NDArray[Any]:
    """Resample all planes of a chunk."""
    size = tuple(side.stop - side.start for side in block)
    result = np.empty(part.shape[:axis] + size + part.shape[axis + 2 :], part.dtype)
    for index in np.ndindex(part.shape[:axis]):
        limits = tuple(r[index].item() for r in ranges) if ranges else warp.limits
        plane = replace(warp, limits=limits)
        result[index] = resample(plane, part[index], window, block)
    return result


def _planes_limits(source: da.Array, axis: int, warp: Warp) -> tuple[da.Array, ...]:
    """Smallest and largest value of each plane, where cubic interpolation is clipped to them."""
    if warp.order != "cubic" or source.dtype.kind not in "ui":
        return ()
    axes = tuple(range(axis, source.ndim))
    return source.min(axis=axes, keepdims=True), source.max(axis=axes, keepdims=True)


def _chunk(warp: Warp, chunks: int | None) -> int:
    if chunks is None:
        reach = float(np.linalg.norm(warp.matrix[:2, :2], 2))
        return max(ceil(CHUNK / max(reach, 1.0)), 32)
    if isinstance(chunks, bool) or not isinstance(chunks, int | np.integer) or chunks < 1:
        raise InputError(f"chunks {chunks!r} must be a whole number of at least 1, in pixels")
    return int(chunks)


def _as_dask(array: Any, *, colour: bool) -> da.Array:  # noqa: ANN401 - see warp_lazily
    source = array if isinstance(array, da.Array) else da.from_array(array)
    if source.dtype.kind not in "buif":
        raise InputError(f"the array has type {source.dtype}; it needs real numbers")
    if source.ndim < (3 if colour else 2) or (colour and source.shape[-1] not in (3, 4)):
        wanted = "(..., H, W, 3 or 4)" if colour else "(..., H, W)"
        raise InputError(f"the array has shape {source.shape}; it must be {wanted}")
    if not all(source.shape):
        raise InputError(f"the array has shape {source.shape}: there is nothing to resample")
    return source
