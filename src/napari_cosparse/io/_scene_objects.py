"""What stands in the sample scene: a room, things in it, and fine structures, all by seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from ._scene_shapes import Solid, Vectors, ball, box, cylinder, plane
from ._scene_textures import Pattern, checks, clouds, rings, stripes

WALL = 5.0  # metres to the back wall where the camera looks


@dataclass(frozen=True)
class View:
    """The camera: it sits in the origin and looks along z.

    Attributes
    ----------
    width, height : float
        Half the picture at a depth of one metre, in metres.
    pixel : float
        Size of a pixel at a depth of one metre, in metres.
    """

    width: float
    height: float
    pixel: float

    def at(self, across: float, down: float, depth: float) -> Vectors:
        """Return the point seen at a place of the picture (-1..1, -1..1) at a depth in metres."""
        return np.array([across * self.width * depth, down * self.height * depth, depth])

    def size(self, part: float, depth: float) -> float:
        """Return the length that covers a part of the picture's shorter half side, in metres."""
        return part * min(self.width, self.height) * depth


@dataclass(frozen=True)
class Painted:
    """A solid, its two colours (r, g, b in 0..1) and the pattern that mixes them."""

    solid: Solid
    pattern: Pattern
    colours: NDArray[np.float64]
    casts_shadow: bool = True


def view_of(shape: tuple[int, int]) -> View:
    """Return the camera for a picture: the same angle of view over any number of pixels."""
    pixel = 1.1 / np.sqrt(shape[0] * shape[1])
    return View(shape[1] * pixel / 2, shape[0] * pixel / 2, pixel)


def furnish(view: View, rng: np.random.Generator) -> list[Painted]:
    """Return everything in the room.

    Parameters
    ----------
    view : View
        The camera; sizes follow it, so that small pictures show the same things.
    rng : numpy.random.Generator
        Moves, turns and paints them.

    Returns
    -------
    list of Painted
        In no particular order.
    """
    return [*_room(view, rng), *_things(view, rng), *_rods(view, rng), *_fence(view, rng)]


def _colours(rng: np.random.Generator, saturation: float = 0.7) -> NDArray[np.float64]:
    """Return a bright and a darker colour of neighbouring hues, shape (2, 3)."""
    hue = rng.random() + np.array([0.0, rng.uniform(-0.15, 0.15)])
    strength = saturation * rng.uniform(0.4, 1, 2)
    value = np.array([rng.uniform(0.7, 1), rng.uniform(0.2, 0.45)])
    waves = 0.5 + 0.5 * np.cos(2 * np.pi * (hue[:, None] + np.array([0, 1 / 3, 2 / 3])))
    return np.asarray(value[:, None] * (1 - strength[:, None] * (1 - waves)))


def _pattern(rng: np.random.Generator) -> Pattern:
    """Return one of the patterns, for solids of unit size."""
    make: list[Callable[[], Pattern]] = [
        lambda: stripes(rng.normal(size=3) * 1.3),
        lambda: checks(rng.uniform(0.8, 2.5) * np.ones(3)),
        lambda: clouds(rng.uniform(1.5, 4), rng),
        lambda: rings(rng.uniform(2, 4), rng),
    ]
    return make[rng.integers(len(make))]()


def _turn(rng: np.random.Generator, most: float = 180.0) -> Vectors:
    """Return a rotation matrix with angles of at most so many degrees."""
    turned = Rotation.from_euler("yxz", rng.uniform(-most, most, 3), degrees=True)
    return np.asarray(turned.as_matrix())


