"""An image made ready for registration: one channel, holes known and filled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import binary_dilation, distance_transform_edt, minimum_filter, uniform_filter

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.mapping import Map, once
from napari_cosparse.core.ranges import robust_range
from napari_cosparse.core.types import Mask, Plane

from ._blank import blank_border

LUMINANCE = (0.299, 0.587, 0.114)  # ITU-R BT.601
PATCH = 5  # pixels: side of the patches that the contrast is measured on
LEAST_SIDE = 16  # pixels: smaller images hold too few patches to align by
LEAST_MASK = 256  # pixels that a mask must leave


@dataclass(frozen=True)
class Side:
    """One image of the pair.

    Attributes
    ----------
    image : ndarray, shape (h, w), float32
        Filled and brought to its range, so that it is free of unit.
    usable : ndarray, shape (h, w), bool
        Pixels that are known and not masked out.
    contrast : float
        RMS of the standard deviations of its patches, in its range; 0 for a constant image.
    """

    image: Plane
    usable: Mask
    contrast: float


def luminance(image: NDArray[np.generic], name: str) -> Plane:
    """Grey image of a grey or colour image.

    Parameters
    ----------
    image : ndarray, shape (h, w) or (h, w, 3) or (h, w, 4)
        Any numeric type; a fourth channel is opacity and is left out.
    name : str
        What the image is called in messages.

    Returns
    -------
    ndarray, shape (h, w), float64
        In the image's unit.

    Raises
    ------
    InputError
        If the shape or the type is of another kind.
    """
    if image.dtype.kind not in "buif":
        raise InputError(f"{name} has type {image.dtype}; registration needs real numbers")
    if image.ndim == 2:
        return np.asarray(image, np.float64)
    if image.ndim == 3 and image.shape[2] in (3, 4):
        colours: Plane = np.asarray(image[..., :3], np.float64) @ np.array(LUMINANCE)
        return colours
    raise InputError(
        f"{name} has shape {image.shape}; registration is two-dimensional: give (rows, columns) or "
        "(rows, columns, 3 or 4 channels), one plane of a stack at a time"
    )


def make_side(
    image: ArrayLike,
    name: str,
    mask: ArrayLike | None = None,
    invalid: float | None = None,
    map_: Map = map,
) -> Side:
    """Check an image and make it ready.

    Parameters
    ----------
    image : array_like, shape (h, w) or (h, w, 3) or (h, w, 4)
        Any numeric type and unit; NaN and infinity are unknown.
    name : str
        What the image is called in messages.
    mask : array_like, shape (h, w), optional
        True where the image may be used. A blank frame around the image is left out anyway.
    invalid : float, optional
        Value that means unknown.
    map_ : Map, optional
        Who runs it may stop between two steps.

    Returns
    -------
    Side
        Unknown pixels hold the value of the nearest known one.

    Raises
    ------
    InputError
        If the image is too small or of a wrong kind, or the mask does not fit or leaves too little.
    """
    raw = np.asarray(image)
    gray = luminance(raw, name)
    if min(gray.shape) < LEAST_SIDE:
        raise InputError(
            f"{name} has {gray.shape[0]} x {gray.shape[1]} pixels; registration needs at least "
            f"{LEAST_SIDE} along each side"
        )
    known = np.isfinite(gray)
    if raw.ndim == 3:
        known &= np.isfinite(np.asarray(raw[..., :3], np.float64)).all(-1)
    if invalid is not None:
        known &= (raw if raw.ndim == 2 else raw[..., :3].max(-1)) != invalid
    usable = known if mask is None else known & check_mask(mask, gray.shape, name)
    # one pixel more: an interpolated frame blends into the image
    frame = binary_dilation(blank_border(gray))
    return once(map_, fill, gray, known, usable & ~frame)


def check_mask(mask: ArrayLike, shape: tuple[int, ...], name: str) -> Mask:
    """Refuse a mask that does not fit or leaves too little.

    Parameters
    ----------
    mask : array_like, shape (h, w)
        Nonzero where the image may be used.
    shape : tuple of int
        Shape of the image.
    name : str
        What the image is called in messages.

    Returns
    -------
    ndarray, shape (h, w), bool

    Raises
    ------
    InputError
        If the shape differs, or no 5 x 5 patches or under 256 pixels are left.
    """
    array = np.asarray(mask)
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"mask of {name} has type {array.dtype}; it must be of real numbers or booleans "
            "(True or nonzero means use)"
        )
    if array.shape != shape:
        raise InputError(
            f"mask of {name} has shape {array.shape} but the image {shape}; both must be the same"
        )
    chosen = np.nan_to_num(array) != 0 if array.dtype.kind == "f" else array != 0
    patches = int(minimum_filter(chosen, PATCH, mode="constant", cval=0).sum())
    if int(chosen.sum()) < LEAST_MASK or patches == 0:
        raise InputError(
            f"mask of {name} leaves {int(chosen.sum())} pixels and {patches} whole {PATCH} x "
            f"{PATCH} patches; at least {LEAST_MASK} pixels and one patch are needed: enlarge the "
            "mask (True or nonzero means use)"
        )
    return np.asarray(chosen, np.bool_)


def fill(gray: Plane, known: Mask, usable: Mask) -> Side:
    """Fill unknown pixels and bring an image to its range.

    Parameters
    ----------
    gray : ndarray, shape (h, w)
        Any unit; what is unknown may hold anything.
    known : ndarray, shape (h, w), bool
        Pixels that hold a number.
    usable : ndarray, shape (h, w), bool
        Those of them that may be used.

    Returns
    -------
    Side
        Unknown pixels hold the value of the nearest known one.
    """
    if not known.any():
        return Side(np.zeros(gray.shape, np.float32), usable, 0.0)
    low, span = robust_range(gray[usable] if usable.any() else gray[known])
    scaled = (np.where(known, gray, low) - low) / span
    if not known.all():
        nearest = distance_transform_edt(~known, return_distances=False, return_indices=True)
        scaled = scaled[tuple(nearest)]
    # a far outlier (a dead pixel of 1e30) would cost float32 its digits
    image = np.clip(scaled, -16, 17).astype(np.float32)
    return Side(image, usable, contrast(image, usable))


def contrast(image: Plane, usable: Mask) -> float:
    """Root mean square of the standard deviations of an image's patches.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        Any unit.
    usable : ndarray, shape (h, w), bool
        Patches with any other pixel are left out.

    Returns
    -------
    float
        In the image's unit; 0 for a constant image.
    """
    whole = usable if usable.all() else minimum_filter(usable, PATCH, mode="nearest")
    if not whole.any():
        whole = usable
    if not whole.any():
        return 0.0
    values = image.astype(np.float64)
    values -= values[whole].mean()
    spread = uniform_filter(values**2, PATCH) - uniform_filter(values, PATCH) ** 2
    mean_square = float(np.clip(spread[whole], 0, None).mean())
    # what is left of a constant image is the round-off of the running sums
    return float(np.sqrt(mean_square)) if mean_square > 1e-12 else 0.0
