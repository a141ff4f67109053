"""What is done for one block: solve it with its halo, and blend it with its neighbours."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress, drain
from napari_cosparse.core.reconstruction import Scalars, Settings, upsample_steps

from ._folder import Folder, write
from ._plan import Plan, Span
from ._sources import Source
from ._threads import threaded_map

Place = tuple[int, int, int]  # number of the plane, of the block along rows and along columns


@dataclass(frozen=True, eq=False)
class Layer:
    """One plane of a job: where it is read and written, and its scalars."""

    target: tuple[Any, ...]  # index of the target's plane; a colour's channel comes last
    guide: tuple[int, ...]
    result: tuple[Any, ...]  # index in the result, Ellipsis for rows and columns
    whole: Scalars | None  # None where the target has no known sample


@dataclass(frozen=True, eq=False)
class Job:
    """All that a worker needs to know; small if the sources are on disk."""

    output: str
    target: Source
    guide: Source
    operators: OperatorPair
    settings: Settings
    factor: tuple[float, float]
    plan: Plan
    layers: tuple[Layer, ...]
    dtype: np.dtype[Any]
    result: str  # place of the result's array in the folder
    threads: int | None

    @property
    def folder(self) -> Folder:
        """Working folder."""
        return Folder(Path(self.output))

    def spans(self, place: Place) -> tuple[Span, Span]:
        """Axes of a block."""
        return self.plan.rows[place[1]], self.plan.columns[place[2]]

    def describe(self, place: Place) -> str:
        """Name a block for people."""
        rows, columns = self.spans(place)
        plane = f"plane {place[0]}, " if len(self.layers) > 1 else ""
        return (
            f"{self.output}: block of {plane}rows {rows.core.start}:{rows.core.stop}, "
            f"columns {columns.core.start}:{columns.core.stop}"
        )


def marker(place: Place) -> str:
    """Name of the file that says that a block is done."""
    return "-".join(map(str, place)) + ".json"


def parts_shape(job: Job) -> tuple[int, ...]:
    """Shape of the array of solved blocks; one chunk for each."""
    sizes = [
        max(span.kept.stop - span.kept.start for span in axis)
        for axis in (job.plan.rows, job.plan.columns)
    ]
    return (len(job.layers), len(job.plan.rows), len(job.plan.columns), *sizes)


def solve_block(job: Job, place: Place) -> Generator[Progress, None, None]:
    """Solve a block with its halo and keep it in the folder.

    Parameters
    ----------
    job : Job
        The job.
    place : tuple of int
        Which block.

    Yields
    ------
    Progress
        Of the solver.
    """
    rows, columns = job.spans(place)
    image, notes = yield from _solve(job, place)
    cut = tuple(
        slice(axis.kept.start - axis.window.start, axis.kept.stop - axis.window.start)
        for axis in (rows, columns)
    )
    kept = image[cut]
    parts = zarr.open_array(job.folder.path / "parts.zarr", mode="r+")
    write(parts, (*place, slice(kept.shape[0]), slice(kept.shape[1])), kept, job.describe(place))
    job.folder.write_json(f"solved/{marker(place)}", notes)


def _solve(
    job: Job, place: Place
) -> Generator[Progress, None, tuple[NDArray[Any], dict[str, Any]]]:
    layer, (rows, columns) = job.layers[place[0]], job.spans(place)
    shape = rows.window.stop - rows.window.start, columns.window.stop - columns.window.start
    nothing = np.full(shape, np.nan, np.float32), {"known": 0}
    target = read_target(job.target, layer.target, rows.samples, columns.samples)
    known = np.isfinite(target)
    if job.settings.invalid is not None:
        known &= target != job.settings.invalid
    if layer.whole is None or not known.any():
        return nothing
    guide = job.guide.read(layer.guide, rows.window, columns.window)
    weights = job.settings.weights
    settings = replace(
        job.settings,
        factor=job.factor,
        origin=(rows.origin, columns.origin),
        weights=None if weights is None else weights[rows.samples, columns.samples],
        dtype="float32",
    )
    map_ = threaded_map(job.threads)
    result = yield from upsample_steps(
        target, guide, job.operators, settings, map_=map_, whole=layer.whole
    )
    notes = {
        "known": int(known.sum()),
        "misfit": result.misfit,
        "overshoot": result.overshoot,
        "iterations": result.iterations,
        "converged": result.stop.converged,
    }
    return result.image, notes


def read_target(
    source: Source, index: tuple[Any, ...], rows: slice, columns: slice
) -> NDArray[Any]:
    """Read a part of the target; the last number of a colour's index is its channel."""
    if source.colour:
        return source.read(index[:-1], rows, columns)[..., index[-1]]
    return source.read(index, rows, columns)


def solve_now(job: Job, place: Place) -> Place:
    """Solve a block without reports: for other processes.

    Parameters
    ----------
    job : Job
        The job.
    place : tuple of int
        Which block.

    Returns
    -------
    tuple of int
        The same place.
    """
    if job.folder.read_json(f"solved/{marker(place)}") is None:  # a lost worker may have done it
        drain(solve_block(job, place))
    return place


def blend_block(job: Job, place: Place) -> None:
    """Cross-fade a block with its neighbours and write it to the result.

    Parameters
    ----------
    job : Job
        The job.
    place : tuple of int
        Which block.
    """
    plane, i, j = place
    parts = zarr.open_array(job.folder.path / "parts.zarr", mode="r")
    rows, columns = job.spans(place)
    shape = rows.core.stop - rows.core.start, columns.core.stop - columns.core.start
    out, share = np.zeros(shape), np.zeros(shape)
    for a, b in product(_near(i, job.plan.rows), _near(j, job.plan.columns)):
        part, down, right = _overlap(parts, job, (plane, a, b), (rows.core, columns.core))
        if part.size:
            weight = np.outer(
                _ramp(job.plan.rows[a], down, job.plan), _ramp(job.plan.columns[b], right, job.plan)
            ) * np.isfinite(part)
            inside = (
                slice(down.start - rows.core.start, down.stop - rows.core.start),
                slice(right.start - columns.core.start, right.stop - columns.core.start),
            )
            out[inside] += weight * np.nan_to_num(part)
            share[inside] += weight
    with np.errstate(invalid="ignore", divide="ignore"):
        image = np.where(share > 0, out / share, np.nan)
    array = zarr.open_array(job.folder.path / job.result, mode="r+")
    values = in_type(image, job.dtype)
    where = _where(job.layers[plane].result, rows.core, columns.core)
    write(array, where, values, job.describe(place))
    job.folder.write_json(f"blended/{marker(place)}", _disagreement(parts, job, place))


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


def in_type(image: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Round and clip to a type.

    Parameters
    ----------
    image : ndarray, float64
    dtype : dtype

    Returns
    -------
    ndarray
    """
    if dtype.kind == "f":
        return image.astype(dtype)
    if dtype.kind == "b":
        return image > 0.5
    limits = np.iinfo(dtype)
    top = np.nextafter(float(limits.max), 0) if dtype.itemsize > 4 else float(limits.max)
    return np.clip(np.rint(np.nan_to_num(image)), float(limits.min), top).astype(dtype)
