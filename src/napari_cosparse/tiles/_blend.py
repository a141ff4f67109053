"""Blend the solved blocks where they overlap, and measure how much they disagree there."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import product
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from napari_cosparse.core.rounding import to_type

from ._arrays import write
from ._blocks import PARTS, Job, Place, marker
from ._digest import Digest, is_whole
from ._plan import Plan, Span


def blend_block(job: Job, place: Place) -> Generator[None, None, None]:
    """Cross-fade a block with its neighbours and write it to the result, chunk row by chunk row.

    Parameters
    ----------
    job : Job
        The job.
    place : tuple of int
        Which block.

    Yields
    ------
    None
        After each of them.
    """
    parts = zarr.open_array(job.folder.inside / PARTS, mode="r")
    array, digest = zarr.open_array(job.folder.inside / job.result, mode="r+"), Digest()
    for pixels, where in _bands(job, place):
        blended = _blended(parts, job, place, pixels)
        values = to_type(blended, job.dtype, unknown=job.unknown or 0)
        write(array, where, values, job.describe(place))
        digest.add(values)
        yield
    notes = _disagreement(parts, job, place) | {"digest": digest.text}
    job.folder.write_json(f"blended/{marker(place)}", notes)


def is_blended(job: Job, place: Place) -> bool:
    """Say whether an earlier run has written a block, and what it wrote is whole.

    Parameters
    ----------
    job : Job
        The job.
    place : tuple of int
        Which block.

    Returns
    -------
    bool
    """
    notes = job.folder.read_json(f"blended/{marker(place)}")
    array = job.folder.inside / job.result
    return is_whole(notes, array, (where for _, where in _bands(job, place)))


def _bands(job: Job, place: Place) -> Iterator[tuple[tuple[slice, slice], tuple[Any, ...]]]:
    """Rows of chunks of a block with its columns, and where they lie in the result."""
    rows, columns = (span.core for span in job.spans(place))
    for first in range(rows.start, rows.stop, job.plan.chunk[0]):
        band = slice(first, min(first + job.plan.chunk[0], rows.stop))
        yield (band, columns), _where(job.layers[place[0]].result, band, columns)


def _blended(
    parts: Any,  # noqa: ANN401 - zarr.Array
    job: Job,
    place: Place,
    pixels: tuple[slice, slice],
) -> NDArray[np.float64]:
    """Weighted mean of all blocks that have a say about some pixels of a block."""
    (plane, i, j), (rows, columns) = place, pixels
    shape = rows.stop - rows.start, columns.stop - columns.start
    out, share = np.zeros(shape), np.zeros(shape)
    for a, b in product(_near(i, job.plan.rows), _near(j, job.plan.columns)):
        part, down, right = _overlap(parts, job, (plane, a, b), pixels)
        if part.size:
            weight = np.outer(
                _ramp(job.plan.rows[a], down, job.plan), _ramp(job.plan.columns[b], right, job.plan)
            ) * np.isfinite(part)
            inside = (
                slice(down.start - rows.start, down.stop - rows.start),
                slice(right.start - columns.start, right.stop - columns.start),
            )
            out[inside] += weight * np.nan_to_num(part)
            share[inside] += weight
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(share > 0, out / share, np.nan)


def _where(index: tuple[Any, ...], rows: slice, columns: slice) -> tuple[Any, ...]:
    """Put rows and columns in the place of the Ellipsis."""
    at = index.index(...)
    return (*index[:at], rows, columns, *index[at + 1 :])


def _near(number: int, spans: tuple[Span, ...]) -> range:
    return range(max(0, number - 1), min(len(spans), number + 2))


def _overlap(
    parts: Any,  # noqa: ANN401 - zarr.Array
    job: Job,
    place: Place,
    pixels: tuple[slice, slice],
) -> tuple[NDArray[Any], slice, slice]:
    """Read what a block says about some pixels, and which of them these are."""
    cut, found = [], []
    for span, wanted in zip(job.spans(place), pixels, strict=True):
        first, last = max(span.kept.start, wanted.start), min(span.kept.stop, wanted.stop)
        last = max(first, last)
        found.append(slice(first, last))
        cut.append(slice(first - span.kept.start, last - span.kept.start))
    if any(part.stop == part.start for part in found):
        return np.zeros((0, 0)), found[0], found[1]
    return np.asarray(parts[(*place, *cut)], np.float64), found[0], found[1]


def _ramp(span: Span, pixels: slice, plan: Plan) -> NDArray[np.float64]:
    """Weight of a block along an axis: 1 inside, falling to 0 over the kept pixels around it."""
    at = np.arange(pixels.start, pixels.stop) + 0.5
    weight = np.ones(len(at))
    width = 2 * plan.fade
    if span.kept.start < span.core.start:
        weight = np.minimum(weight, (at - span.kept.start) / width)
    if span.kept.stop > span.core.stop:
        weight = np.minimum(weight, (span.kept.stop - at) / width)
    return np.clip(weight, 0, 1)


def _disagreement(parts: Any, job: Job, place: Place) -> dict[str, Any]:  # noqa: ANN401 - zarr.Array
    """Difference of a block to its neighbours below and to the right, where both have a say."""
    plane, i, j = place
    squares, count, largest = 0.0, 0, 0.0
    for a, b in ((i + 1, j), (i, j + 1)):
        if a >= len(job.plan.rows) or b >= len(job.plan.columns):
            continue
        theirs, down, right = _overlap(
            parts,
            job,
            (plane, a, b),
            tuple(span.kept for span in job.spans(place)),  # type: ignore[arg-type]
        )
        ours, _, _ = _overlap(parts, job, place, (down, right))
        difference = np.abs(ours - theirs)
        difference = difference[np.isfinite(difference)]
        squares += float((difference**2).sum())
        count += difference.size
        largest = max(largest, float(difference.max(initial=0)))
    return {"squares": squares, "count": count, "largest": largest}
