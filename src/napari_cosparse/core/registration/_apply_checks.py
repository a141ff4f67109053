"""What may be applied to what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.geometry import as_motion

from ._frame import Matrix
from ._warp import Warp
from ._warp_taps import ORDERS
from ._warp_types import fill_value


class Registered(Protocol):
    """What a registration says about where things lie; `Registration` and `Transform` do."""

    @property
    def matrix(self) -> Matrix:
        """Fixed pixel to moving pixel, shape (3, 3)."""

    @property
    def trusted(self) -> bool:
        """Whether it may be applied."""

    @property
    def because(self) -> str:
        """Why, or why not."""

    @property
    def fixed_shape(self) -> tuple[int, int]:
        """Size of the fixed image, in pixels."""


def plan_warp(
    image_shape: tuple[int, ...],
    dtype: np.dtype[Any],
    matrix: ArrayLike | Registered,
    shape: tuple[int, int] | None,
    order: str,
    fill: float | None,
    origin: tuple[int, int],
) -> tuple[Warp, tuple[int, int]]:
    """Check the arguments of `apply_transform`.

    Parameters
    ----------
    image_shape : tuple of int
        Rows and columns of the moving image.
    dtype : dtype
        Its type.
    matrix, shape, order, fill, origin :
        As in `apply_transform`.

    Returns
    -------
    warp : Warp
        What to do with each block.
    shape : tuple of int
        Rows and columns of the result.

    Raises
    ------
    InputError
        If an argument breaks a rule, or the registration is not trusted.
    """
    if order not in ORDERS:
        raise InputError(f"order {order!r} must be one of {', '.join(map(repr, ORDERS))}")
    motion = invertible(matrix)
    rows, columns = _two_whole("shape", _result_shape(image_shape, matrix, shape), 1)
    down, right = _two_whole("origin", origin, None)
    motion[:2, 2] += motion[:2, :2] @ (down, right)
    size = (int(image_shape[0]), int(image_shape[1]))
    return Warp(motion, size, order, fill_value(fill, dtype)), (rows, columns)


def invertible(matrix: ArrayLike | Registered) -> Matrix:
    """Matrix of a registration that may be applied.

    Parameters
    ----------
    matrix : array_like, shape (3, 3), or Registration
        Maps fixed pixel (row, column, 1) to moving pixel (row, column, 1).

    Returns
    -------
    ndarray, shape (3, 3), float64
        A copy.

    Raises
    ------
    InputError
        If it is no affine motion or has no inverse, or the registration is not trusted.
    """
    if hasattr(matrix, "matrix"):
        if not getattr(matrix, "trusted", True):
            because = getattr(matrix, "because", "no reason given")
            raise InputError(
                f"the registration is not trusted ({because}): nothing is moved. Pass its .matrix "
                "to apply it all the same"
            )
        matrix = matrix.matrix
    motion = as_motion(matrix)
    sizes = np.linalg.svd(motion[:2, :2], compute_uv=False)
    if sizes[1] <= 1e-12 * sizes[0]:
        raise InputError(f"matrix {motion.tolist()} is singular: it folds the image onto a line")
    return motion


def _result_shape(
    image_shape: tuple[int, ...], matrix: ArrayLike | Registered, shape: tuple[int, int] | None
) -> tuple[int, ...]:
    if shape is not None:
        return shape
    return tuple(getattr(matrix, "fixed_shape", None) or image_shape[:2])


def _two_whole(name: str, values: tuple[int, ...], least: int | None) -> tuple[int, int]:
    given = values if isinstance(values, Iterable) else ()
    whole = [int(v) for v in given if isinstance(v, int | np.integer) and not isinstance(v, bool)]
    if len(tuple(given)) != 2 or len(whole) != 2 or (least is not None and min(whole) < least):
        rule = "whole numbers" if least is None else f"whole numbers of at least {least}"
        raise InputError(f"{name} {values} must be two {rule}: rows and columns")
    return whole[0], whole[1]


def real_array(name: str, values: ArrayLike) -> NDArray[Any]:
    """Make an array of real numbers.

    Parameters
    ----------
    name : str
        What it is.
    values : array_like
        As given.

    Returns
    -------
    ndarray

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise InputError(f"{name} cannot be made an array of numbers: {error}") from None
    if array.dtype.kind not in "buif":
        raise InputError(f"{name} {_have(name)} type {array.dtype}; real numbers are needed")
    return array


def _have(name: str) -> str:
    return "have" if name.endswith("s") else "has"


def as_pixels(image: ArrayLike) -> NDArray[Any]:
    """Check an image.

    Parameters
    ----------
    image : array_like, shape (H, W) or (H, W, 3 or 4)
        The image.

    Returns
    -------
    ndarray
        The same; masked entries become NaN.

    Raises
    ------
    InputError
        If shape or type are others.
    """
    if isinstance(image, np.ma.MaskedArray):
        image = np.ma.filled(image.astype(np.result_type(image.dtype, np.float32)), np.nan)
    pixels = real_array("the image", image)
    if pixels.ndim != 2 and not (pixels.ndim == 3 and pixels.shape[2] in (3, 4)):
        raise InputError(
            f"the image has shape {pixels.shape}; it must be (H, W), or (H, W, 3) or (H, W, 4) for "
            "colours. Apply the transform to each plane of a stack, or use warp_lazily"
        )
    if not pixels.size:
        raise InputError(f"the image has shape {pixels.shape}: there is nothing to resample")
    return pixels
