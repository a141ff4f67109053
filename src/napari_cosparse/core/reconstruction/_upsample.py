"""Guided upsampling: the public function."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress, drain

from ._graduated import EXACT, NOISY, Solution, graduate
from ._kernels import Blur
from ._paper import paper_schedule
from ._placing import Phase
from ._scalars import Scalars
from ._settings import Factor, OutputType, Settings, Solver, Start, read_transform
from ._setup import Task, prepare
from ._upsampled import Upsampled


def upsample(
    target: ArrayLike,
    guide: ArrayLike,
    operators: OperatorPair,
    *,
    factor: Factor | None = None,
    phase: Phase = "centre",
    blur: Blur = "box",
    noise: float | None = None,
    invalid: float | None = None,
    weights: ArrayLike | None = None,
    guided: bool = True,
    origin: tuple[float, float] | None = None,
    transform: ArrayLike | None = None,
    solver: Solver = "lbfgs",
    start: Start | NDArray[Any] = "bicubic",
    seed: int = 0,
    dtype: OutputType = "float32",
    map_: Map = map,
    report: Callable[[Progress], None] | None = None,
) -> Upsampled:
    """Bring a low-resolution target to the grid of a high-resolution guide.

    Minimises the coupled co-sparsity of the result and the guide (eq. depth_reconstruction of
    the paper) such that blurring and sub-sampling the result gives the target. Multiplying
    either image by a positive number or adding a constant changes nothing else.

    Parameters
    ----------
    target : array_like, shape (m1, m2)
        Low-resolution modality, any unit and any real numeric type.
    guide : array_like, shape (N1, N2) or (N1, N2, channels)
        High-resolution modality, gray or colour; an alpha channel (2 or 4 channels) is dropped.
    operators : OperatorPair
        Coupled atoms; U acts on the guide, V on the target.
    factor : float or tuple of float, optional
        Distance of two target samples in guide pixels, along rows and columns. If None, the
        whole number that fits both axes if there is one, else guide size / target size.
    phase : {"centre", "corner"}
        Where sample (0, 0) lies: in the middle of its d x d pixels, or on the first pixel.
    blur : {"box", "gaussian", "bicubic", "none"}
        What a sample averages: the box of a sensor pixel, the paper's Gaussian (sigma d/3), the
        antialiased cubic of image software, or nothing.
    noise : float, optional
        Standard deviation of the target's noise, in its unit. 0, or less than 0.2 % of the
        range, keeps the samples exactly; if None it is estimated.
    invalid : float, optional
        Value of the target that means unknown. NaN and infinities always do. Unknown samples
        never touch a known one and are filled by the model.
    weights : array_like, shape (m1, m2), optional
        Confidence of each sample, at least 0; 0 and masked mean unknown. The others act relative
        to their mean where the target is noisy.
    guided : bool
        False leaves the guide out.
    origin : tuple of float, optional
        Position (row, column) of sample (0, 0) on the guide's pixel grid, in pixels; overrides
        `phase`. The target may then cover a part of the guide only: farther than two samples
        outside the result is NaN, or `invalid` where it is of integers.
    transform : array_like, shape (3, 3), or Registration, optional
        Maps guide pixel (row, column, 1) to target pixel (row, column, 1), as registering the
        target to the guide gives it; instead of factor, phase and origin. The target may be
        turned, sheared or mirrored: the result is on the guide's grid all the same.
    solver : {"lbfgs", "cg"}
        Graduated non-convexity with projected L-BFGS, or the paper's conjugate gradients.
    start : {"bicubic", "random"} or array_like, shape (N1, N2)
        First image of the solver; an array is in the target's unit.
    seed : int
        Seed of a random start.
    dtype : {"float32", "input"}
        Type of the result; "input" rounds and clips to the target's type.
    map_ : callable
        Like the built-in `map`; runs the parts of an image, perhaps in threads. The result does
        not depend on it.
    report : callable, optional
        Called with each `Progress`.

    Returns
    -------
    Upsampled
        The image and how it came about.

    Raises
    ------
    InputError
        If an input or setting breaks a rule.
    """
    settings = Settings(
        factor=factor,
        phase=phase,
        blur=blur,
        noise=noise,
        invalid=invalid,
        weights=None if weights is None else np.asanyarray(weights),  # masks included
        guided=guided,
        origin=origin,
        transform=None if transform is None else read_transform(transform),
        solver=solver,
        start=start,
        seed=seed,
        dtype=dtype,
    )
    return drain(upsample_steps(target, guide, operators, settings, map_=map_), report)


def upsample_steps(
    target: ArrayLike,
    guide: ArrayLike,
    operators: OperatorPair,
    settings: Settings | None = None,
    *,
    map_: Map = map,
    whole: Scalars | None = None,
    corner: tuple[int, int] = (0, 0),
) -> Generator[Progress, None, Upsampled]:
    """Upsample as `upsample` does, step by step.

    Parameters
    ----------
    target : array_like, shape (m1, m2)
        Low-resolution modality.
    guide : array_like, shape (N1, N2) or (N1, N2, channels)
        High-resolution modality.
    operators : OperatorPair
        Coupled atoms.
    settings : Settings, optional
        The keywords of `upsample`.
    map_ : callable
        Like the built-in `map`.
    whole : Scalars, optional
        Of the images that these are parts of, so that blocks agree; measured here if None.
    corner : tuple of int
        First row and column of this guide in the whole one, in pixels, for the same reason.

    Yields
    ------
    Progress
        One for each iteration.

    Returns
    -------
    Upsampled
        The image and how it came about.

    Raises
    ------
    InputError
        At the call, if an input or setting breaks a rule.
    """
    task = prepare(target, guide, operators, settings or Settings(), map_, whole, corner)
    return _solve(task)


def _solve(task: Task) -> Generator[Progress, None, Upsampled]:
    solution = yield from _run(task)
    return task.finish(solution)


def _run(task: Task) -> Generator[Progress, None, Solution]:
    """Run the solver; the start is handed over without a name, so that its memory is reused."""
    if task.settings.solver == "cg":
        return (yield from paper_schedule(task.problem, task.start()))
    schedule = NOISY if task.problem.noise else EXACT
    return (yield from graduate(task.problem, task.start(), schedule))
