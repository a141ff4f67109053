"""Sample data: a ray-cast scene with exact depth, and a real stereo pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._scene_objects import Painted, View, furnish, view_of
from ._scene_shapes import Vectors

MIN_SIDE = 16
_ROWS = 64  # rows rendered at a time: bounds the memory of large scenes
# the pixel's centre, which gives the depth, and four places around it that smooth the guide
_PLACES = ((0.0, 0.0), (-0.375, -0.125), (0.125, -0.375), (0.375, 0.125), (-0.125, 0.375))
_LIGHT = np.array([-0.45, -0.75, -0.55]) / np.linalg.norm([-0.45, -0.75, -0.55])
_SCREEN = np.linalg.svd(_LIGHT[None])[2][1:].T  # two directions across the light, (3, 2)


@dataclass(frozen=True, eq=False)
class Scene:
    """A generated scene.

    Attributes
    ----------
    guide : ndarray, shape (H, W, 3), uint8
        Colour picture.
    depth : ndarray, shape (H, W), float32
        Exact depth along the camera's axis at the centre of each pixel, in metres.
    """

    guide: NDArray[np.uint8]
    depth: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class StereoView:
    """The left view of a stereo pair with its measured disparity.

    Attributes
    ----------
    guide : ndarray, shape (H, W, 3), uint8
        Colour picture.
    disparity : ndarray, shape (H, W), float32
        In pixels; NaN where it is unknown.
    """

    guide: NDArray[np.uint8]
    disparity: NDArray[np.float32]


def make_scene(shape: tuple[int, int] = (384, 512), seed: int = 0) -> Scene:
    """Make a picture of a room and its exact depth: the same arguments give the same arrays.

    Slanted walls, curved things, tilted boxes and bars a few pixels wide. Paint, light and shadows
    put edges into the guide that the depth does not have.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns, in pixels, each at least 16.
    seed : int
        Another seed moves and paints everything anew.

    Returns
    -------
    Scene
        Guide and depth on one grid.

    Raises
    ------
    InputError
        If a side is below 16 or the seed is negative.
    """
    if len(shape) != 2 or min(shape) < MIN_SIDE:
        raise InputError(f"scene of shape {shape}; it needs two sides of at least {MIN_SIDE}")
    if seed < 0:
        raise InputError(f"seed {seed} is negative; choose 0 or more")
    view = view_of(shape)
    painted = furnish(view, np.random.default_rng(seed))
    bands = [
        _render(view, painted, shape, range(top, min(top + _ROWS, shape[0])))
        for top in range(0, shape[0], _ROWS)
    ]
    return Scene(np.concatenate([b.guide for b in bands]), np.concatenate([b.depth for b in bands]))


def _render(view: View, painted: list[Painted], shape: tuple[int, int], rows: range) -> Scene:
    """Render some rows."""
    total = np.zeros((len(rows), shape[1], 3))
    depth = np.empty((len(rows), shape[1]), np.float32)
    for place in _PLACES:
        directions = _directions(view, shape, rows, place)
        t, owner = _first_hit(directions, painted)
        if place == (0.0, 0.0):
            depth[:] = t
        colours = _shade((directions * t[..., None]).reshape(-1, 3), owner.ravel(), painted)
        total += colours.reshape(total.shape)
    guide = 255 * np.clip(total / len(_PLACES), 0, 1) ** (1 / 1.8)
    return Scene(np.rint(guide).astype(np.uint8), depth)


def _directions(
    view: View, shape: tuple[int, int], rows: range, place: tuple[float, float]
) -> Vectors:
    """Return the rays of some rows through one place in each pixel, shape (rows, W, 3)."""
    y = (np.array(rows) + place[0] - (shape[0] - 1) / 2) * view.pixel
    x = (np.arange(shape[1]) + place[1] - (shape[1] - 1) / 2) * view.pixel
    down, across = np.meshgrid(y, x, indexing="ij")
    return np.stack([across, down, np.ones_like(across)], -1)


def _first_hit(
    directions: Vectors, painted: list[Painted]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the depth of the nearest solid and its index, shape (rows, W) each."""
    nearest = np.full(directions.shape[:2], np.inf)
    owner = np.zeros(directions.shape[:2], np.int64)
    for index, thing in enumerate(painted):
        window = thing.solid.window(directions)
        rays = directions[window]
        t = thing.solid.cast(np.zeros((1, 3)), rays.reshape(-1, 3)).reshape(rays.shape[:2])
        closer = t < nearest[window]
        nearest[window][closer] = t[closer]
        owner[window][closer] = index
    return nearest, owner


def _shade(points: Vectors, owner: NDArray[np.int64], painted: list[Painted]) -> Vectors:
    """Return linear colours of points: paint, light from the upper left, highlight, shadow."""
    colours, normals = np.empty_like(points), np.empty_like(points)
    for index in np.unique(owner):
        mine, thing = owner == index, painted[index]
        mix = thing.pattern(thing.solid.local(points[mine]))[:, None]
        colours[mine] = mix * thing.colours[0] + (1 - mix) * thing.colours[1]
        normals[mine] = thing.solid.normals(points[mine])
    lit = _lit(points, normals, painted)
    facing = np.maximum(normals @ _LIGHT, 0) * lit
    half = _LIGHT - points / np.linalg.norm(points, axis=1, keepdims=True)
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    gloss = 0.25 * np.maximum((normals * half).sum(1), 0) ** 40 * lit
    return np.asarray(colours * (0.3 + 0.65 * facing)[:, None] + gloss[:, None])


def _lit(points: Vectors, normals: Vectors, painted: list[Painted]) -> NDArray[np.float64]:
    """Return 1 where the light reaches a point, 0 in shadow."""
    lit = np.ones(len(points))
    origins = points + 1e-4 * normals  # off the surface, or it would shade itself
    x, y = _SCREEN.T @ origins.T
    for solid in (thing.solid for thing in painted if thing.casts_shadow):
        at_x, at_y = _SCREEN.T @ solid.centre
        near = np.flatnonzero((x - at_x) ** 2 + (y - at_y) ** 2 <= solid.reach**2)
        rays = np.broadcast_to(_LIGHT, (len(near), 3))
        lit[near[np.isfinite(solid.cast(origins[near], rays))]] = 0
    return lit


def motorcycle() -> StereoView:
    """Load the Motorcycle stereo view of Middlebury 2014 through scikit-image.

    Returns
    -------
    StereoView
        The left picture, shape (500, 741, 3), and its disparity.

    Raises
    ------
    InputError
        If scikit-image or its downloader is missing, or the download fails.
    """
    try:
        from skimage.data import stereo_motorcycle

        left, _, disparity = stereo_motorcycle()  # type: ignore[no-untyped-call]
    except ImportError as error:
        raise InputError(
            f"the Motorcycle sample needs another package ({error}); "
            'install it with: pip install "napari-cosparse[samples]"'
        ) from error
    # OSError: no network; ValueError: something else came than what was asked for
    except (OSError, ValueError) as error:
        raise InputError(
            "the Motorcycle sample could not be downloaded; check the network, or use the "
            "generated scene"
        ) from error
    known = np.isfinite(disparity) & (disparity > 0)
    return StereoView(left, np.where(known, disparity, np.nan).astype(np.float32))
