"""From arrays and settings to the problem that the solvers see, and back to a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.bands import each_band
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.mapping import Map, once
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.rounding import to_type
from napari_cosparse.core.types import Plane

from ._coverage import Coverage
from ._graduated import Solution
from ._guide import ScaledGuide, guide_planes, guide_range
from ._interpolate import fill_nearest
from ._place import place
from ._planarity import smooth_floor
from ._prior import Prior
from ._problem import Problem
from ._recipe import groups_for, guide_strength
from ._scalars import Scalars, noise_of
from ._scale import as_array, scale_target
from ._settings import Settings
from ._upsampled import Upsampled
from ._weights import confidence, weigh


@dataclass(frozen=True, eq=False)
class Task:
    """A problem together with what turns its solution into a record."""

    settings: Settings
    problem: Problem
    coverage: Coverage
    dtype: np.dtype[Any]  # of the result
    unknown: float  # what it has where the target does not reach
    guided: bool

    def start(self) -> Plane:
        """First image of the solver, in ranges."""
        begin, target = self.settings.start, self.problem.target
        if isinstance(begin, np.ndarray):
            return self._given_start(begin)
        if begin == "bicubic":
            return self.problem.interpolated()
        low, high = self.problem.bounds
        rng = np.random.default_rng(self.settings.seed)
        image = rng.uniform(float(low), float(high), self.coverage.size)
        return image.astype(target.samples.dtype)

    def _given_start(self, image: NDArray[Any]) -> Plane:
        target = self.problem.target
        scaled: Plane = (image[self.coverage.window] - target.low) / target.span
        return scaled.astype(np.float32)

    def check(self) -> None:
        """Refuse a start that does not fit.

        Raises
        ------
        InputError
            If its shape is another one or a value is not finite.
        """
        image = self.settings.start
        if not isinstance(image, np.ndarray):
            return
        if image.shape != self.coverage.shape:
            raise InputError(
                f"start has shape {image.shape}; it must be the guide's, {self.coverage.shape}"
            )
        if not np.isfinite(image[self.coverage.window]).all():
            raise InputError("start has values that are not finite; fill them first")

    def finish(self, solution: Solution) -> Upsampled:
        """Bring a solution back to the target's unit, with its provenance."""
        problem, target = self.problem, self.problem.target
        image = self._in_unit(solution.image)
        shown = solution.image if self.settings.dtype == "float32" else self._in_ranges(image)
        residual = np.abs(problem.sampling.forward(shown) - target.samples)
        factor, start = problem.sampling.factor, problem.sampling.origin
        origin = tuple(
            place + part.start for place, part in zip(start, self.coverage.window, strict=True)
        )
        noise = problem.noise * target.span
        parameters = self.settings.as_json() | {
            "factor": list(factor),
            "origin": list(origin),
            "noise": noise,
            "noise_estimated": self.settings.noise is None,
            "guided": self.guided,
        }
        return Upsampled(
            image=self.coverage.paste(image, self.unknown),
            factor=factor,
            origin=(origin[0], origin[1]),
            blur=self.settings.blur,
            noise=noise,
            noise_estimated=self.settings.noise is None,
            misfit=float(residual[target.known].max()) * target.span,
            overshoot=problem.overshoot(shown),
            costs=solution.costs,
            iterations=solution.iterations,
            evaluations=solution.evaluations,
            stop=solution.stop,
            guided=self.guided,
            parameters=parameters,
        )

    def _in_unit(self, solved: Plane) -> NDArray[Any]:
        """Bring an image in ranges to the target's unit, in its type."""
        image = np.empty(solved.shape, self.dtype)

        def work(rows: slice) -> None:
            image[rows] = to_type(self.problem.target.restore(solved[rows]), self.dtype)

        each_band(work, solved.shape, self.problem.prior.map_)
        return image

    def _in_ranges(self, image: NDArray[Any]) -> Plane:
        """Bring a rounded and clipped image to ranges: the figures are those of the result."""
        target, out = self.problem.target, np.empty(image.shape, np.float32)

        def work(rows: slice) -> None:
            out[rows] = (image[rows].astype(np.float64) - target.low) / target.span

        each_band(work, image.shape, self.problem.prior.map_)
        return out


def prepare(
    target: ArrayLike,
    guide: ArrayLike,
    operators: OperatorPair,
    settings: Settings,
    map_: Map,
    whole: Scalars | None = None,
    corner: tuple[int, int] = (0, 0),
) -> Task:
    """Check the input and set the problem up.

    Parameters
    ----------
    target, guide : array_like
        As for `upsample`.
    operators : OperatorPair
        The bank.
    settings : Settings
        The keywords of `upsample`.
    map_ : callable
        Like the built-in `map`.
    whole : Scalars, optional
        Of the images that these are parts of.
    corner : tuple of int
        First row and column of the guide in the whole one, in pixels.

    Returns
    -------
    Task

    Raises
    ------
    InputError
        If an input breaks a rule.
    """
    samples, image = as_array(target, "target"), guide_planes(guide)
    given = confidence(settings.weights, samples.shape)
    unit = None if whole is None else whole.unit
    scaled = scale_target(samples, settings.invalid, given > 0, unit, map_)
    coverage, sampling = place(image.shape[:2], scaled.samples.shape, settings, map_)
    dtype = np.dtype(np.float32) if settings.dtype == "float32" else samples.dtype
    unknown = coverage.unknown_in(dtype, settings.invalid)
    scaled, weights = once(map_, weigh, scaled, given, sampling)
    scaled_guide = _scale_guide(image, coverage, settings, sampling.factor, map_, whole)
    bank = groups_for(operators, sampling.factor)
    noise = once(map_, noise_of, scaled, settings.noise) if whole is None else whole.noise
    filled = once(map_, fill_nearest, scaled.samples, scaled.known)
    floor = once(map_, smooth_floor, filled, scaled.known, sampling)
    rows, columns = coverage.window
    problem = Problem(
        sampling=sampling,
        target=scaled,
        prior=Prior(bank, coverage.size, scaled_guide, map_, floor),
        noise=noise,
        weights=weights,
        responses=bank.weight_sum * coverage.pixels,
        whole=whole,
        corner=(corner[0] + rows.start, corner[1] + columns.start),
    )
    task = Task(settings, problem, coverage, dtype, unknown, scaled_guide is not None)
    task.check()
    return task


def _scale_guide(
    planes: NDArray[Any],
    coverage: Coverage,
    settings: Settings,
    factor: tuple[float, float],
    map_: Map,
    whole: Scalars | None,
) -> ScaledGuide | None:
    """Part of the guide that the target covers, in units of the whole guide.

    None where it is left out or has nothing to say.
    """
    if whole is not None:
        span = whole.guide
    else:
        span = guide_range(planes, map_) if settings.guided else None
    if span is None:
        return None
    return ScaledGuide(planes[coverage.window], *span, guide_strength(factor))
