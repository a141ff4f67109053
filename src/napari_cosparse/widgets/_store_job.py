"""Upsample into a Zarr store: results beyond the memory, or to be kept."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from napari_cosparse import api
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.layers import (
    METADATA_KEY,
    Destination,
    LayerData,
    limits_of,
    make_record,
    match_stacks,
)
from napari_cosparse.tiles import Stored, open_levels

from ._configure import memory_bytes, preference
from ._job import Pair
from ._runner import Steps

ARRAYS = ("weights", "start")  # settings that the panel never sets


def check_store(pair: Pair, path: str) -> None:
    """Refuse what cannot be written to a store.

    Parameters
    ----------
    pair : Pair
        The layers.
    path : str
        Where the store is to be.

    Raises
    ------
    InputError
        The message says why.
    """
    if Path(path).exists():
        raise InputError(f"{path} exists already; choose another name for the store.")
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; choose another store.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(
            f"{path} cannot be made: {folder} cannot be written to; choose another store."
        )
    target, guide = pair.sources()
    stack = match_stacks(target, guide)
    if stack.shape != target.leading or guide.leading not in ((), target.leading):
        raise InputError(
            "Into a store, target and guide need the same planes, or the guide just one; they "
            f"have {target.leading} and {guide.leading}."
        )


def storing(
    pair: Pair,
    operators: str | Path | OperatorPair,
    settings: Settings,
    path: str,
    cancelled: Callable[[], bool] | None = None,
) -> Steps:
    """Prepare a run in blocks, within the memory of the preferences.

    Parameters
    ----------
    pair : Pair
        The layers.
    operators : str, Path or OperatorPair
        Name of a shipped operator pair, a file, or a pair.
    settings : Settings
        As `placed` completes them.
    path : str
        The store.
    cancelled : callable, optional
        Asked whether to stop.

    Returns
    -------
    callable
        Makes the generator of `Progress` that returns `Stored`.
    """
    target, guide = pair.sources()
    keywords = {
        name: getattr(settings, name)
        for name in settings.__dataclass_fields__
        if name not in ARRAYS
    }
    threads = 1 if preference("scheduler") == "synchronous" else None

    def steps() -> Any:  # noqa: ANN401 a generator of Progress
        return api.upsample_to_store_steps(
            target.gray,
            guide.pixels,
            path,
            operators,
            memory=int(memory_bytes()),
            threads=threads,
            colour=(False, guide.rgb),
            cancelled=cancelled,
            **keywords,
        )

    return steps


def stored_layer(stored: Stored, where: Destination) -> LayerData:
    """Show a store, without reading more of it than its coarsest level.

    Parameters
    ----------
    stored : Stored
        What the core returned.
    where : Destination
        What `destination` noted before the run.

    Returns
    -------
    tuple of (zarr array or list, dict, str)
        Layer data on the guide's grid.
    """
    levels = open_levels(stored.path)
    looks = where.looks or {"contrast_limits": limits_of(np.asarray(levels[-1]))}
    record = make_record(
        "upsample",
        stored.parameters,
        where.inputs,
        store=str(stored.path),
        blocks=stored.blocks,
        misfit=float(stored.misfit),
        disagreement=list(stored.disagreement),
    )
    many = len(levels) > 1
    state = {
        "name": where.name,
        "rgb": False,
        "multiscale": many,
        **where.placement,
        **looks,
        "metadata": {METADATA_KEY: record},
    }
    return levels if many else levels[0], state, "image"


def stored_text(stored: Stored) -> str:
    """Say how a run into a store ended.

    Parameters
    ----------
    stored : Stored
        What the core returned.

    Returns
    -------
    str
        Two sentences.
    """
    apart = f"; blocks differ by at most {stored.disagreement[1]:.3g}" if stored.blocks > 1 else ""
    return (
        f"Done: {stored.blocks} block{'s' * (stored.blocks != 1)} in {stored.path}. "
        f"Misfit to the target at most {stored.misfit:.3g}{apart}."
    )
