"""Where an upsampled result goes: into memory, or into a Zarr store if it needs too much."""

import os
from dataclasses import dataclass
from itertools import count
from math import prod
from pathlib import Path

import numpy as np

from napari_cosparse.core.errors import InputError
from napari_cosparse.layers import match_stacks
from napari_cosparse.tiles import default_threads, estimate_bytes, free_memory

from ._configure import GIB, memory_bytes, threads
from ._job import Pair

RESULT_BYTES = 4  # float32
ENDING = ".ome.zarr"


@dataclass(frozen=True)
class Output:
    """Where the result goes.

    Attributes
    ----------
    store : bool
        Whether it is written to a Zarr store.
    reason : str
        Why it is not as small results are; empty if there is nothing to say.
    """

    store: bool
    reason: str = ""


def memory_needed(pair: Pair) -> int:
    """Estimate what a run in memory takes, all planes of its result included.

    Parameters
    ----------
    pair : Pair
        The layers.

    Returns
    -------
    int
        Bytes.
    """
    target, guide = pair.sources()
    pixels, planes = prod(pair.guide_grid.shape), match_stacks(target, guide).planes
    colours = guide.pixels.shape[-1] if guide.rgb else 1
    return RESULT_BYTES * pixels * (planes - 1) + estimate_bytes(
        pair.guide_grid.shape,
        colours * np.dtype(guide.pixels.dtype).itemsize,
        np.dtype(target.pixels.dtype).itemsize * prod(pair.target_grid.shape) / pixels,
        threads() or default_threads(),
    )


def choose_output(pair: Pair, wish: str) -> Output:
    """Choose by the memory that a run needs; a wish of the user wins.

    Parameters
    ----------
    pair : Pair
        The layers.
    wish : {"auto", "memory", "store"}
        What the user has chosen.

    Returns
    -------
    Output
        Where the result goes, and why.

    Raises
    ------
    InputError
        It is to stay in memory, and there is not so much.
    """
    needed, allowed = memory_needed(pair), memory_bytes()
    if needed <= allowed or wish == "store":
        return Output(store=wish == "store")
    told = f"It needs about {needed / GIB:.1f} GiB, more than the {allowed / GIB:.3g} GiB of the"
    if wish == "auto":
        return Output(
            store=True, reason=f"{told} preferences: written to a Zarr store, block by block."
        )
    free = free_memory()
    if needed > free:
        rows, columns = pair.guide_grid.shape
        raise InputError(
            f"A guide of {rows} x {columns} pixels needs about {needed / GIB:.1f} GiB, and "
            f"{free / GIB:.1f} GiB are free: write the result to a Zarr store, or choose a coarser "
            "level of the guide."
        )
    return Output(store=False, reason=f"{told} preferences, in memory as you wish.")


def propose_store(pair: Pair) -> str:
    """Propose a path that is not taken: beside the target's or the guide's file, or at home.

    Parameters
    ----------
    pair : Pair
        The layers.

    Returns
    -------
    str
        Ending in .ome.zarr.
    """
    files = [layer.source.path for layer in (pair.target, pair.guide) if layer.source.path]
    folders = [*(Path(str(file)).absolute().parent for file in files), Path.home()]
    usable = [folder for folder in folders if folder.is_dir() and os.access(folder, os.W_OK)]
    stem = "".join(c if c.isalnum() or c in "-_." else "-" for c in pair.target.name).strip("-.")
    for number in count(1):
        again = "" if number == 1 else f"-{number}"
        path = (usable or folders)[0] / f"{stem or 'target'}-upsampled{again}{ENDING}"
        if not path.exists():
            return str(path)
    raise AssertionError  # pragma: no cover
