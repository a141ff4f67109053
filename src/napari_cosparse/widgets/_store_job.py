"""Upsample into a Zarr store: results beyond the memory, or to be kept."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from napari_cosparse import api
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.layers import Destination, store_place
from napari_cosparse.tiles import Stored

from ._configure import memory_bytes, preference
from ._job import Pair
from ._runner import Steps
from ._text import blank_text

ARRAYS = ("weights", "start")  # settings that the panel never sets


def storing(
    pair: Pair,
    operators: str | Path | OperatorPair,
    settings: Settings,
    path: str,
    *,
    where: Destination,
    overwrite: bool = False,
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
    where : Destination
        Where the result lies.
    overwrite : bool
        Whether a store that is there, or what another run left, is replaced.
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
            overwrite=overwrite,
            cancelled=cancelled,
            **store_place(where),
            **keywords,
        )

    return steps


def stored_text(stored: Stored) -> str:
    """Say how a run into a store ended.

    Parameters
    ----------
    stored : Stored
        What the core returned.

    Returns
    -------
    str
        Two sentences, or three.
    """
    apart = f"; blocks differ by at most {stored.disagreement[1]:.3g}" if stored.compared else ""
    again = f" ({stored.resumed} of them from an earlier run)" if stored.resumed else ""
    told = (
        f"Done: {stored.blocks} block{'s' * (stored.blocks != 1)}{again} in {stored.path}. "
        f"Misfit to the target at most {stored.misfit:.3g}{apart}."
    )
    unknown = ""
    if stored.blank_blocks:
        unknown = f"Blocks without a known sample, which stay unknown: {stored.blank_blocks}."
    return " ".join(filter(None, (told, blank_text(stored.blank), unknown)))
