"""Ray casting for the sample scene: three unit solids under linear maps, and planes.

A ray is ``origin + t * direction``. In the camera, directions have depth 1, so that t is the depth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vectors = NDArray[np.float64]  # (rays, 3): x right, y down, z away from the camera, in metres
_TINY = 1e-12
_CUBE = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), -1).reshape(-1, 3)


@dataclass(frozen=True)
class Solid:
    """A unit solid brought to its place: ``world = centre + axes @ local``.

    Attributes
    ----------
    hit : callable
        Entry of local rays into the unit solid: origins, directions -> t, inf where it is missed.
    normal : callable
        Local points on the surface -> local normals, of any length.
    centre : ndarray, shape (3,)
        Position of the centre, in metres.
    axes : ndarray, shape (3, 3)
        Half axes as columns, in metres.
    endless : bool
        Whether the solid reaches beyond the unit cube.
    """

    hit: Callable[[Vectors, Vectors], NDArray[np.float64]]
    normal: Callable[[Vectors], Vectors]
    centre: Vectors
    axes: Vectors
    endless: bool = False
    inverse: Vectors = field(init=False)

    def __post_init__(self) -> None:
        """Invert the axes once."""
        object.__setattr__(self, "inverse", np.linalg.inv(self.axes))

    def local(self, points: Vectors) -> Vectors:
        """Return points of the world in the solid's own coordinates."""
        return (points - self.centre) @ self.inverse.T

    def cast(self, origins: Vectors, directions: Vectors) -> NDArray[np.float64]:
        """Return t at which each ray enters, inf where it misses, shape (rays,)."""
        return self.hit(self.local(origins), directions @ self.inverse.T)

    def window(self, directions: Vectors) -> tuple[slice, slice]:
        """Return the part of a picture's rays, shape (rows, columns, 3), that may hit."""
        corners = self.centre + _CUBE @ self.axes.T
        if self.endless or corners[:, 2].min() < _TINY:
            return slice(None), slice(None)
        seen = corners[:, :2] / corners[:, 2:]
        (left, top), (right, bottom) = seen.min(0), seen.max(0)
        return _between(directions[:, 0, 1], top, bottom), _between(
            directions[0, :, 0], left, right
        )

    @property
    def reach(self) -> float:
        """Distance of the corner of the solid's box that is furthest from its centre, in metres."""
        return float(np.sqrt((self.axes**2).sum()))

    def normals(self, points: Vectors) -> Vectors:
        """Return unit normals of the world at points on the surface, shape (rays, 3)."""
        normals = self.normal(self.local(points)) @ self.inverse
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        return np.asarray(normals / np.maximum(lengths, _TINY))


def ball(centre: ArrayLike, axes: ArrayLike) -> Solid:
    """Return a sphere or, with axes of different length, an ellipsoid."""
    return Solid(
        _hit_ball, lambda points: points, np.asarray(centre, float), np.asarray(axes, float)
    )


def cylinder(centre: ArrayLike, axes: ArrayLike) -> Solid:
    """Return a cylinder along its second axis, with flat ends."""
    return Solid(
        _hit_cylinder, _normal_cylinder, np.asarray(centre, float), np.asarray(axes, float)
    )


def box(centre: ArrayLike, axes: ArrayLike) -> Solid:
    """Return a box."""
    return Solid(_hit_box, _normal_box, np.asarray(centre, float), np.asarray(axes, float))


def plane(centre: ArrayLike, axes: ArrayLike) -> Solid:
    """Return the endless plane of the first two axes."""
    return Solid(
        _hit_plane, _normal_plane, np.asarray(centre, float), np.asarray(axes, float), endless=True
    )


def _between(line: NDArray[np.float64], low: float, high: float) -> slice:
    """Return the part of a rising line of positions that lies in an interval."""
    return slice(int(np.searchsorted(line, low)), int(np.searchsorted(line, high, "right")))


def _hit_ball(origins: Vectors, directions: Vectors) -> NDArray[np.float64]:
    """Solve |origin + t direction| = 1 for the smaller t."""
    return _entry(*_quadratic(origins, directions))


def _quadratic(
    origins: Vectors, directions: Vectors
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both t at which rays cross the unit sphere of their dimension; inf, -inf if none."""
    a = np.maximum((directions**2).sum(1), _TINY)
    b = (origins * directions).sum(1)
    c = (origins**2).sum(1) - 1
    inside = b**2 - a * c
    root = np.sqrt(np.maximum(inside, 0))
    return (
        np.where(inside > 0, (-b - root) / a, np.inf),
        np.where(inside > 0, (-b + root) / a, -np.inf),
    )


def _slabs(origins: Vectors, directions: Vectors) -> tuple[Vectors, Vectors]:
    """Return t of entry into and exit from -1..1 along each axis."""
    safe = np.where(np.abs(directions) < _TINY, _TINY, directions)
    first, second = (-1 - origins) / safe, (1 - origins) / safe
    return np.minimum(first, second), np.maximum(first, second)


def _entry(near: NDArray[np.float64], far: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return t of entry if the ray starts outside and the solid lies before it."""
    return np.where((near <= far) & (near > 0), near, np.inf)


def _hit_box(origins: Vectors, directions: Vectors) -> NDArray[np.float64]:
    """Intersect three slabs."""
    near, far = _slabs(origins, directions)
    return _entry(near.max(1), far.min(1))


def _normal_box(points: Vectors) -> Vectors:
    """Return the face whose coordinate is largest."""
    largest = np.abs(points).argmax(1)[:, None] == np.arange(3)
    return np.where(largest, np.sign(points), 0.0)


def _hit_cylinder(origins: Vectors, directions: Vectors) -> NDArray[np.float64]:
    """Intersect an endless cylinder with the slab of its ends."""
    round_near, round_far = _quadratic(origins[:, ::2], directions[:, ::2])
    flat_near, flat_far = _slabs(origins[:, 1:2], directions[:, 1:2])
    return _entry(np.maximum(round_near, flat_near[:, 0]), np.minimum(round_far, flat_far[:, 0]))


def _normal_cylinder(points: Vectors) -> Vectors:
    """Return the side's or the ends' normal, whichever surface is nearer."""
    end = np.abs(points[:, 1]) > np.hypot(points[:, 0], points[:, 2])
    side = points * (1.0, 0.0, 1.0)
    return np.where(end[:, None], points * (0.0, 1.0, 0.0), side)


def _hit_plane(origins: Vectors, directions: Vectors) -> NDArray[np.float64]:
    """Return t of the third coordinate's zero."""
    slope = directions[:, 2]
    t = -origins[:, 2] / np.where(np.abs(slope) < _TINY, _TINY, slope)
    return np.where(t > 0, t, np.inf)


def _normal_plane(points: Vectors) -> Vectors:
    """Return the third axis."""
    return np.broadcast_to(np.array([0.0, 0.0, 1.0]), points.shape)
