"""From arrays and settings to the problem that the solvers see, and back to a record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.bands import each_band
from napari_cosparse.core.errors import ApartError, InputError
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair
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
from ._sampling_protocol import Sampling
from ._scalars import Scalars, noise_of
from ._scale import Scaled, as_array, as_numbers, scale_target
from ._settings import Settings
from ._upsampled import Upsampled


@dataclass(frozen=True, eq=False)
class Task:
    """A problem together with what turns its solution into a record."""

    settings: Settings
    problem: Problem
    coverage: Coverage
    dtype: np.dtype[Any]
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
        image = self._finished(solution.image)
        shown = solution.image if self.settings.dtype == "float32" else self._scaled(image)
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
            image=image,
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

    def _finished(self, solved: Plane) -> NDArray[Any]:
        """Bring an image in ranges to the target's unit and type, and onto the whole grid."""
        kind = np.dtype(np.float32) if self.settings.dtype == "float32" else self.dtype
        image = np.empty(solved.shape, kind)

        def work(rows: slice) -> None:
            image[rows] = self._in_type(self.problem.target.restore(solved[rows]))

        each_band(work, solved.shape, self.problem.prior.map_)
        return self.coverage.paste(image)

    def _scaled(self, image: NDArray[Any]) -> Plane:
        """Bring a rounded and clipped result to ranges: the figures are those of the result."""
        part, target = image[self.coverage.window], self.problem.target
        out = np.empty(part.shape, np.float32)

        def work(rows: slice) -> None:
            out[rows] = (part[rows].astype(np.float64) - target.low) / target.span

        each_band(work, part.shape, self.problem.prior.map_)
        return out

    def _in_type(self, image: Plane) -> NDArray[Any]:
        """Float32, or rounded and clipped to the target's type where that is asked for."""
        if self.settings.dtype == "float32":
            return image.astype(np.float32)
        if self.dtype.kind == "f":
            return image.astype(self.dtype)
        if self.dtype.kind == "b":
            return image > 0.5  # halfway between False and True
        limits = np.iinfo(self.dtype)
        # The ends of 64-bit integers round to float64 numbers beyond them: clip those apart.
        rounded = np.rint(image)
        inner = (rounded > limits.min) & (rounded < limits.max)
        whole = np.where(inner, rounded, 0).astype(self.dtype)
        whole[rounded >= limits.max] = limits.max
        whole[rounded <= limits.min] = limits.min
        return whole


def prepare(
    target: ArrayLike,
    guide: ArrayLike,
    operators: OperatorPair,
    settings: Settings,
    map_: Map,
    whole: Scalars | None = None,
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

    Returns
    -------
    Task

    Raises
    ------
    InputError
        If an input breaks a rule.
    """
    samples, image = as_array(target, "target"), guide_planes(guide)
    confidence = _confidence(settings.weights, samples.shape)
    scaled = scale_target(
        samples, settings.invalid, confidence > 0, None if whole is None else whole.unit
    )
    height, width = image.shape[:2]
    coverage, sampling = place((height, width), scaled.samples.shape, settings, map_)
    if settings.dtype == "input" and samples.dtype.kind != "f" and not coverage.whole:
        raise InputError(
            f"dtype 'input' ({samples.dtype}) cannot mark the pixels that the target does not "
            "cover as unknown; use dtype 'float32'"
        )
    scaled, weights = _weigh(scaled, confidence, sampling)
    factor = sampling.factor
    strength = guide_strength(factor)
    scaled_guide = _scale_guide(image[coverage.window], settings, strength, map_, whole)
    bank = groups_for(operators, factor)
    noise = noise_of(scaled, settings.noise) if whole is None else whole.noise
    filled = fill_nearest(scaled.samples, scaled.known)
    problem = Problem(
        sampling=sampling,
        target=scaled,
        prior=Prior(
            bank,
            coverage.size,
            scaled_guide,
            map_,
            smooth_floor(filled, scaled.known, sampling),
        ),
        noise=noise,
        weights=weights,
        responses=bank.weight_sum * coverage.pixels,
        whole=whole,
    )
    task = Task(settings, problem, coverage, samples.dtype, scaled_guide is not None)
    task.check()
    return task


def _scale_guide(
    planes: NDArray[Any],
    settings: Settings,
    strength: float,
    map_: Map,
    whole: Scalars | None,
) -> ScaledGuide | None:
    """Guide in its units; None where it is left out or has nothing to say."""
    if whole is not None:
        span = whole.guide
    else:
        span = guide_range(planes, map_) if settings.guided else None
    return None if span is None else ScaledGuide(planes, *span, strength)


def _confidence(weights: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Confidence of each sample as given."""
    given = np.ones(shape) if weights is None else as_numbers(weights, "weights")
    if given.shape != shape:
        raise InputError(f"weights have shape {given.shape}; it must be the target's, {shape}")
    wrong = given[~(np.isfinite(given) & (given >= 0))]
    if wrong.size:
        raise InputError(
            f"weights have the value {wrong[0]:g}; they must be finite and at least 0 (0 means "
            "unknown)"
        )
    return given


def _weigh(scaled: Scaled, given: NDArray[np.float64], sampling: Sampling) -> tuple[Scaled, Plane]:
    """Known samples and their confidence, with mean 1 over the known ones."""
    known = scaled.known & sampling.inside
    if not known.any():
        raise ApartError("no known sample of the target lies on the guide; check the origin")
    confidence = np.where(known, given / given[known].mean(), 0.0).astype(np.float32)
    return replace(scaled, known=known), confidence
