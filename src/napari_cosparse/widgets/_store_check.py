"""Whether a result can be written to a store, and what to do if its name is taken."""

import os
import re
from itertools import count
from pathlib import Path

from napari.layers import Layer

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import METADATA_KEY, MULTISCALE_FROM, Grid, is_straight, match_stacks

from ._job import Pair

ENDING, OME, PARTIAL = ".zarr", ".ome.zarr", ".partial"
MARKS = ("zarr.json", ".zarray", ".zgroup")
REPLACE = "Replace what is there"  # text of the row
UNFINISHED = (
    "An interrupted run lies beside the store: the same run goes on from there. One of other "
    f"layers or settings is refused, unless {REPLACE!r} is ticked."
)


def check_store(pair: Pair, path: str, *, overwrite: bool) -> None:
    """Refuse what cannot be written to a store.

    Parameters
    ----------
    pair : Pair
        The layers.
    path : str
        Where the store is to be.
    overwrite : bool
        Whether a store that is there may be replaced.

    Raises
    ------
    InputError
        The message says why, and what to do.
    """
    _check_place(Path(path), overwrite=overwrite)
    for layer in (pair.target, pair.guide):
        if _meet(Path(path), _folder_of(layer)):
            raise InputError(
                f"{path} holds the layer {layer.name!r}; choose another name for the store."
            )
    target, guide = pair.sources()
    stack = match_stacks(target, guide)
    if stack.shape != target.leading or guide.leading not in ((), target.leading):
        raise InputError(
            "Into a store, target and guide need the same planes, or the guide just one; they "
            f"have {target.leading} and {guide.leading}."
        )
    if guide.leading and stack.first != stack.second:
        raise InputError(
            f"Into a store, the axes of target and guide need one order; {guide.name!r} has "
            f"{guide.axis_labels}, {target.name!r} {target.axis_labels}: transpose one of them, or "
            "choose Result in: memory."
        )


def _check_place(path: Path, *, overwrite: bool) -> None:
    """Refuse a name that is taken, is no store's, or lies where nothing can be written."""
    if not path.name.lower().endswith(ENDING):
        raise InputError(
            f"{path} must end in .ome.zarr (with coarser levels) or in .zarr (one array); call it "
            f"{path.name or 'result'}.ome.zarr."
        )
    if path.exists() and not (overwrite and is_store(path)):
        replace = f", or tick {REPLACE!r}" if is_store(path) else ""
        raise InputError(
            f"{path} exists already. To run again, choose another name in the row Store, such as "
            f"{Path(free_path(path)).name}{replace}."
        )
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; choose another store.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(
            f"{path} cannot be made: {folder} cannot be written to; choose another store."
        )


def is_store(path: Path) -> bool:
    """Whether a folder is a Zarr store, and so may be replaced by another one.

    Parameters
    ----------
    path : Path
        Any path.

    Returns
    -------
    bool
        False for a link to a store, too.
    """
    return not path.is_symlink() and any((path / name).is_file() for name in MARKS)


def unfinished(path: str | Path) -> bool:
    """Whether a run into a store was interrupted and can be continued.

    Parameters
    ----------
    path : str or Path
        The store.

    Returns
    -------
    bool
    """
    return bool(str(path)) and Path(f"{path}{PARTIAL}").is_dir()


def store_remarks(path: str, grid: Grid) -> str:
    """Say what is good to know of a store that can be written.

    Parameters
    ----------
    path : str
        The store; empty for none.
    grid : Grid
        Of the result.

    Returns
    -------
    str
        Sentences; empty as a rule.
    """
    told = [UNFINISHED] if unfinished(path) else []
    if path.lower().endswith(OME) and not is_straight(grid.matrix[:2, :2]):
        told.append(
            "The store keeps the pixel size. OME-Zarr cannot say how the guide is turned, sheared "
            "or mirrored, nor where the result lies then: only the layer knows."
        )
    if path and not path.lower().endswith(OME) and max(grid.shape) > MULTISCALE_FROM:
        told.append(
            "The store will have no coarser levels, so napari reads all of a plane to show it: end "
            "the name in .ome.zarr."
        )
    return " ".join(told)


def free_path(path: str | Path) -> str:
    """Find a name like a given one that nothing has.

    Parameters
    ----------
    path : str or Path
        A store.

    Returns
    -------
    str
        The path itself where it is free; else with a number before its ending.
    """
    given = Path(path)
    stem, ending = given.name, ""
    for known in (OME, ENDING):
        if given.name.lower().endswith(known):
            stem, ending = given.name[: -len(known)], given.name[-len(known) :]
            break
    stem = re.sub(r"-\d+$", "", stem) or stem
    for number in count(1):
        name = given.name if number == 1 else f"{stem}-{number}{ending}"
        found = given.with_name(name)
        if not found.exists():
            return str(found)
    raise AssertionError  # pragma: no cover


def _meet(path: Path, other: Path | None) -> bool:
    """Whether two paths are one, or one lies in the other."""
    if other is None:
        return False
    ours, theirs = path.absolute(), other.absolute()
    return ours == theirs or ours in theirs.parents or theirs in ours.parents


def _folder_of(layer: Layer) -> Path | None:
    """Store that a layer shows, if it says so."""
    record = layer.metadata.get(METADATA_KEY)
    told = record.get("store") if isinstance(record, dict) else None
    path = told or layer.source.path
    return None if path is None else Path(str(path))
