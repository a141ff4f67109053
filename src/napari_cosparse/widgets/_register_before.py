"""What can be seen before a registration, without reading much: why it would fail."""

from math import ceil
from typing import Any

import numpy as np
from napari.layers import Labels, Shapes

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.registration import LEAST_MASK, LEAST_SIDE, RegisterSettings
from napari_cosparse.layers import region_flaw

from ._couple import COMPARED, Couple

ROUNDING = 1e-6  # pixels


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
