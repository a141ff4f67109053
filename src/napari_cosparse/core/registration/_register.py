"""Find the motion that lays one image on another of a different modality."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress, drain

from ._cascade import FIRST_ROTATION, Order, Outcome, decide, describe
from ._error import Determined, determine
from ._frame import Matrix
from ._points import from_points
from ._record import record
from ._registration import Registration
from ._residual import residual_map
from ._scene import Scene, make_scene
from ._settings import RegisterSettings
from ._solve import PIXELS, Plan, Walked, distance
from ._verdict import Verdict
from ._working import Source, Working, working_pair

SCALE_SEARCH = {"similarity": 1.25, "A": 1.25}
"""Largest magnification that is tried unless told otherwise; 1 for the other groups."""
LEAST_USABLE = 256  # pixels that both images need
JACKKNIFE_TILE = 5  # blocks: about 60 parts of the image
NEAR = 1.0  # working pixels: a start nearer than this may stay
BLANK = (np.nan, np.nan)


def register(
    fixed: Any,  # noqa: ANN401 - anything like an array
    moving: Any,  # noqa: ANN401
    operators: OperatorPair,
    *,
    group: str = "SE",
    measure: str = "auto",
    solver: str = "gauss-newton",
    initial: Any = None,  # noqa: ANN401
    points: Any = None,  # noqa: ANN401
    mask_fixed: Any = None,  # noqa: ANN401
    mask_moving: Any = None,  # noqa: ANN401
    invalid: tuple[float | None, float | None] = (None, None),
    pixel_size_fixed: tuple[float, float] = (1.0, 1.0),
    pixel_size_moving: tuple[float, float] = (1.0, 1.0),
    region: tuple[int, int, int, int] | None = None,
    search: bool | None = None,
    max_rotation: float | None = None,
    max_scale: float | None = None,
    verdict: bool = True,
    allow_reflection: bool = False,
    seed: int = 0,
    report: Callable[[Progress], None] | None = None,
    map_: Map = map,
) -> Registration:
    """Register two images of different modalities.

    The default searches all shifts, and rotations up to 30 degrees (then the whole circle), by
    the correlation of edge directions; refines the best starts with the normalised mutual
    co-sparsity of the operators (section 6 of the paper in a form without its degenerate minima);
    registers backwards to tell whether the answer holds; and turns to normalised mutual
    information where it does not.

    Parameters
    ----------
    fixed : array_like, shape (H1, W1) or (H1, W1, 3) or (H1, W1, 4)
        Image that stays. Any numeric type and unit; colour is taken as luminance; NaN and
        infinity are unknown. NumPy, dask or Zarr.
    moving : array_like, shape (H2, W2) or (H2, W2, 3) or (H2, W2, 4)
        Image that is laid on it, likewise.
    operators : OperatorPair
        U for the fixed image, V for the moving one.
    group : {"SE", "SO", "similarity", "SA", "A"}
        Motions to choose from: rotation and shift; rotation about the centres; these and one
        scale; area-preserving affine; affine. In physical units if pixel sizes are given.
    measure : {"auto", "mutual", "nmi", "coupled"}
        Normalised mutual co-sparsity; normalised mutual information; the paper's coupled sparsity
        over the overlap, which has degenerate minima. "auto" takes the first of the former two
        that can be trusted.
    solver : {"gauss-newton", "gradient"}
        Quasi-Newton, or the paper's Riemannian gradient descent with Armijo steps.
    initial : array_like, shape (3, 3), optional
        Where to start: fixed pixel (row, column, 1) -> moving pixel. What lies outside the group
        (a scale under "SE", for instance) stays as it is.
    points : pair of array_like, shape (n, 2), optional
        Where to start: rows and columns of the same places in both images, in pixels.
    mask_fixed, mask_moving : array_like, shape (H, W), optional
        Nonzero where an image may be used.
    invalid : pair of float or None
        Value that means unknown, in the fixed and in the moving image.
    pixel_size_fixed, pixel_size_moving : pair of float
        Rows and columns, in any unit that both share.
    region : (row, column, row, column), optional
        Part of the fixed image to register: first row and column, and those after the last.
    search : bool, optional
        Search for a start. None: unless `initial` or `points` is given. With both a start and a
        search, rotations and scales are searched around the start's.
    max_rotation : float, optional
        Largest rotation that is searched either way, degrees. None: 30, then 180 where the answer
        is not trusted.
    max_scale : float, optional
        Largest magnification that is searched either way. None: 1.25 for "similarity" and "A",
        else 1.
    verdict : bool
        Register backwards to decide about trust, which takes about as long again. Without, only
        answers whose start stands out clearly are trusted.
    allow_reflection : bool
        Accept a mirrored moving image. Otherwise it is named, and not trusted.
    seed : int
        For the choice of pixels.
    report : callable, optional
        Called with `Progress` after each step.
    map_ : Map, optional
        Applies a function to tiles, for instance in threads.

    Returns
    -------
    Registration
        Not trusted, with the reason, where the images do not decide.

    Raises
    ------
    InputError
        If an image, mask or setting breaks a rule.
    """
    settings = RegisterSettings(
        group=group,
        measure=measure,
        solver=solver,
        initial=initial,
        points=points,
        mask_fixed=mask_fixed,
        mask_moving=mask_moving,
        invalid=invalid,
        pixel_size_fixed=pixel_size_fixed,
        pixel_size_moving=pixel_size_moving,
        region=region,
        search=search,
        max_rotation=max_rotation,
        max_scale=max_scale,
        verdict=verdict,
        allow_reflection=allow_reflection,
        seed=seed,
    )
    return drain(register_steps(fixed, moving, operators, settings, map_=map_), report)


def register_steps(
    fixed: Any,  # noqa: ANN401 - anything like an array
    moving: Any,  # noqa: ANN401
    operators: OperatorPair,
    settings: RegisterSettings,
    *,
    map_: Map = map,
) -> Generator[Progress, None, Registration]:
    """Register step by step: for progress bars and cancel buttons.

    Parameters
    ----------
    fixed, moving : array_like, shape (H, W) or (H, W, 3) or (H, W, 4)
        As for `register`.
    operators : OperatorPair
        U for the fixed image, V for the moving one.
    settings : RegisterSettings
        What was asked for.
    map_ : Map, optional
        Applies a function to tiles.

    Returns
    -------
    generator
        Yields `Progress` and returns `Registration`.

    Raises
    ------
    InputError
        If an image or mask breaks a rule; at the call.
    """
    task = _prepare(fixed, moving, operators, settings, map_)
    return _run(task)


@dataclass(frozen=True)
class MotionProgress(Progress):
    """Progress of a registration.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3), or None
        Where the solver is: fixed pixel (row, column, 1) -> moving pixel; None in backward runs.
    """

    matrix: Matrix | None = None


@dataclass(frozen=True)
class Task:
    """A checked job.

    Attributes
    ----------
    scene : Scene
        The pair on the working grid.
    order : Order
        What was asked for.
    settings : RegisterSettings
        As given.
    sources : tuple of Source
        As given.
    to_working : tuple of ndarray, shape (3, 3)
        Pixels of both images -> pixels of the working grid.
    start : ndarray, shape (3, 3)
        Group element of the start, in the scene's normalised coordinates.
    refused : str or None
        Why there is nothing to register.
    """

    scene: Scene
    order: Order
    settings: RegisterSettings
    sources: tuple[Source, Source]
    to_working: tuple[Matrix, Matrix]
    start: Matrix
    refused: str | None

    def matrix(self, tau: Matrix, *, reflected: bool = False) -> Matrix:
        """Matrix from fixed pixels to moving pixels of a group element.

        Parameters
        ----------
        tau : ndarray, shape (3, 3)
            In normalised coordinates.
        reflected : bool
            Whether it leads to the mirrored moving image.

        Returns
        -------
        ndarray, shape (3, 3)
        """
        pixels = self.scene.frame.to_pixels(tau)
        if reflected:
            pixels = _flip(self.scene) @ pixels
        matrix: Matrix = np.linalg.inv(self.to_working[1]) @ pixels @ self.to_working[0]
        matrix[2] = 0, 0, 1
        return matrix

    def in_moving_pixels(self, length: float) -> float:
        """Convert a length in working pixels.

        Parameters
        ----------
        length : float
            In working pixels.

        Returns
        -------
        float
            In pixels of the moving image.
        """
        return length / float(np.sqrt(abs(np.linalg.det(self.to_working[1][:2, :2]))))


def _flip(scene: Scene) -> Matrix:
    return np.array([[1, 0, 0], [0, -1, scene.frame.shape_moving[1] - 1], [0, 0, 1.0]])


def _prepare(
    fixed: Any,  # noqa: ANN401
    moving: Any,  # noqa: ANN401
    operators: OperatorPair,
    settings: RegisterSettings,
    map_: Map,
) -> Task:
    whole = Source(
        _array(fixed),
        "the fixed image",
        _array(settings.mask_fixed),
        settings.invalid[0],
        settings.pixel_size_fixed,
    )
    second = Source(
        _array(moving),
        "the moving image",
        _array(settings.mask_moving),
        settings.invalid[1],
        settings.pixel_size_moving,
    )
    first, corner = _cut(whole, settings.region)
    working = working_pair(first, second)
    scene = make_scene(
        working[0].side,
        working[1].side,
        settings.group,
        operators,
        settings.seed,
        map_,
        gradient_only=settings.solver == "gradient",
    )
    to_working = working[0].to_working @ corner, working[1].to_working
    start = _start(scene, settings, to_working)
    return Task(
        scene,
        _order(settings, start),
        settings,
        (whole, second),
        to_working,
        start,
        _refused(working),
    )


def _array(image: Any) -> Any:  # noqa: ANN401
    """Leave alone what has a shape; make an array of lists."""
    return image if image is None or hasattr(image, "shape") else np.asarray(image)


def _cut(source: Source, region: tuple[int, int, int, int] | None) -> tuple[Source, Matrix]:
    """Take a part of the fixed image, and the matrix from pixels of the whole to its own."""
    corner = np.eye(3)
    if region is None:
        return source, corner
    top, left, bottom, right = (int(v) for v in region)
    rows, columns = source.shape
    if not (0 <= top < bottom <= rows and 0 <= left < right <= columns):
        raise InputError(
            f"region {tuple(region)} must be (first row, first column, last row + 1, last column "
            f"+ 1) within the fixed image of {rows} x {columns} pixels"
        )
    part = slice(top, bottom), slice(left, right)
    mask = None if source.mask is None else source.mask[part]
    corner[:2, 2] = -top, -left
    cut = Source(source.image[part], source.name, mask, source.invalid, source.pixel_size)
    return cut, corner


def _start(scene: Scene, settings: RegisterSettings, to_working: tuple[Matrix, Matrix]) -> Matrix:
    """Group element of the given start; without one, pixels that coincide in physical units."""
    frame = scene.frame
    if settings.points is not None:
        fixed, moving = (
            points @ matrix[:2, :2].T + matrix[:2, 2]
            for points, matrix in zip(settings.points, to_working, strict=True)
        )
        return frame.from_pixels(from_points(fixed, moving, settings.group))
    if settings.initial is None:
        sizes = settings.pixel_size_fixed, settings.pixel_size_moving
        ratio = np.divide(*sizes)
        initial = np.diag([*ratio, 1.0])
    else:
        initial = settings.initial
    pixels = to_working[1] @ initial @ np.linalg.inv(to_working[0])
    if np.linalg.det(pixels) < 0:
        raise InputError(
            f"initial has determinant {np.linalg.det(initial):.3g}; a start must not mirror. Flip "
            "the moving image itself"
        )
    return frame.from_pixels(pixels)


def _order(settings: RegisterSettings, start: Matrix) -> Order:
    given = settings.initial is not None or settings.points is not None
    largest = settings.max_scale or SCALE_SEARCH.get(settings.group, 1.0)
    plan = Plan(
        FIRST_ROTATION if settings.max_rotation is None else settings.max_rotation,
        largest,
        start[:2, :2] if given else np.eye(2),
    )
    return Order(
        settings.measure,
        settings.max_rotation,
        plan,
        None if settings.searched else start,
        settings.verdict,
    )


def _refused(working: tuple[Working, Working]) -> str | None:
    for name, one in zip(("fixed", "moving"), working, strict=True):
        usable = int(one.side.usable.sum())
        if usable < LEAST_USABLE:
            return (
                f"the {name} image has {usable} known pixels (limit {LEAST_USABLE}): there is "
                "nothing to register"
            )
        if one.side.contrast == 0:
            return f"the {name} image is constant: there is nothing to register"
    return None


def _run(task: Task) -> Generator[Progress, None, Registration]:
    if task.refused is not None:
        return _not_registered(task, task.refused)
    outcome = yield from _with_matrix(task, decide(task.scene, task.order))
    verdict = describe(outcome, allow_reflection=task.settings.allow_reflection)
    scene = task.scene.mirrored() if outcome.reflected else task.scene
    yield Progress("judge the answer", 1, 2)
    found = _determined(scene, outcome, task.start)
    tau = outcome.answer.tau
    if _stays(task, outcome, verdict, found):
        tau = task.start
        reason = f"{verdict.because}; the start is kept, as the gain is within its error"
        verdict = replace(verdict, because=reason)
    yield Progress("judge the answer", 2, 2)
    return _result(task, scene, outcome, verdict, found, tau)


def _stays(task: Task, outcome: Outcome, verdict: Verdict, found: Determined) -> bool:
    """Whether the start is kept: the gain is within its error, and no checked answer is far."""
    if outcome.reflected or found.gain > found.gain_error:
        return False
    away = distance(task.scene, task.start, outcome.answer.tau)
    return away <= NEAR or not verdict.trusted


def _with_matrix(
    task: Task, steps: Generator[Progress, None, Outcome]
) -> Generator[Progress, None, Outcome]:
    """Say where the solver is in pixels, so that who cancels may keep the best so far."""
    while True:
        try:
            progress = next(steps)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        if isinstance(progress, Walked):
            matrix = task.matrix(progress.tau) if progress.scene is task.scene else None
            progress = MotionProgress(
                progress.stage, progress.step, progress.total, progress.cost, matrix
            )
        yield progress


def _determined(scene: Scene, outcome: Outcome, start: Matrix) -> Determined:
    cost = scene.cost(0, outcome.measure, PIXELS, JACKKNIFE_TILE)
    return determine(scene, cost, outcome.answer.tau, start)


def _result(
    task: Task,
    scene: Scene,
    outcome: Outcome,
    verdict: Verdict,
    found: Determined,
    tau: NDArray[np.float64],
) -> Registration:
    answer = outcome.answer
    cost = scene.cost(0, outcome.measure, PIXELS)
    before, after = cost(task.start), cost(tau)
    residual = residual_map(scene, tau)
    return Registration(
        matrix=task.matrix(tau, reflected=outcome.reflected),
        start=task.matrix(task.start),
        group=task.settings.group,
        measure=outcome.measure,
        cost_before=before.cost if before.overlap > 0 else float("nan"),
        cost_after=after.cost,
        overlap=after.overlap,
        margin=answer.margin,
        agreement=answer.agreement,
        inverse_consistency=(
            task.in_moving_pixels(verdict.backward),
            task.in_moving_pixels(verdict.swapped),
        ),
        predicted_error=task.in_moving_pixels(found.error),
        stop=answer.stop,
        trusted=verdict.trusted,
        because=verdict.because,
        reflected=outcome.reflected,
        residual=None if residual is None else residual * task.in_moving_pixels(1.0),
        history=answer.history,
        **record(task.settings, task.sources, scene),
    )


def _not_registered(task: Task, reason: str) -> Registration:
    nan = float("nan")
    matrix = task.matrix(task.start)
    return Registration(
        matrix=matrix,
        start=matrix,
        group=task.settings.group,
        measure="mutual" if task.settings.measure == "auto" else task.settings.measure,
        cost_before=nan,
        cost_after=nan,
        overlap=nan,
        margin=nan,
        agreement=nan,
        inverse_consistency=BLANK,
        predicted_error=nan,
        stop=Stop.NO_DESCENT,
        trusted=False,
        because=reason,
        reflected=False,
        residual=None,
        history=(),
        **record(task.settings, task.sources, task.scene),
    )
