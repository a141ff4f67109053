"""Which of the open layers are likely to be target and guide."""

from __future__ import annotations

from collections.abc import Iterable

from napari.layers import Image

from ._atoms import pair_of
from ._record import METADATA_KEY

MADE_HERE = ("upsample", "learn")  # actions whose layers are results, no inputs


def suggest(layers: Iterable[Image]) -> tuple[Image, Image] | None:
    """Guess target and guide: the smallest gray image and the largest image, colour first.

    Parameters
    ----------
    layers : iterable of napari.layers.Image
        Open image layers. Results of this plugin are left out; of two of one size the registered
        one is taken.

    Returns
    -------
    tuple of napari.layers.Image, or None
        Target and guide; None with fewer than two layers.
    """
    images = [layer for layer in layers if not _is_result(layer)]
    if len(images) < 2:
        return None
    guide = max(images, key=_detail)
    others = [layer for layer in images if layer is not guide]
    return min(others, key=_unlikely), guide


def partner(layers: Iterable[Image | None], other: Image, *, coarse: bool) -> Image | None:
    """Guess which layer goes with one that is chosen.

    Parameters
    ----------
    layers : iterable of napari.layers.Image or None
        What is offered. Results of this plugin are left out.
    other : napari.layers.Image
        The layer that is chosen.
    coarse : bool
        Whether a target is looked for, or else a guide.

    Returns
    -------
    napari.layers.Image, or None
        None where there is no other one.
    """
    images = [layer for layer in layers if layer is not None and layer is not other]
    images = [layer for layer in images if not _is_result(layer)]
    if not images:
        return None
    return min(images, key=_unlikely) if coarse else max(images, key=_detail)


def is_registered(layer: Image) -> bool:
    """Say whether a registration has put a layer where it lies.

    Parameters
    ----------
    layer : napari.layers.Image
        Any image.

    Returns
    -------
    bool
    """
    told = layer.metadata.get(METADATA_KEY)
    return isinstance(told, dict) and told.get("action") == "register"


def _detail(layer: Image) -> tuple[bool, int]:
    """Sort key of guides."""
    return layer.rgb, _pixels(layer)


def _unlikely(layer: Image) -> tuple[bool, int, bool]:
    """Sort key of targets."""
    return layer.rgb, _pixels(layer), METADATA_KEY not in layer.metadata


def _is_result(layer: Image) -> bool:
    """Whether a layer was made here: an upsampled image, a preview, atoms, a checkerboard."""
    told = layer.metadata.get(METADATA_KEY)
    made = isinstance(told, dict) and (told.get("action") in MADE_HERE or "checkerboard" in told)
    return made or pair_of(layer.metadata) is not None


def _pixels(layer: Image) -> int:
    """Pixels of the finest level's plane."""
    rows, columns = layer.data.shape[: layer.ndim][-2:]
    return int(rows) * int(columns)
