"""Transforms to and from files."""

from pathlib import Path
from typing import TYPE_CHECKING

from napari_cosparse.io import Transform, load_transform, save_transform
from napari_cosparse.layers import start_from

from ._couple import Couple

if TYPE_CHECKING:
    from ._register_found import Found


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
