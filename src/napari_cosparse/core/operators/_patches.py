"""Patches of a registered image pair: which may be used, which are drawn, what they contain.

The choice of positions and the gathering are separate, so that an image in chunks can be read part
by part and still give the same patches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from napari_cosparse.core.ranges import robust_range

from ._images import BAND, Chunked, Image, Mask, Plane, bands, known_values, luminance, valid_pixels

FLAT = 1e-6
"""Patches whose deviation is below this share of the range are round-off: never used."""

ROUND_OFF = 1e-12
"""Share of a patch's sum of squares that float64 sums cannot tell from zero."""


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
    image: Image,
    side: int,
    threshold: float,
    invalid: float | None = None,
    span: tuple[float, float] | None = None,
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
    span : tuple of float, optional
        Low end and range of a larger image that this one is a part of; its own if None.

    Returns
    -------
    ndarray, shape (H - side + 1, W - side + 1), bool
        True at the top left pixel of each patch that may be used.
    """
    low, spread = span or robust_range(known_values(image, invalid))
    least = (max(threshold, FLAT) * spread) ** 2 * side**2
    parts = []
    for rows in bands(image.shape[0], side):
        part = image[rows]
        parts.append(_eligible(part, valid_pixels(part, invalid), side, low, least))
    return np.concatenate(parts)


def _eligible(image: Image, valid: Mask, side: int, low: float, least: float) -> Mask:
    """Mask of one band of rows; `least` is the sum of squares that a patch must exceed."""
    plane = np.zeros(valid.shape)
    plane[valid] = luminance(image[valid], colour=image.ndim == 3) - low
    total = box_sums(plane**2, side)
    squares = total - box_sums(plane, side) ** 2 / side**2
    complete = box_sums(valid.astype(np.float64), side) > side**2 - 0.5
    return np.asarray(complete & (squares > least) & (squares > ROUND_OFF * total))


def gather(image: Image, positions: NDArray[np.int64], side: int, block: int = BAND) -> Plane:
    """Copy patches out of an image; nothing else of it is converted.

    Parameters
    ----------
    image : ndarray, shape (H, W) or (H, W, 3)
        The image.
    positions : ndarray, shape (M, 2), int
        Row and column of the top left pixels.
    side : int
        Side of the patches, in pixels.
    block : int
        Patches of one square of that side, in pixels, are read together from a chunked image.

    Returns
    -------
    ndarray, shape (M, side, side), float64
        The patches, in the image's unit.
    """
    source: Any = image
    if isinstance(source, Chunked):
        return _gather_chunked(source, positions, side, block)
    windows = sliding_window_view(image, (side, side), axis=(0, 1))[tuple(positions.T)]
    colour = image.ndim == 3
    return luminance(np.moveaxis(windows, 1, -1) if colour else windows, colour=colour)


def _gather_chunked(image: Chunked, positions: NDArray[np.int64], side: int, block: int) -> Plane:
    """Read only the parts of an image in which a patch begins."""
    patches = np.empty((len(positions), side, side))
    for chosen in by_place(positions, block):
        first = positions[chosen].min(axis=0)
        last = positions[chosen].max(axis=0) + side
        part = image[first[0] : last[0], first[1] : last[1]]
        patches[chosen] = gather(part, positions[chosen] - first, side)
    return patches


def by_place(positions: NDArray[np.int64], block: int) -> list[NDArray[np.int64]]:
    """Sort positions by the square of an image that they lie in.

    Parameters
    ----------
    positions : ndarray, shape (M, 2), int
        Row and column.
    block : int
        Side of the squares, in pixels.

    Returns
    -------
    list of ndarray, int
        Numbers of the positions of each square that has any.
    """
    _, square = np.unique(positions // block, axis=0, return_inverse=True)
    order = np.argsort(square.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(square.ravel()))
    return np.split(order, ends[:-1]) if len(order) else []


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
    level = 0  # what each pair gives, or all it has
    for rank, most in enumerate(sorted(available)):
        able = len(available) - rank
        if (most - level) * able > left:
            level, left = level + left // able, left % able
            break
        level, left = most, left - (most - level) * able
    given = [min(most, level) for most in available]
    generous = [index for index, most in enumerate(available) if most > level]
    for index in generous[:left]:
        given[index] += 1
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
        Patches that are not constant; M may be 0.

    Returns
    -------
    ndarray, shape (side**2, M), float32
        One patch a column, coefficients in row-major order, of length `side`.
    """
    rows = patches.reshape(len(patches), patches.shape[1] * patches.shape[2])
    rows = rows - rows.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.mean(rows**2, axis=1, keepdims=True))
    return np.ascontiguousarray((rows / deviation).T, np.float32)
