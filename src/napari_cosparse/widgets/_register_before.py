"""What can be seen before a registration, without reading much: why it would fail."""

from math import ceil, isqrt
from typing import Any

import numpy as np
from napari.layers import Image, Labels, Shapes
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import LEAST_MASK, LEAST_SIDE, RegisterSettings
from napari_cosparse.layers import Source, read, region_flaw

from ._couple import COMPARED, Couple

ROUNDING = 1e-6  # pixels
LOOKED = 1 << 20  # values that are looked at in some milliseconds
GLANCE = 1 << 12  # values that are enough as a rule


def check_registration(
    pair: Couple,
    keywords: dict[str, Any],
    masks: tuple[Labels | Shapes | None, Labels | Shapes | None],
) -> None:
    """Refuse what the core would refuse, as far as it can be seen at once.

    Parameters
    ----------
    pair : Couple
        The layers.
    keywords : dict
        Of `register`, without masks.
    masks : tuple of Labels, Shapes or None
        Where the masks of the fixed and of the moving image are drawn.

    Raises
    ------
    InputError
        The message says why.
    """
    RegisterSettings(**keywords)
    check_sizes(pair)
    check_pixels(pair, keywords.get("invalid", (None, None)))
    check_places(pair, keywords.get("points"))
    for grid, layer, plane in zip(pair.grids, masks, pair.planes, strict=True):
        if layer is not None and (flaw := region_flaw(grid, layer, plane, least=LEAST_MASK)):
            raise InputError(flaw)


def check_sizes(pair: Couple) -> None:
    """Refuse layers that are too small to be aligned, at the pixels at which they are compared.

    Parameters
    ----------
    pair : Couple
        The layers.

    Raises
    ------
    InputError
        The message names the layer, its size and the way out.
    """
    start, shapes = pair.start, [grid.shape for grid in pair.grids]
    sizes = np.ones((2, 2))
    if start.informative:
        sizes = np.array([start.pixel_size_fixed, start.pixel_size_moving])
    lengths = np.multiply(shapes, sizes)
    pixel = float(sizes.max())
    pixel *= max(1, ceil(float(lengths.max()) / pixel / COMPARED))
    for layer, shape, compared in zip(
        (pair.fixed, pair.moving), shapes, lengths / pixel, strict=True
    ):
        rows, columns = (ceil(n - ROUNDING) for n in compared)
        if min(rows, columns) >= LEAST_SIDE:
            continue
        told = f"{layer.name!r} has {shape[0]} x {shape[1]} pixels"
        way = "choose a larger part or a finer level"
        if (rows, columns) != tuple(shape):
            told += f", which is {rows} x {columns} of those at which the layers are compared"
            way = "check scale and units of both layers, or choose a larger part"
        raise InputError(f"{told}; at least {LEAST_SIDE} along each side are needed: {way}.")


def check_pixels(pair: Couple, invalid: tuple[float | None, float | None]) -> None:
    """Refuse planes that are constant or unknown, where they are in memory and small.

    Parameters
    ----------
    pair : Couple
        The layers.
    invalid : tuple of float or None
        Values that mean unknown.

    Raises
    ------
    InputError
        The message names the layer and the way out.
    """
    layers: tuple[Image, Image] = pair.fixed, pair.moving
    for layer, level, plane, unknown in zip(layers, pair.levels, pair.planes, invalid, strict=True):
        flaw = _flaw(read(layer, level), plane, unknown)
        if flaw:
            where = "the shown plane of " if plane else ""
            way = "another plane or layer" if plane else "another layer"
            raise InputError(f"{where}{layer.name!r} {flaw}, or choose {way}.")


def _flaw(source: Source, plane: tuple[int, ...], unknown: float | None) -> str:
    """Say why there is nothing to compare; empty if there is, or if it would take long to see."""
    pixels = source.lazy(plane)
    if not isinstance(pixels, np.ndarray) or pixels.size > LOOKED:
        return ""
    step = isqrt(pixels.size // GLANCE) + 1
    for each in (step, 1):  # as a rule a few pixels tell that there is something
        known = _known(source, plane, unknown, slice(None, None, each))
        varies = bool(known.size and known.min() < known.max())
        if known.size >= LEAST_MASK and varies:
            return ""
    if known.size < LEAST_MASK:
        return (
            f"has {known.size or 'no'} known pixels, and at least {LEAST_MASK} are needed: all "
            "others are NaN, infinite or the unknown value. Check Advanced > Unknown"
        )
    return f"is constant ({known.min():g}): there is nothing to register. Check its values"


def _known(
    source: Source, plane: tuple[int, ...], unknown: float | None, part: slice
) -> NDArray[Any]:
    """Values of some of the known pixels."""
    values = source.load_gray(plane, (part, part))
    known = np.isfinite(values)
    if unknown is not None and not source.rgb:
        known &= values != np.float64(unknown)
    found: NDArray[Any] = values[known]
    return found


def check_places(
    pair: Couple, points: tuple[NDArray[np.float64], NDArray[np.float64]] | None
) -> None:
    """Refuse points that lie further beside their image than it is large.

    Parameters
    ----------
    pair : Couple
        The layers.
    points : tuple of ndarray, shape (n, 2), or None
        Rows and columns, in pixels of the fixed and of the moving image.

    Raises
    ------
    InputError
        The message names the first such point.
    """
    if points is None:
        return
    for layer, grid, places in zip((pair.fixed, pair.moving), pair.grids, points, strict=True):
        size = np.array(grid.shape)
        outside = np.maximum(-places, places - (size - 1))
        far = np.flatnonzero((outside > size).any(1))
        if far.size:
            share = f" ({far.size} of {len(places)} points lie so)" if len(places) > 1 else ""
            raise InputError(
                f"point number {far[0] + 1} lies further beside {layer.name!r} than that is large"
                f"{share}: check scale and units of the layer of points and of the image, or set "
                "it again."
            )
