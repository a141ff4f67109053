"""What is done for one block: it is solved with its halo, and kept."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from napari_cosparse.core.errors import ApartError
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.planes import plane_name
from napari_cosparse.core.progress import Progress, drain
from napari_cosparse.core.reconstruction import Scalars, Settings, upsample_steps

from ._arrays import write
from ._digest import Digest, is_whole
from ._folder import Folder
from ._lie import block_samples, block_settings, count_on_guide
from ._look import known_samples
from ._plan import Plan, Span
from ._sources import Source
from ._threads import Asked, threaded_map

PARTS = "parts.zarr"  # array of the solved blocks
PART = 1024  # pixels: side of a chunk of the solved blocks
READING = Progress("reading the block", 0, 1)

Place = tuple[int, int, int]  # number of the plane, of the block along rows and along columns
Band = tuple[int, int, int, slice, slice]  # of a block, in the array of solved blocks


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
    run: str  # of the working folder: blocks of an earlier run are none of this one
    target: Source
    guide: Source
    operators: OperatorPair
    settings: Settings  # without weights
    weights: Any  # NDArray, zarr.Array or None: confidence of the samples
    factor: tuple[float, float]
    reach: float
    turned: NDArray[np.float64] | None  # guide pixel to sample, unless factor and origin say it
    plan: Plan
    layers: tuple[Layer, ...]
    dtype: np.dtype[Any]
    unknown: float | None  # what the result has where nothing is known, if its type can say so
    result: str  # place of the result's array in the folder
    threads: int | None

    @property
    def folder(self) -> Folder:
        """Working folder."""
        return Folder(Path(self.output), self.run)

    def spans(self, place: Place) -> tuple[Span, Span]:
        """Axes of a block."""
        return self.plan.rows[place[1]], self.plan.columns[place[2]]

    def describe(self, place: Place) -> str:
        """Name a block for people."""
        rows, columns = self.spans(place)
        target = self.layers[place[0]].target
        plane = f"plane {plane_name(target)}, " if len(self.layers) > 1 else ""
        return (
            f"{self.output}: block of {plane}rows {rows.core.start}:{rows.core.stop}, "
            f"columns {columns.core.start}:{columns.core.stop}"
        )


def marker(place: Place) -> str:
    """Name of the file that says that a block is done."""
    return "-".join(map(str, place)) + ".json"


def parts_shape(job: Job) -> tuple[int, ...]:
    """Shape of the array of solved blocks."""
    sizes = [
        max(span.kept.stop - span.kept.start for span in axis)
        for axis in (job.plan.rows, job.plan.columns)
    ]
    return (len(job.layers), len(job.plan.rows), len(job.plan.columns), *sizes)


def solve_block(
    job: Job, place: Place, cancelled: Asked | None = None
) -> Generator[Progress, None, None]:
    """Solve a block with its halo and keep it in the folder.

    Parameters
    ----------
    job : Job
        The job.
    place : tuple of int
        Which block.
    cancelled : callable, optional
        See `threaded_map`.

    Yields
    ------
    Progress
        Of the solver.
    """
    rows, columns = job.spans(place)
    image, notes = yield from _solve(job, place, cancelled)
    cut = tuple(
        slice(axis.kept.start - axis.window.start, axis.kept.stop - axis.window.start)
        for axis in (rows, columns)
    )
    kept = image[cut]
    parts, digest = zarr.open_array(job.folder.inside / PARTS, mode="r+"), Digest()
    for where in _bands(job, place):
        band = kept[where[-2:]]
        write(parts, where, band, job.describe(place))
        digest.add(band)
        yield Progress("keeping the block", 1, 1)
    job.folder.write_json(f"solved/{marker(place)}", notes | {"digest": digest.text})


def is_solved(job: Job, place: Place) -> bool:
    """Say whether an earlier run has solved a block, and what it kept is whole.

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
    notes = job.folder.read_json(f"solved/{marker(place)}")
    return is_whole(notes, job.folder.inside / PARTS, _bands(job, place))


def _bands(job: Job, place: Place) -> Iterator[Band]:
    """Where the bands of a block lie among the solved ones."""
    rows, columns = (span.kept.stop - span.kept.start for span in job.spans(place))
    for first in range(0, rows, PART):
        yield (*place, slice(first, min(first + PART, rows)), slice(columns))


def _solve(
    job: Job, place: Place, cancelled: Asked | None
) -> Generator[Progress, None, tuple[NDArray[Any], dict[str, Any]]]:
    layer, (rows, columns) = job.layers[place[0]], job.spans(place)
    shape = rows.window.stop - rows.window.start, columns.window.stop - columns.window.start
    one = len(job.plan.blocks) == 1  # the whole: as in memory, to the last bit
    turned = None if one else job.turned
    samples = block_samples((rows, columns), job.target.plane, turned, job.reach)
    if one and job.turned is not None:
        samples = slice(0, job.target.plane[0]), slice(0, job.target.plane[1])
    yield READING
    target = read_target(job.target, layer.target, *samples)
    weights = None if job.weights is None else np.asarray(job.weights[samples])
    known = known_samples(target, job.settings.invalid, weights)
    spans, lie = (rows, columns), (job.factor, job.turned)
    settings = block_settings(job.settings, spans, samples, *lie, weights)
    if layer.whole is None:
        return _nothing(shape), {"known": 0}
    if not known.any():
        return _nothing(shape), {"known": 0, "blank": _covers(target, settings, shape)}
    guide = yield from _read_guide(job.guide, layer.guide, rows.window, columns.window)
    yield Progress("preparing the block", 0, 1)
    map_ = threaded_map(job.threads, cancelled)
    whole = None if one else layer.whole
    corner = rows.window.start, columns.window.start
    try:
        steps = upsample_steps(
            target, guide, job.operators, settings, map_=map_, whole=whole, corner=corner
        )
    except ApartError:  # only corners of a turned target's box lie here
        return _nothing(shape), {"known": 0}
    result = yield from steps
    notes = {
        "known": int(known.sum()),
        "misfit": result.misfit,
        "overshoot": result.overshoot,
        "iterations": result.iterations,
        "converged": result.stop.converged,
    }
    return result.image, notes


def _nothing(shape: tuple[int, int]) -> NDArray[Any]:
    return np.full(shape, np.nan, np.float32)


def _read_guide(
    source: Source, index: tuple[int, ...], rows: slice, columns: slice
) -> Generator[Progress, None, NDArray[Any]]:
    """Read a part of the guide band by band, so that a run can be stopped in between."""
    bands = source.bands(rows)
    if isinstance(source.array, np.ndarray) or len(bands) == 1:
        return source.read(index, rows, columns)
    colours = (source.channels,) if source.colour else ()
    shape = rows.stop - rows.start, columns.stop - columns.start, *colours
    pixels = np.empty(shape, source.dtype)
    for band in bands:
        yield READING
        pixels[band.start - rows.start : band.stop - rows.start] = source.read(index, band, columns)
    return pixels


def _covers(samples: NDArray[Any], settings: Settings, window: tuple[int, int]) -> bool:
    """Whether samples of a block lie on it: of a turned target, only corners of its box may."""
    if settings.transform is None or not samples.size:
        return bool(samples.size)
    return count_on_guide(np.ones(samples.shape, bool), settings.transform, window) > 0


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
