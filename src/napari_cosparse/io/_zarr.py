"""Zarr arrays and OME-Zarr images, opened without reading a pixel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from napari_cosparse.core.errors import InputError

ZARR = ".zarr"


@dataclass(frozen=True, eq=False)
class ZarrImage:
    """An array on disk and what its axes mean.

    Attributes
    ----------
    array : zarr.Array
        One level, not read yet.
    axes : str
        Name of each axis, such as ``tczyx``; empty if the file does not say.
    scale : tuple of float
        Size of a pixel along each axis; empty if the file does not say.
    units : tuple of str or None
        Unit of each axis; empty if the file does not say.
    position : tuple of float
        Where the first pixel's centre lies along each axis; empty if the file does not say.
    """

    array: Any
    axes: str = ""
    scale: tuple[float, ...] = ()
    units: tuple[str | None, ...] = ()
    position: tuple[float, ...] = ()


def is_zarr(path: str | Path) -> bool:
    """Whether a name is that of a Zarr store.

    Parameters
    ----------
    path : str or Path
        A name.

    Returns
    -------
    bool
        True for names that end in ``.zarr``, ``.ome.zarr`` included.
    """
    return Path(path).name.lower().endswith(ZARR)


def open_zarr(path: str | Path, level: int = 0) -> ZarrImage:
    """Open a Zarr array, or a level of a multiscale OME-Zarr image.

    Parameters
    ----------
    path : str or Path
        The store.
    level : int
        Level of a multiscale image; 0 is the finest.

    Returns
    -------
    ZarrImage

    Raises
    ------
    InputError
        If there is no such store, or no image in it.
    """
    import zarr

    path = Path(path)
    if not path.exists():
        raise InputError(f"{path}: there is no such store; check its name")
    try:
        found = zarr.open(path, mode="r")
    except Exception as error:
        raise InputError(f"{path} cannot be opened as Zarr ({error})") from error
    if isinstance(found, zarr.Array):
        return ZarrImage(found)
    attributes = dict(found.attrs)
    ome = attributes.get("ome", attributes)
    scales = ome.get("multiscales") if isinstance(ome, dict) else None
    if not scales:
        inside = ", ".join(found.array_keys()) or "nothing"
        raise InputError(
            f"{path} is a Zarr group without an OME-Zarr image; give an array in it ({inside})"
        )
    return _level(path, found, scales[0], level)


def _level(path: Path, group: Any, image: dict[str, Any], level: int) -> ZarrImage:  # noqa: ANN401
    levels = image["datasets"]
    if not 0 <= level < len(levels):
        raise InputError(f"{path} has no level {level}; choose one of 0 to {len(levels) - 1}")
    axes = image.get("axes", [])
    names = [axis["name"] if isinstance(axis, dict) else axis for axis in axes]
    moves = levels[level].get("coordinateTransformations", [])
    scale, position = (
        next((tuple(map(float, m[kind])) for m in moves if m.get("type") == kind), ())
        for kind in ("scale", "translation")
    )
    units = tuple(axis.get("unit") if isinstance(axis, dict) else None for axis in axes)
    return ZarrImage(group[levels[level]["path"]], "".join(names), scale, units, position)
