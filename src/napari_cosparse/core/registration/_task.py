"""A checked registration job: both images on the working grid, and the way back to their pixels."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair

from ._cascade import FIRST_ROTATION, Order
from ._frame import Matrix
from ._mosaic import Grid
from ._pixel import coinciding, is_general
from ._points import from_points
from ._scene import Scene, make_scene
from ._settings import RegisterSettings
from ._sides import LEAST_SIDE
from ._starts import Plan
from ._working import Source, Working, working_pair

SCALE_SEARCH = {"similarity": 1.25, "A": 1.25}
"""Largest magnification that is tried unless told otherwise; 1 for the other groups."""
LEAST_USABLE = 256  # pixels that both images need


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
    shrink : int
        Pixels of the coarser image per working pixel.
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
    shrink: int
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

    def grids(self, *, reflected: bool) -> tuple[Grid, Grid]:
        """Give both images at the working resolution, to be read at finer ones.

        Parameters
        ----------
        reflected : bool
            Whether the moving image is to be mirrored.

        Returns
        -------
        tuple of Grid
        """
        last = self.scene.frame.shape_moving[1] - 1 if reflected else None
        fixed, moving = self.sources
        return Grid(fixed, self.to_working[0], 1.0), Grid(moving, self.to_working[1], 1.0, last)

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


def prepare(
    fixed: Any,  # noqa: ANN401
    moving: Any,  # noqa: ANN401
    operators: OperatorPair,
    settings: RegisterSettings,
    map_: Map,
) -> Task:
    """Check a job and bring the images to the working grid.

    Parameters
    ----------
    fixed, moving : array_like, shape (H, W) or (H, W, 3) or (H, W, 4)
        The images.
    operators : OperatorPair
        U for the fixed image, V for the moving one.
    settings : RegisterSettings
        What was asked for.
    map_ : Map
        Applies a function to tiles.

    Returns
    -------
    Task

    Raises
    ------
    InputError
        If an image or mask breaks a rule.
    """
    whole, second = _sources(fixed, moving, settings)
    first, corner = _cut(whole, settings.region)
    working = working_pair(first, second, map_)
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
        working[0].shrink,
        start,
        _refused(working),
    )


def _sources(fixed: Any, moving: Any, settings: RegisterSettings) -> tuple[Source, Source]:  # noqa: ANN401
    """Both images with what was said about each of them."""
    masks = settings.mask_fixed, settings.mask_moving
    sizes = settings.pixel_size_fixed, settings.pixel_size_moving
    names = "the fixed image", "the moving image"
    one, other = (
        Source(_array(image, name), name, _array(mask, f"the mask of {name}"), invalid, size)
        for image, name, mask, invalid, size in zip(
            (fixed, moving), names, masks, settings.invalid, sizes, strict=True
        )
    )
    return one, other


def _array(image: Any, name: str) -> Any:  # noqa: ANN401
    """Leave alone what has a shape; make an array of lists."""
    if image is None or hasattr(image, "shape"):
        return image
    try:
        return np.asarray(image)
    except ValueError as error:  # rows of different lengths
        raise InputError(f"{name} cannot be made an array of numbers: {error}") from None


def _cut(source: Source, region: tuple[int, int, int, int] | None) -> tuple[Source, Matrix]:
    """Take a part of the fixed image, and the matrix from pixels of the whole to its own."""
    corner = np.eye(3)
    if region is None:
        return source, corner
    try:
        top, left, bottom, right = (index(v) for v in region)
    except (TypeError, ValueError):
        raise InputError(
            f"region {region!r} must be four whole numbers: first row, first column, last row + 1, "
            "last column + 1"
        ) from None
    rows, columns = source.shape
    if not (0 <= top < bottom <= rows and 0 <= left < right <= columns):
        raise InputError(
            f"region {tuple(region)} must be (first row, first column, last row + 1, last column "
            f"+ 1) within the fixed image of {rows} x {columns} pixels"
        )
    part = slice(top, bottom), slice(left, right)
    mask = None if source.mask is None else source.mask[part]
    corner[:2, 2] = -top, -left
    if min(bottom - top, right - left) < LEAST_SIDE:
        raise InputError(
            f"region {tuple(region)} has {bottom - top} x {right - left} pixels; registration "
            f"needs at least {LEAST_SIDE} along each side"
        )
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
        initial = coinciding(settings.pixel_size_fixed, settings.pixel_size_moving)
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
    sizes = settings.pixel_size_fixed, settings.pixel_size_moving
    given = given or any(is_general(size) for size in sizes)  # matrices say how images are turned
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
        before=start,
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
