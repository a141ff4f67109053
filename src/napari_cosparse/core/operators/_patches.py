"""Patches of a registered image pair: which may be used, which are drawn, what they contain.

The choice of positions and the gathering are separate, so that a caller with a chunked image can
gather chunk by chunk and still get the same patches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError

LUMINANCE = (0.299, 0.587, 0.114)
"""Weights of red, green and blue after Rec. 601."""
BAND = 256
"""Rows of patch positions that are looked at together; bounds the memory, changes no result."""
FLAT = 1e-6
"""Patches whose deviation is below this share of the range are round-off: never used."""

Image = NDArray[Any]
Plane = NDArray[np.float64]
Mask = NDArray[np.bool_]


def as_image(array: ArrayLike, name: str) -> Image:
    """Check that an array is an image of one plane or of colours.

    Parameters
    ----------
    array : array_like, shape (H, W) or (H, W, 3 or 4)
        The image; masked entries become NaN.
    name : str
        What to call it in messages.

    Returns
    -------
    ndarray, shape (H, W) or (H, W, 3)
        The image; a fourth channel (opacity) is dropped.

    Raises
    ------
    InputError
        If the shape is another one or the values are no real numbers.
    """
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    image = np.asarray(array)
    if image.dtype.kind not in "buif":
        raise InputError(f"{name} has type {image.dtype}; an image needs real numbers")
    if image.ndim == 2:
        return image
    if image.ndim == 3 and image.shape[2] in (3, 4):
        return image[:, :, :3]
    raise InputError(
        f"{name} has shape {image.shape}; it must be (H, W), or (H, W, 3) or (H, W, 4) for "
        "colours. Choose one plane of a stack"
    )


def luminance(values: Image, *, colour: bool) -> Plane:
    """Grey values in float64: the values themselves, or Rec. 601 of colours in the last axis."""
    if not colour:
        return values.astype(np.float64)
    red, green, blue = (
        weight * values[..., channel].astype(np.float64) for channel, weight in enumerate(LUMINANCE)
    )
    return np.asarray(red + green + blue)


def valid_pixels(image: Image, invalid: float | None) -> Mask:
    """Pixels that are known.

    Parameters
    ----------
    image : ndarray, shape (H, W) or (H, W, 3)
        The image.
    invalid : float or None
        Value that means unknown (in all channels); NaN and infinity always do.

    Returns
    -------
    ndarray, shape (H, W), bool
        True where the pixel is known.
    """
    known = np.asarray(np.atleast_3d(np.isfinite(image)).all(axis=2))
    if invalid is not None and np.isfinite(invalid):
        known &= ~np.atleast_3d(image == invalid).all(axis=2)
    return known


def image_range(values: NDArray[np.float64]) -> float:
    """Range of an image: 1-99 % quantile range; if 0, max - min; if 0, 1.

    Parameters
    ----------
    values : ndarray
        Valid pixels, in the image's unit.

    Returns
    -------
    float
        The range, in the image's unit; positive.
    """
    if not values.size:
        return 1.0
    low, high = np.quantile(values, (0.01, 0.99))
    return float(high - low) or float(np.ptp(values)) or 1.0


def box_sums(plane: Plane, side: int) -> Plane:
    """Add up all patches; each is added in the same order, wherever the plane was cut out.

    Parameters
    ----------
    plane : ndarray, shape (H, W), float64
        Values.
    side : int
        Side of the patches, in pixels.

    Returns
    -------
    ndarray, shape (H - side + 1, W - side + 1), float64
        Sum of the patch whose top left pixel is at that position.
    """
    rows, columns = (size - side + 1 for size in plane.shape)
    down = plane[:rows].copy()
    for offset in range(1, side):
        down += plane[offset : offset + rows]
    across = down[:, :columns].copy()
    for offset in range(1, side):
        across += down[:, offset : offset + columns]
    return across


def eligible_positions(
    image: Image, side: int, threshold: float, invalid: float | None = None
) -> Mask:
    """Positions whose patch is known everywhere and not flat.

    Parameters
    ----------
    image : ndarray, shape (H, W) or (H, W, 3)
        The image.
    side : int
        Side of the patches, in pixels.
    threshold : float
        Standard deviation that a patch must exceed, as a fraction of the image's range.
    invalid : float or None
        Value that means unknown.

    Returns
    -------
    ndarray, shape (H - side + 1, W - side + 1), bool
        True at the top left pixel of each patch that may be used.
    """
    valid = valid_pixels(image, invalid)
    known = luminance(image[valid], colour=image.ndim == 3)
    centre, spread = float(np.median(known)) if known.size else 0.0, image_range(known)
    least = (max(threshold, FLAT) * spread) ** 2 * side**2
    bands = [
        _eligible(image[rows], valid[rows], side, centre, least)
        for rows in _bands(image.shape[0], side)
    ]
    return np.concatenate(bands)


def _bands(height: int, side: int) -> Iterator[slice]:
    for start in range(0, height - side + 1, BAND):
        yield slice(start, min(start + BAND + side - 1, height))


def _eligible(image: Image, valid: Mask, side: int, centre: float, least: float) -> Mask:
    """Mask of one band of rows; `least` is the sum of squares that a patch must exceed."""
    plane = np.zeros(valid.shape)
    plane[valid] = luminance(image[valid], colour=image.ndim == 3) - centre
    squares = box_sums(plane**2, side) - box_sums(plane, side) ** 2 / side**2
    complete = box_sums(valid.astype(np.float64), side) > side**2 - 0.5
    return complete & (squares > least)


def draw_positions(eligible: Mask, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw positions without replacement, each eligible one with the same probability.

    Parameters
    ----------
    eligible : ndarray, shape (h, w), bool
        Positions to choose from.
    count : int
        Number of positions; at most as many as are eligible.
    rng : numpy.random.Generator
        Source of the random numbers.

    Returns
    -------
    ndarray, shape (count, 2), int64
        Row and column of the top left pixels, in reading order.
    """
    chosen = rng.choice(np.flatnonzero(eligible), count, replace=False, shuffle=False)
    return np.stack(np.unravel_index(np.sort(chosen), eligible.shape), axis=1)


