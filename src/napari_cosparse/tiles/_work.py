"""A run into a store in the making: checks, blocks, fingerprint, arrays, metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from napari_cosparse import __version__
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import Settings, place

from ._blocks import Job, Layer, Place, marker, parts_shape
from ._folder import Folder
from ._look import look_at_guide, look_at_target, scalars_of
from ._memory import as_bytes, free_memory
from ._ome import add_levels, axes_of, describe_image
from ._plan import Grid, Plan, estimate_bytes, largest_block, make_plan
from ._run import active_client, connect, solve_here, solve_in_processes, solve_on_cluster
from ._sources import Source
from ._stored import Stored
from ._threads import default_threads

REACH = {"box": 0.5, "gaussian": 1.0, "bicubic": 2.0, "none": 1.0}  # of kernels, in samples
UNITS = 1000  # of progress, for each block
OME = ".ome.zarr"


@dataclass(eq=False)
class Work:
    """A run in the making."""

    target: Source
    guide: Source
    operators: OperatorPair
    output: Path
    settings: Settings
    threads: int | None
    factor: tuple[float, float]
    origin: tuple[float, float]
    plan: Plan | None = None
    memory: int = 0
    client: Any = None
    own_client: bool = False
    processes: bool = False
    axes: tuple[Any, ...] = ()

    @classmethod
    def make(
        cls,
        images: tuple[Source, Source],
        operators: OperatorPair,
        output: Path,
        settings: Settings,
        threads: int | None,
    ) -> Work:
        """Check what can be checked without reading a pixel."""
        target, guide = images
        if guide.leading not in ((), target.leading):
            raise InputError(
                f"guide has {guide.leading} planes but the target {target.leading}; give one "
                "guide for all planes or one for each"
            )
        if isinstance(settings.start, np.ndarray):
            raise InputError("start must be 'bicubic' or 'random' where the result goes to a store")
        if settings.weights is not None and settings.weights.shape != target.plane:
            raise InputError(
                f"weights have shape {settings.weights.shape}; it must be {target.plane}"
            )
        coverage, sampling = place(guide.plane, target.plane, settings)
        if settings.dtype == "input" and target.dtype.kind != "f" and not coverage.whole:
            raise InputError(
                f"dtype 'input' ({target.dtype}) cannot mark the pixels that the target does not "
                "cover as unknown; use dtype 'float32'"
            )
        factor = sampling.rows.factor, sampling.columns.factor
        origin = (
            sampling.rows.origin + coverage.window[0].start,
            sampling.columns.origin + coverage.window[1].start,
        )
        return cls(target, guide, operators, output, settings, threads, factor, origin)

    @property
    def folder(self) -> Folder:
        """Working folder."""
        return Folder(self.output)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the result."""
        return np.dtype(np.float32) if self.settings.dtype == "float32" else self.target.dtype

    @property
    def ome(self) -> bool:
        """Whether a multiscale image is wanted."""
        return self.output.name.endswith(OME)

    def choose_blocks(
        self,
        memory: int | str | None,
        block: int | None,
        scheduler: Any,  # noqa: ANN401
    ) -> None:
        """Choose who works, and the largest blocks that stay within the budget."""
        if scheduler not in (None, "threads", "processes"):
            self.own_client = isinstance(scheduler, str)
            self.client = connect(scheduler) if isinstance(scheduler, str) else scheduler
        elif scheduler is None:
            self.client = active_client()
        self.processes = scheduler == "processes"
        given = None if memory is None else as_bytes(memory)
        if block is not None and block < 1:
            raise InputError(f"block {block} must be a positive number of pixels")
        budget = given or free_memory() // 2
        solves = (self.threads or default_threads()) if self.processes else 1
        each = self.guide.channels * self.guide.dtype.itemsize
        alone = self.client is None and not self.processes
        if block is None and (not alone or self._estimate(self.guide.plane) > budget):
            block = largest_block(budget // solves, self.factor, each)
        blur = REACH[self.settings.blur]
        grid = Grid(self.guide.plane, self.target.plane, self.factor, self.origin, blur)
        self.plan = make_plan(grid, block)
        largest = tuple(
            max(s.window.stop - s.window.start for s in axis)
            for axis in (self.plan.rows, self.plan.columns)
        )
        self.memory = solves * self._estimate((largest[0], largest[1]))

    def _estimate(self, shape: tuple[int, int]) -> int:
        area = self.factor[0] * self.factor[1]
        return estimate_bytes(
            shape,
            self.guide.channels * self.guide.dtype.itemsize,
            (self.target.dtype.itemsize + 24) / area,
        )

    def describe_axes(
        self,
        names: str | None,
        pixel_size: Sequence[float] | None,
        units: Sequence[str | None] | None,
    ) -> None:
        """Keep names, sizes and units of the result's axes, if it is an OME-Zarr."""
        count = len(self.target.array.shape)
        names = names or "tczyx"[-count:]
        size = tuple(float(s) for s in pixel_size) if pixel_size else (1.0,) * count
        unit = tuple(units) if units else (None,) * count
        if not len(names) == len(size) == len(unit) == count:
            raise InputError(
                f"axes {names!r}, pixel size {size} and units {unit} must be those of the "
                f"target's {count} axes"
            )
        if self.ome:
            axes_of(names, unit)
        self.axes = (names, size, unit)

    def look(self) -> Generator[Progress, None, tuple[list[tuple[Any, ...]], list[str]]]:
        """Read all once: checksums, and the scalars that all blocks share."""
        assert self.plan is not None  # noqa: S101 - choose_blocks made it
        blocks, need = len(self.plan.blocks), self.memory / 1e6
        yield Progress(f"needs about {need:.0f} MB of memory, {blocks} blocks a plane", 0, UNITS)
        guides: dict[tuple[int, ...], tuple[tuple[float, float] | None, str]] = {}
        layers, digests, leading = [], [], self.target.leading
        channels = range(self.target.channels) if self.target.colour else (None,)
        total = max(1, int(np.prod(leading, dtype=int)))
        for number, index in enumerate(np.ndindex(*leading)):
            yield Progress(f"reading plane {number + 1} of {total}", number, UNITS * total)
            which = index if self.guide.leading else ()
            if which not in guides:
                guides[which] = look_at_guide(self.guide, which)
            samples, digest = look_at_target(self.target, index)
            digests += [digest, guides[which][1]]
            for channel in channels:
                plane = samples if channel is None else samples[..., channel]
                span = guides[which][0]
                whole = scalars_of(plane, span, self.operators, self.settings, self.factor)
                layers.append((index, which, channel, whole))
        return layers, digests

    def notes(self) -> dict[str, Any]:
        """Describe the run as JSON values."""
        assert self.plan is not None  # noqa: S101 - choose_blocks made it
        return {
            "program": "napari-cosparse",
            "version": __version__,
            "parameters": self.settings.as_json()
            | {"factor": list(self.factor), "origin": list(self.origin)},
            "plan": {
                "rows": [[s.core.start, s.core.stop] for s in self.plan.rows],
                "columns": [[s.core.start, s.core.stop] for s in self.plan.columns],
                "halo": self.plan.halo,
                "fade": self.plan.fade,
                "chunk": list(self.plan.chunk),
            },
            "memory": self.memory,
            "axes": [list(part) for part in self.axes],
        }

    def fingerprint(self, digests: list[str]) -> str:
        """Checksum of inputs, operators and all that changes the result."""
        notes = {key: value for key, value in self.notes().items() if key != "memory"}
        content = [digests, notes, str(self.dtype), _checksum(self.operators)]
        if self.settings.weights is not None:
            content.append(hashlib.blake2b(self.settings.weights.tobytes()).hexdigest())
        return hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()

    def job(self, found: list[tuple[Any, ...]]) -> Job:
        """Make the arrays of the folder and say what is to be done."""
        assert self.plan is not None  # noqa: S101 - choose_blocks made it
        layers = []
        for index, which, channel, whole in found:
            target, result = (*index,), (*index, ...)
            if channel is not None:
                target = (*index, channel)
                result = (*index, channel, ...) if self.ome else (*index, ..., channel)
            layers.append(Layer(target, which, result, whole))
        result_place = "result/0" if self.ome else "result"
        remote = self.client is not None or self.processes
        job = Job(
            str(self.output.absolute()),
            self._on_disk(self.target) if remote else self.target,
            self._on_disk(self.guide) if remote else self.guide,
            self.operators,
            self.settings,
            self.factor,
            self.plan,
            tuple(layers),
            self.dtype,
            result_place,
            1 if remote else self.threads,
        )
        shape = parts_shape(job)
        job.folder.array("parts.zarr", shape, (1, 1, 1, *shape[3:]), np.dtype(np.float32))
        job.folder.array(
            result_place, self._shape(), self._chunks(), self.dtype, self._dimensions()
        )
        return job

    def _on_disk(self, source: Source) -> Source:
        """Give a source that other processes can read: nothing large goes through the client."""
        if isinstance(source.array, zarr.Array) and isinstance(
            source.array.store, zarr.storage.LocalStore
        ):
            return source
        parts = (
            ((*index, rows), strip)
            for index in np.ndindex(*source.leading)
            for rows, strip in source.strips(index)
        )
        return replace(source, array=self.folder.spill(source.name, parts, source.array))

    def _shape(self) -> tuple[int, ...]:
        leading, plane = self.target.leading, self.guide.plane
        if not self.target.colour:
            return (*leading, *plane)
        channels = self.target.channels
        return (*leading, channels, *plane) if self.ome else (*leading, *plane, channels)

    def _chunks(self) -> tuple[int, ...]:
        assert self.plan is not None  # noqa: S101 - choose_blocks made it
        ones = (1,) * (len(self._shape()) - 2)
        if self.target.colour and not self.ome:
            return (*ones[:-1], *self.plan.chunk, 1)
        return (*ones, *self.plan.chunk)

    def _dimensions(self) -> tuple[str, ...] | None:
        return tuple(self.axes[0][i] for i in self._order()) if self.ome else None

    def solve(self, job: Job, places: list[Place]) -> Generator[float, None, None]:
        """Solve blocks wherever they are to be solved."""
        if not places:
            return
        try:
            if self.client is not None:
                yield from solve_on_cluster(job, places, self.client)
            elif self.processes:
                yield from solve_in_processes(job, places, self.threads)
            else:
                yield from solve_here(job, places)
        finally:
            if self.own_client:
                self.client.close()

    def finish(self, job: Job, places: list[Place], resumed: int, *, overwrite: bool) -> Stored:
        """Write the metadata, put the result in its place and describe it."""
        solved = [self.folder.read_json(f"solved/{marker(p)}") or {} for p in places]
        blended = [self.folder.read_json(f"blended/{marker(p)}") or {} for p in places]
        count = sum(note["count"] for note in blended)
        squares = sum(note["squares"] for note in blended)
        rms = (squares / count) ** 0.5 if count else 0.0
        largest = max(note["largest"] for note in blended)
        misfit = max(note.get("misfit", 0.0) for note in solved)
        figures = {
            "disagreement": {"rms": rms, "largest": largest, "pixels": count},
            "misfit": misfit,
            "blocks": len(places),
            "converged": sum(bool(note.get("converged")) for note in solved),
        }
        notes = self.notes() | {"scalars": [
            None if layer.whole is None else layer.whole.to_json() for layer in job.layers
        ], "result": figures}  # fmt: skip
        root = self.folder.path / "result"
        if self.ome:
            names, size, units = self.axes
            order = self._order()
            axes = axes_of([names[i] for i in order], [units[i] for i in order])
            levels = add_levels(root)
            name = self.output.name.removesuffix(OME)
            describe_image(root, name, axes, [size[i] for i in order], levels, notes)
        else:
            zarr.open_array(root, mode="r+").attrs.update({"napari-cosparse": notes})
        self.folder.finish("result", overwrite=overwrite)
        return Stored(
            self.output,
            self._shape(),
            str(self.dtype),
            self.factor,
            self.origin,
            len(places),
            resumed,
            self.memory,
            (rms, largest),
            misfit,
            notes["parameters"],
        )

    def _order(self) -> list[int]:
        """Order of the target's axes in the result: channels of a colour come before the plane."""
        count = len(self.target.array.shape)
        if not self.target.colour or self.target.first:
            return list(range(count))
        return [*range(count - 3), count - 1, count - 3, count - 2]


def _checksum(pair: OperatorPair) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for group in pair.groups:
        for part in (group.offsets, group.coefficients_u, group.coefficients_v):
            digest.update(np.ascontiguousarray(part).tobytes())
        digest.update(repr(group.weight).encode())
    return digest.hexdigest()
