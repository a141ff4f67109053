"""Zarr arrays and OME-Zarr images, opened without reading a pixel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import add, mul
from pathlib import Path
from typing import Any

from napari_cosparse.core.errors import InputError

from ._read_image import ENDINGS

ZARR = ".zarr"
NODES = ("zarr.json", ".zarray", ".zgroup")  # a folder with one of them is an array or a group


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


def in_zarr(path: str | Path) -> bool:
    """Whether an input is a Zarr store, or an array or group in one.

    Parameters
    ----------
    path : str or Path
        Such as ``image.ome.zarr`` or ``image.ome.zarr/1``.

    Returns
    -------
    bool
        False for image files, wherever they lie.
    """
    path = Path(path)
    if is_zarr(path) or _is_node(path):
        return True
    inside = any(is_zarr(parent) for parent in path.parents)
    return inside and not path.is_file() and path.suffix.lower() not in ENDINGS


def _is_node(path: Path) -> bool:
    return any((path / name).is_file() for name in NODES)


def open_zarr(path: str | Path, level: int = 0) -> ZarrImage:
    """Open a Zarr array, or a level of a multiscale OME-Zarr image.

    Parameters
    ----------
    path : str or Path
        The store, or an array or image in it: ``image.ome.zarr/1`` is a level, with its axes.
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
        raise InputError(f"{path}: there is no such store{_said(path)}; check its name")
    try:
        found = zarr.open(path, mode="r")
    except Exception as error:
        raise InputError(f"{path} cannot be opened as Zarr ({error})") from error
    if isinstance(found, zarr.Array):
        return _as_level(path, found)
    image = _multiscale(found)
    if image is None:
        raise InputError(f"{path} is a Zarr group without an OME-Zarr image; {_way(path, found)}")
    levels = image["datasets"]
    if not 0 <= level < len(levels):
        raise InputError(f"{path} has no level {level}; choose one of 0 to {len(levels) - 1}")
    return _described(found[levels[level]["path"]], image, levels[level])


def _said(path: Path) -> str:
    """Say what the store around a path holds, if there is one."""
    import zarr

    if not _is_node(path.parent):
        return ""
    around = zarr.open(path.parent, mode="r")
    if isinstance(around, zarr.Array):
        return f" ({path.parent} is an array)"
    return f" ({path.parent} holds {', '.join(sorted(around.keys())) or 'nothing'})"


def _way(path: Path, group: Any) -> str:  # noqa: ANN401 - zarr.Group
    """Say what to give instead of a group."""
    inside = sorted(group.keys())
    if not inside:
        return "it is empty"
    more = f" (it holds {', '.join(inside)})" if len(inside) > 1 else ""
    return f"give what is in it, such as {path / inside[0]}{more}"


def _multiscale(group: Any) -> dict[str, Any] | None:  # noqa: ANN401 - zarr.Group
    """Metadata of the first image of a group; None if it has none."""
    attributes = dict(group.attrs)
    ome = attributes.get("ome", attributes)
    scales = ome.get("multiscales") if isinstance(ome, dict) else None
    return scales[0] if scales else None


def _as_level(path: Path, array: Any) -> ZarrImage:  # noqa: ANN401 - zarr.Array
    """Look around an array for the image of which it is a level."""
    import zarr

    full = path.absolute()
    for parent in full.parents:
        if not _is_node(parent):
            break
        group = zarr.open(parent, mode="r")
        image = None if isinstance(group, zarr.Array) else _multiscale(group)
        for level in [] if image is None else image["datasets"]:
            if image is not None and parent / level["path"] == full:
                return _described(array, image, level)
    return ZarrImage(array)


def _described(array: Any, image: dict[str, Any], level: dict[str, Any]) -> ZarrImage:  # noqa: ANN401
    """Give a level its axes and place: its own transforms, then those of all levels."""
    axes = image.get("axes", [])
    names = [axis["name"] if isinstance(axis, dict) else axis for axis in axes]
    units = tuple(axis.get("unit") if isinstance(axis, dict) else None for axis in axes)
    scale: tuple[float, ...] = ()
    position: tuple[float, ...] = ()
    for step in (s for part in (level, image) for s in part.get("coordinateTransformations") or ()):
        if "scale" in step:
            numbers = tuple(map(float, step["scale"]))
            scale = _each(mul, scale, numbers)
            position = tuple(map(mul, position, numbers))
        elif "translation" in step:
            position = _each(add, position, tuple(map(float, step["translation"])))
    return ZarrImage(array, "".join(names), scale, units, position)


def _each(
    combine: Callable[[float, float], float], old: tuple[float, ...], new: tuple[float, ...]
) -> tuple[float, ...]:
    """Combine numbers axis by axis; what was not said yet is what comes now."""
    return tuple(map(combine, old, new)) if old else new