def gather(image: Image, positions: NDArray[np.int64], side: int) -> Plane:
    """Copy patches out of an image; nothing else of it is converted.

    Parameters
    ----------
    image : ndarray, shape (H, W) or (H, W, 3)
        The image.
    positions : ndarray, shape (M, 2), int
        Row and column of the top left pixels.
    side : int
        Side of the patches, in pixels.

    Returns
    -------
    ndarray, shape (M, side, side), float64
        The patches, in the image's unit.
    """
    windows = sliding_window_view(image, (side, side), axis=(0, 1))[tuple(positions.T)]
    colour = image.ndim == 3
    return luminance(np.moveaxis(windows, 1, -1) if colour else windows, colour=colour)


def shares(available: list[int], samples: int) -> list[int]:
    """Divide a number of patches equally among image pairs.

    A pair with fewer eligible patches than its share gives all of them, and the others share the
    rest equally. A remainder goes to the first pairs.

    Parameters
    ----------
    available : list of int
        Eligible patches of each pair.
    samples : int
        Number of patches wanted.

    Returns
    -------
    list of int
        Numbers of patches; their sum is `samples` or all that there are.
    """
    left = min(samples, sum(available))
    given = [0] * len(available)
    while left:
        able = [index for index, most in enumerate(available) if given[index] < most]
        share, more = divmod(left, len(able))
        for rank, index in enumerate(able):
            extra = min(share + (rank < more), available[index] - given[index])
            given[index] += extra
            left -= extra
    return given


def turn(patches: Plane, codes: NDArray[np.int64]) -> Plane:
    """Apply to each patch one of the 8 symmetries of the square.

    Parameters
    ----------
    patches : ndarray, shape (M, side, side)
        The patches.
    codes : ndarray, shape (M,), int
        Symmetry of each: the quarter turns are ``code % 4``, transposed first from 4 on.

    Returns
    -------
    ndarray, shape (M, side, side)
        The turned patches.
    """
    turned = np.empty_like(patches)
    for code in range(8):
        chosen = codes == code
        flipped = patches[chosen].transpose(0, 2, 1) if code >= 4 else patches[chosen]
        turned[chosen] = np.rot90(flipped, code % 4, axes=(1, 2))
    return turned


def normalise(patches: Plane) -> NDArray[np.float32]:
    """Remove the mean of each patch and divide by its standard deviation.

    Parameters
    ----------
    patches : ndarray, shape (M, side, side), float64
        Patches that are not constant.

    Returns
    -------
    ndarray, shape (side**2, M), float32
        One patch a column, coefficients in row-major order, of length `side`.
    """
    rows = patches.reshape(len(patches), -1)
    rows = rows - rows.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.mean(rows**2, axis=1, keepdims=True))
    return np.ascontiguousarray((rows / deviation).T, np.float32)
