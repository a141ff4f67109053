"""A run into a store in the making: checks, blocks, who solves them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.reconstruction import Settings, check_weights, place, straighten
from napari_cosparse.core.rounding import unknown_value

from ._axes import check_stored, describe_axes
from ._blocks import Job, Place
from ._folder import Folder
from ._memory import as_bytes, free_memory
from ._output import is_ome
from ._plan import (
    COVERED,
    THREAD_BYTES,
    Grid,
    Plan,
    estimate_bytes,
    largest_block,
    make_plan,
)
from ._run import client_of, solve_here, solve_in_processes, solve_on_cluster
from ._sources import Source
from ._threads import Asked, default_threads

REACH = {"box": 0.5, "gaussian": 1.0, "bicubic": 2.0, "none": 1.0}  # of kernels, in samples
ENTRY = 8  # bytes of a sparse matrix's entry


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
    pixels: float  # of the guide, that the target covers
    plan: Plan | None = None
    block: int | None = None
    memory: int = 0
    client: Any = None
    own_client: bool = False
    processes: bool = False
    axes: tuple[Any, ...] = ()
    cancelled: Asked | None = None

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
        check_weights(settings.weights, target.plane)
        coverage, sampling = place(guide.plane, target.plane, settings)
        factor = sampling.factor
        origin = (
            sampling.origin[0] + coverage.window[0].start,
            sampling.origin[1] + coverage.window[1].start,
        )
        work = cls(
            target, guide, operators, output, settings, threads, factor, origin, coverage.pixels
        )
        coverage.unknown_in(work.dtype, settings.invalid)
        return work

    @cached_property
    def folder(self) -> Folder:
        """Working folder."""
        return Folder(self.output)

    @property
    def plan_made(self) -> Plan:
        """The blocks, once `choose_blocks` has chosen them."""
        assert self.plan is not None  # noqa: S101 - narrows the type for the checker
        return self.plan

    @property
    def reach(self) -> float:
        """Half width of a sample's kernel, in distances of samples."""
        return REACH[self.settings.blur]

    @property
    def turned(self) -> NDArray[np.float64] | None:
        """Guide pixel to sample, if the target is turned against the guide."""
        matrix = self.settings.transform
        straight = matrix is None or straighten(matrix, self.target.plane) is not None
        return None if straight else matrix

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the result."""
        return np.dtype(np.float32) if self.settings.dtype == "float32" else self.target.own_dtype

    @property
    def unknown(self) -> float | None:
        """What the result has where nothing is known; None if its type has no value for that."""
        return unknown_value(self.dtype, self.settings.invalid)

    @property
    def ome(self) -> bool:
        """Whether a multiscale image is wanted."""
        return is_ome(self.output)

    def choose_blocks(
        self,
        memory: int | str | None,
        block: int | None,
        scheduler: Any,  # noqa: ANN401
        earlier: dict[str, Any] | None = None,
    ) -> None:
        """Choose who works, and the largest blocks that stay within the budget.

        Where neither budget nor block is given, an earlier unfinished run has chosen: the free
        memory is another one now, and other blocks would be another job.
        """
        given = None if memory is None else as_bytes(memory)
        self.client, self.own_client = client_of(scheduler)
        self.processes = scheduler == "processes"
        budget = given or free_memory() // 2
        solves = (self.threads or default_threads()) if self.processes else 1
        each = self._guide_bytes
        alone = self.client is None and not self.processes
        if earlier is not None and "block" in earlier and memory is None and block is None:
            block = earlier["block"]
        elif block is None and (not alone or self._estimate(self.guide.plane) > budget):
            block = largest_block(budget // solves, self.factor, each, solves)
        self.block = block
        grid = Grid(self.guide.plane, self.target.plane, self.factor, self.origin, self.reach)
        self.plan = make_plan(grid, block)
        largest = tuple(
            max(s.window.stop - s.window.start for s in axis)
            for axis in (self.plan.rows, self.plan.columns)
        )
        self.memory = solves * self._estimate((largest[0], largest[1]))
        if alone:
            self._fit_threads(budget)

    def _fit_threads(self, budget: int) -> None:
        """Use as many threads as the budget allows: other blocks would give other results."""
        wanted = self.threads or default_threads()
        most = COVERED + max(0, budget - self.memory) // THREAD_BYTES
        if wanted > most:
            self.threads = most
        self.memory += max(0, min(wanted, most) - COVERED) * THREAD_BYTES

    @property
    def _guide_bytes(self) -> float:
        """Bytes for each pixel of the guide, and of the matrix that a turned target needs."""
        pixel = 1.5 / min(self.factor)  # in samples, however it is turned
        matrix = 0.0 if self.turned is None else ENTRY * (2 * self.reach + pixel) ** 2
        return self.guide.channels * self.guide.dtype.itemsize + matrix

    def _estimate(self, shape: tuple[int, int]) -> int:
        area = self.factor[0] * self.factor[1]
        return estimate_bytes(shape, self._guide_bytes, (self.target.dtype.itemsize + 24) / area)

    def describe_axes(
        self,
        names: str | None,
        pixel_size: Sequence[float] | None,
        units: Sequence[str | None] | None,
        position: Sequence[float] | None,
    ) -> None:
        """Keep names, sizes, units and position of the result's axes."""
        self.axes = describe_axes(self.target, names, pixel_size, units, position)
        if self.ome:
            check_stored(self.target, self.axes)

    def solve(self, job: Job, places: list[Place]) -> Generator[float, None, None]:
        """Solve blocks wherever they are to be solved."""
        if self.client is not None:
            yield from solve_on_cluster(job, places, self.client, self.cancelled)
        elif self.processes:
            yield from solve_in_processes(job, places, self.threads, self.cancelled)
        else:
            yield from solve_here(job, places, self.cancelled)

    def close(self) -> None:
        """Leave a cluster that was entered for this run."""
        if self.own_client and self.client is not None:
            self.client.close()
