"""A transform as it lies in a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.geometry import as_motion

LARGE = 1024  # entries of an array that a record leaves out

Pair = tuple[float, float]
Shape = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Transform:
    """Where the pixels of one image lie in another, and how that was found.

    `apply_transform` and its siblings take it in place of a registration.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3), float64
        Maps fixed pixel (row, column, 1) to moving pixel (row, column, 1).
    fixed_shape, moving_shape : tuple of int, or None
        Rows and columns of the images, where known.
    pixel_size_fixed, pixel_size_moving : tuple of float
        Height and width of a pixel, both images in one unit.
    trusted : bool
        Whether the registration may be applied.
    because : str
        Why, or why not.
    details : mapping
        What else is known: group, measure, costs, parameters, versions. JSON values.
    """

    matrix: NDArray[np.float64]
    fixed_shape: Shape | None = None
    moving_shape: Shape | None = None
    pixel_size_fixed: Pair = (1.0, 1.0)
    pixel_size_moving: Pair = (1.0, 1.0)
    trusted: bool = True
    because: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Bring the parts to their types; refuse what is no transform."""
        matrix = as_motion(self.matrix)
        if np.linalg.det(matrix[:2, :2]) == 0:
            raise InputError(f"matrix {matrix.tolist()} is singular: it has no inverse")
        if not isinstance(self.trusted, bool | np.bool_):
            raise InputError(f"trusted {self.trusted!r} must be true or false")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "trusted", bool(self.trusted))
        for name in ("fixed_shape", "moving_shape"):
            object.__setattr__(self, name, _shape(name, getattr(self, name)))
        for name in ("pixel_size_fixed", "pixel_size_moving"):
            object.__setattr__(self, name, _pixel_size(name, getattr(self, name)))


_PARTS = tuple(item.name for item in dataclasses.fields(Transform) if item.name != "details")


def as_transform(source: Any, **given: Any) -> Transform:  # noqa: ANN401 - matrix or record
    """Take a registration, a transform or a bare matrix for a transform.

    Parameters
    ----------
    source : Registration, Transform or array_like, shape (3, 3)
        Records say more than their matrix: all that can be written goes to `details`, but for
        large arrays.
    **given :
        Parts of `Transform` that are known better than from `source`; None is ignored.

    Returns
    -------
    Transform
        The record.

    Raises
    ------
    InputError
        If it is none.
    """
    given = {name: value for name, value in given.items() if value is not None}
    if not hasattr(source, "matrix"):
        return Transform(**({"matrix": source} | given))
    parts = {name: getattr(source, name) for name in _PARTS if hasattr(source, name)}
    details = dict(getattr(source, "details", {})) | _rest(source)
    return Transform(**({"details": details} | parts | given))


def _rest(source: Any) -> dict[str, Any]:  # noqa: ANN401
    """Fields of a registration that no part of a transform holds."""
    if isinstance(source, Transform) or not dataclasses.is_dataclass(source):
        return {}
    names = [item.name for item in dataclasses.fields(source) if item.name not in _PARTS]
    values = {name: getattr(source, name) for name in names}
    return {
        name: value
        for name, value in values.items()
        if not (isinstance(value, np.ndarray) and value.size > LARGE)
    }


def pixel_matrix(world: ArrayLike, size_fixed: Pair, size_moving: Pair) -> NDArray[np.float64]:
    """Turn a map of physical (row, column) positions into one of pixels.

    Parameters
    ----------
    world : array_like, shape (3, 3)
        Maps physical fixed (row, column, 1) to physical moving (row, column, 1).
    size_fixed, size_moving : tuple of float
        Height and width of a pixel.

    Returns
    -------
    ndarray, shape (3, 3)
        Acts on pixels.
    """
    fixed, moving = (np.diag([*size, 1.0]) for size in (size_fixed, size_moving))
    return np.asarray(np.linalg.inv(moving) @ as_motion(world) @ fixed)


def world_matrix(transform: Transform) -> NDArray[np.float64]:
    """Map physical fixed (row, column, 1) to physical moving (row, column, 1).

    Parameters
    ----------
    transform : Transform
        Acts on pixels.

    Returns
    -------
    ndarray, shape (3, 3)
        Physical positions are pixels times pixel size.
    """
    fixed = np.diag([*transform.pixel_size_fixed, 1.0])
    moving = np.diag([*transform.pixel_size_moving, 1.0])
    return np.asarray(moving @ transform.matrix @ np.linalg.inv(fixed))


def _shape(name: str, value: Sequence[int] | None) -> Shape | None:
    if value is None:
        return None
    whole = [v for v in _listed(name, value) if isinstance(v, int | np.integer) and v > 0]
    if len(value) != 2 or len(whole) != 2 or any(isinstance(v, bool) for v in value):
        raise InputError(f"{name} {value!r} must be two whole numbers of at least 1")
    return int(whole[0]), int(whole[1])


def _pixel_size(name: str, value: Sequence[float]) -> Pair:
    try:
        sizes = [float(v) for v in _listed(name, value)]
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} {value!r} must be two numbers") from error
    if len(sizes) != 2 or not all(np.isfinite(v) and v > 0 for v in sizes):
        raise InputError(f"{name} {value!r} must be two positive numbers: height and width")
    return sizes[0], sizes[1]


def _listed(name: str, value: Any) -> list[Any]:  # noqa: ANN401
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise InputError(f"{name} {value!r} must be two numbers")
    return list(value)
