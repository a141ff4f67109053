"""Find the motion that lays one image on another of a different modality."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress, drain

from ._registration import Registration
from ._run import run
from ._settings import RegisterSettings
from ._task import prepare


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
    pixel_size_fixed: Any = (1.0, 1.0),  # noqa: ANN401 - a pair or a matrix
    pixel_size_moving: Any = (1.0, 1.0),  # noqa: ANN401
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
    co-sparsity of the operators (section 6 of the paper in a form without its degenerate minima)
    and normalised mutual information together; registers backwards to tell whether the answer
    holds; and turns to normalised mutual information alone where it does not.

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
    measure : {"auto", "both", "mutual", "nmi", "coupled"}
        "mutual" is normalised mutual co-sparsity, "nmi" normalised mutual information, "both"
        their sum; "coupled" the paper's coupled sparsity over the overlap, which has degenerate
        minima. "auto" takes "both", and "nmi" where that cannot be trusted.
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
    pixel_size_fixed, pixel_size_moving : pair of float, or array_like, shape (2, 2)
        Rows and columns, in any unit that both share. For an image that is sheared, the matrix from
        steps in pixels (row, column) to steps in the world, where the motion is then meant.
    region : (row, column, row, column), optional
        Part of the fixed image to register: first row and column, and those after the last.
    search : bool, optional
        Search for a start. None: unless `initial` or `points` is given. With both a start and a
        search, rotations and scales are searched around the start's.
    max_rotation : float, optional
        Largest rotation that is searched either way, degrees. None: 30, then 180 where the answer
        is not trusted.
    max_scale : float, optional
        Largest magnification that is searched either way, for "similarity" and "A" only: other
        groups have none. None: 1.25.
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
    return run(prepare(fixed, moving, operators, settings, map_))
