"""Which of the open layers are likely to be target and guide."""

from __future__ import annotations

from collections.abc import Iterable

from napari.layers import Image


def suggest(layers: Iterable[Image]) -> tuple[Image, Image] | None:
    """Guess target and guide: the smallest gray image and the largest image, colour first.

    Parameters
    ----------
    layers : iterable of napari.layers.Image
        Open image layers.

    Returns
    -------
    tuple of napari.layers.Image, or None
        Target and guide; None with fewer than two layers.
    """
    images = list(layers)
    if len(images) < 2:
        return None
    guide = max(images, key=lambda layer: (layer.rgb, _pixels(layer)))
    others = [layer for layer in images if layer is not guide]
    return min(others, key=lambda layer: (layer.rgb, _pixels(layer))), guide


def _pixels(layer: Image) -> int:
    """Pixels of the finest level's plane."""
    rows, columns = layer.data.shape[: layer.ndim][-2:]
    return int(rows) * int(columns)