def _room(view: View, rng: np.random.Generator) -> list[Painted]:
    """Return a slanted back wall, a floor, a side wall and a ceiling that slopes."""
    side = rng.choice([-1.0, 1.0])
    places = [  # a point of the plane, its normal
        ((0, 0, WALL), (side * rng.uniform(0.1, 0.35), rng.uniform(-0.05, 0.05), -1)),
        ((0, view.height * WALL * rng.uniform(0.4, 0.55), WALL), (0, -1, rng.uniform(-0.1, 0))),
        ((side * view.width * WALL * rng.uniform(0.6, 0.75), 0, WALL), (-side, 0, -0.1)),
        ((0, -view.height * WALL * rng.uniform(0.8, 0.95), WALL), (0, 1, rng.uniform(-0.2, -0.1))),
    ]
    patterns = [
        clouds(rng.uniform(0.8, 1.6), rng),
        checks(np.array([1.1, 1.1, 0.0])),
        stripes(np.array([rng.uniform(1, 2), rng.uniform(-1, 1), 0.0])),
        clouds(0.4, rng, 2),
    ]
    return [
        Painted(plane(point, _frame(normal)), pattern, _colours(rng, 0.35), casts_shadow=False)
        for (point, normal), pattern in zip(places, patterns, strict=True)
    ]


def _frame(third: ArrayLike) -> Vectors:
    """Return a rotation matrix whose third column is along a vector."""
    direction = np.asarray(third, float)
    direction = direction / np.linalg.norm(direction)
    helper = np.eye(3)[np.abs(direction).argmin()]
    first = np.cross(helper, direction)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(direction, first), direction], 1)


def _things(view: View, rng: np.random.Generator) -> list[Painted]:
    """Return balls, ellipsoids, cylinders and boxes, spread over the picture from far to near."""
    makers = [box, ball, cylinder, box, ball, cylinder, ball, box, ball]
    across = rng.permutation(np.linspace(-0.85, 0.85, len(makers)))
    depths = np.linspace(4.2, 2.0, len(makers))
    things = []
    for make, place, depth in zip(makers, across, depths, strict=True):
        size = view.size(rng.uniform(0.18, 0.32), depth)
        down = rng.uniform(-0.55, 0.1) + 0.35 * (4.2 - depth) / 2.2
        axes = _turn(rng, 35.0) * (size * rng.uniform(0.6, 1.3, 3))
        if make is ball and rng.random() < 0.6:
            axes = _turn(rng) * size
        centre = view.at(place + rng.uniform(-0.08, 0.08), down, depth)
        things.append(Painted(make(centre, axes), _pattern(rng), _colours(rng)))
    return things


def _bar(
    view: View, start: Vectors, end: Vectors, pixels: float, rng: np.random.Generator
) -> Painted:
    """Return a round bar between two points, so many pixels wide."""
    half = (end - start) / 2
    radius = pixels / 2 * view.pixel * min(start[2], end[2])
    cross = _frame(half)[:, :2] * radius
    axes = np.stack([cross[:, 0], half, cross[:, 1]], 1)
    bar = cylinder((start + end) / 2, axes)
    return Painted(bar, clouds(3, rng, 2), _colours(rng))


def _fence(view: View, rng: np.random.Generator) -> list[Painted]:
    """Return upright bars between two rails, in a plane that recedes."""
    left = rng.uniform(-0.9, 0.1)
    right, near = left + rng.uniform(0.6, 0.8), rng.uniform(1.7, 2.0)
    far, top = near + rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.4)
    bars = int(np.clip((right - left) * view.width / view.pixel / 18, 2, 9))
    width = rng.uniform(2.5, 4.0)
    places, depths = np.linspace(left, right, bars), np.linspace(near, far, bars)
    upright = [
        _bar(view, view.at(x, top, z), view.at(x, top + 0.5, z), width, rng)
        for x, z in zip(places, depths, strict=True)
    ]
    rails = [
        _bar(view, view.at(left, y, near), view.at(right, y, far), width + 1, rng)
        for y in (top + 0.08, top + 0.42)
    ]
    return [*upright, *rails]


def _rods(view: View, rng: np.random.Generator) -> list[Painted]:
    """Return thin rods that lean through the upper half of the room."""
    rods = []
    for width in (2.0, 3.0, 5.0):
        x, z = rng.uniform(-0.8, 0.8), rng.uniform(2.2, 3.6)
        start = view.at(x, rng.uniform(-0.95, -0.6), z)
        end = view.at(
            x + rng.uniform(-0.5, 0.5), rng.uniform(-0.1, 0.5), z + rng.uniform(-0.6, 0.6)
        )
        rods.append(_bar(view, start, end, width, rng))
    return rods
