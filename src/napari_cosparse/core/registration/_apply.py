"""Apply a registration to images and labels.

The matrix maps fixed pixel (row, column, 1) to moving pixel (row, column, 1); pixel centres are at
whole numbers. An image is resampled backwards, so it uses the matrix as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.mapping import Map
from napari_cosparse.core.progress import Progress, drain

from ._apply_checks import Registered, as_pixels, plan_warp
from ._warp import Warp, resample_steps
from ._warp_types import input_limits


def apply_transform(
    image: ArrayLike,
    matrix: ArrayLike | Registered,
    *,
    shape: tuple[int, int] | None = None,
    order: str = "linear",
    fill: float | None = None,
    origin: tuple[int, int] = (0, 0),
    map_: Map = map,
    report: Callable[[Progress], None] | None = None,
) -> NDArray[Any]:
    """Resample a moving image onto the fixed image's pixels.

    Pixel x of the result is the image at position ``matrix @ x``. Half a pixel around the image the
    border pixels go on; further out is `fill`. A pixel that is not finite stays local: the result
    is so where the nearest pixel is, and elsewhere the known neighbours share the weight. The work
    goes block by block, so memory beyond the result stays bounded.

    Parameters
    ----------
    image : array_like, shape (H, W) or (H, W, 3 or 4)
        The moving image, of any real type; masked entries become NaN.
    matrix : array_like, shape (3, 3), or Registration
        Maps fixed pixel (row, column, 1) to moving pixel (row, column, 1).
    shape : tuple of int, optional
        Rows and columns of the result: those of the fixed image. None takes them from the
        registration, and the size of `image` with a bare matrix. `moving_extent` gives the shape
        and origin that keep the whole moving image.
    order : {"linear", "cubic", "nearest"}
        Interpolation. Cubic is a B-spline through the pixels; of integers it is clipped to the
        image's range. Masks are interpolated and cut at one half.
    fill : float, optional
        Value outside the image; NaN for floating-point images and 0 for others if None.
    origin : tuple of int
        Fixed pixel (row, column) at which the result begins.
    map_ : callable
        Like the built-in `map`; runs the blocks, perhaps in threads. The result does not depend on
        it.
    report : callable, optional
        Called with each `Progress`.

    Returns
    -------
    ndarray, shape `shape` or (*shape, 3 or 4)
        The resampled image, in the type of `image`.

    Raises
    ------
    InputError
        If an argument breaks a rule, or the registration is not trusted.
    """
    steps = apply_transform_steps(
        image, matrix, shape=shape, order=order, fill=fill, origin=origin, map_=map_
    )
    return drain(steps, report)


def apply_transform_steps(
    image: ArrayLike,
    matrix: ArrayLike | Registered,
    *,
    shape: tuple[int, int] | None = None,
    order: str = "linear",
    fill: float | None = None,
    origin: tuple[int, int] = (0, 0),
    map_: Map = map,
) -> Generator[Progress, None, NDArray[Any]]:
    """Resample as `apply_transform` does, step by step.

    Parameters
    ----------
    image, matrix, shape, order, fill, origin, map_
        As there.

    Returns
    -------
    generator
        Yields `Progress`, about once a megapixel, and returns the image.

    Raises
    ------
    InputError
        At the call, if an argument breaks a rule, or the registration is not trusted.
    """
    pixels = as_pixels(image)
    warp, size = plan_warp(pixels.shape[:2], pixels.dtype, matrix, shape, order, fill, origin)
    if order == "cubic":
        warp = Warp(warp.matrix, warp.shape, order, warp.fill, input_limits(pixels))
    rows, columns = pixels.shape[:2]
    whole = slice(0, rows), slice(0, columns)
    return resample_steps(warp, pixels, whole, (slice(0, size[0]), slice(0, size[1])), map_)


def apply_to_labels(
    labels: ArrayLike,
    matrix: ArrayLike | Registered,
    *,
    shape: tuple[int, int] | None = None,
    origin: tuple[int, int] = (0, 0),
    background: int = 0,
) -> NDArray[Any]:
    """Resample a label image onto the fixed image's pixels; no new label ever appears.

    Parameters
    ----------
    labels : array_like, shape (H, W)
        Labels on the moving image.
    matrix : array_like, shape (3, 3), or Registration
        Maps fixed pixel (row, column, 1) to moving pixel (row, column, 1).
    shape : tuple of int, optional
        Rows and columns of the result; see `apply_transform`.
    origin : tuple of int
        Fixed pixel (row, column) at which the result begins.
    background : int
        Label outside the moving image.

    Returns
    -------
    ndarray, shape `shape`
        Labels of the nearest pixels, in the type of `labels`.

    Raises
    ------
    InputError
        If an argument breaks a rule, or the registration is not trusted.
    """
    return apply_transform(
        labels, matrix, shape=shape, order="nearest", fill=background, origin=origin
    )
