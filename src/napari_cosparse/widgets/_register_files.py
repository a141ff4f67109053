"""Transforms to and from files."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from napari_cosparse.io import Transform, load_transform, save_transform
from napari_cosparse.layers import start_from

from ._couple import Couple

if TYPE_CHECKING:
    from ._register_found import Found

ROLES = "fixed", "moving"
UNSAID = ((1.0, 1.0), (1.0, 1.0))  # pixel sizes where nobody gave any
SAME = 1e-3  # of the decimal logarithm of a pixel size

Sizes = tuple[tuple[float, float], tuple[float, float]]


def save_found(path: str | Path, found: "Found") -> Path:
    """Write a transform between the pixels of the finest levels.

    Parameters
    ----------
    path : str or Path
        Ending in .json, .txt or .tfm.
    found : Found
        The transform.

    Returns
    -------
    Path
        The file.
    """
    if found.outcome is not None:
        return save_transform(path, found.outcome)
    start = start_from(*found.grids)
    transform = Transform(
        matrix=found.matrix,
        fixed_shape=found.grids[0].shape,
        moving_shape=found.grids[1].shape,
        pixel_size_fixed=start.pixel_size_fixed,
        pixel_size_moving=start.pixel_size_moving,
        trusted=found.trusted,
        because=str(found.record.get("because", "")),
    )
    return save_transform(path, transform)


def misfit(transform: Transform, pair: Couple) -> str:
    """Say why a transform was made for other images, as far as its file tells.

    Parameters
    ----------
    transform : Transform
        From a file.
    pair : Couple
        The layers that it is to be used for.

    Returns
    -------
    str
        A part of a sentence; empty if nothing speaks against it.
    """
    made, start = (transform.fixed_shape, transform.moving_shape), start_from(*pair.finest)
    for role, shape, grid in zip(ROLES, made, pair.finest, strict=True):
        if shape is not None and shape != tuple(grid.shape):
            return (
                f"made for {shape[0]} x {shape[1]} pixels, the {role} layer has "
                f"{grid.shape[0]} x {grid.shape[1]}"
            )
    files = transform.pixel_size_fixed, transform.pixel_size_moving
    layers = start.pixel_size_fixed, start.pixel_size_moving
    if not start.informative or UNSAID in (files, layers) or _in_one_unit(files, layers):
        return ""
    told, here = (" and ".join(f"{h:.4g} x {w:.4g}" for h, w in sizes) for sizes in (files, layers))
    return f"made for pixels of {told} (fixed and moving), the layers have {here}"


def _in_one_unit(files: Sizes, layers: Sizes) -> bool:
    """Whether pixel sizes are the same, but for a decimal unit that a file does not name."""
    ratios = np.log10(np.divide(layers, files))
    return bool(np.ptp(ratios) < SAME and abs(ratios.mean() - round(ratios.mean())) < SAME)


def load_found(path: str | Path, pair: Couple) -> Transform:
    """Read a transform between the pixels of the finest levels.

    Parameters
    ----------
    path : str or Path
        A file that `save_found` or another program wrote.
    pair : Couple
        The layers; their pixel sizes matter to formats in physical units.

    Returns
    -------
    Transform
        Fixed pixel to moving pixel, and whether it is to be trusted.
    """
    start = start_from(*pair.finest)
    return load_transform(
        path,
        pixel_size_fixed=start.pixel_size_fixed,
        pixel_size_moving=start.pixel_size_moving,
    )
