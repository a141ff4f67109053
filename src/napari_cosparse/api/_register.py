"""Register images, in dask's threads."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from napari_cosparse.core import registration
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.registration import RegisterSettings, Registration
from napari_cosparse.io import load_operators

from ._shared import REGISTER_OPERATORS, check_keywords, facade, in_threads


@facade(registration.register)
def register(
    fixed: Any,  # noqa: ANN401 - anything like an array
    moving: Any,  # noqa: ANN401
    operators: OperatorPair | str | Path = REGISTER_OPERATORS,
    *,
    threads: int | None = None,
    report: Callable[[Progress], None] | None = None,
    **settings: Any,  # noqa: ANN401 - the keywords that the core declares
) -> Registration:
    """Register with shipped, saved or learned operators, in dask's threads."""
    check_keywords(register, settings, RegisterSettings.__dataclass_fields__)
    pair, map_ = load_operators(operators), in_threads(threads)
    images = _read_as(fixed, moving, settings, None)
    return registration.register(*images, pair, map_=map_, report=report, **settings)


def register_steps(
    fixed: Any,  # noqa: ANN401 - anything like an array
    moving: Any,  # noqa: ANN401
    operators: OperatorPair | str | Path = REGISTER_OPERATORS,
    *,
    threads: int | None = None,
    cancelled: Callable[[], bool] | None = None,
    **settings: Any,  # noqa: ANN401 - the keywords that the core declares
) -> Generator[Progress, None, Registration]:
    """Register step by step: for progress bars and cancel buttons.

    Parameters
    ----------
    fixed, moving : array_like
        As for `register`.
    operators : OperatorPair, str or Path
        A pair, the name of a shipped one, or a file.
    threads : int, optional
        Number of threads; all cores if None.
    cancelled : callable, optional
        Asked many times a second whether to stop, between two steps too, and between the chunks
        of Dask and Zarr arrays that are read; if so, the call or the generator raises
        `napari_cosparse.tiles.Cancelled`.
    **settings
        Keywords of `register`.

    Returns
    -------
    generator
        Yields `Progress` and returns `Registration`.

    Raises
    ------
    InputError
        If an input or setting breaks a rule; at the call.
    """
    check_keywords(register_steps, settings, RegisterSettings.__dataclass_fields__)
    images = _read_as(fixed, moving, settings, cancelled)
    return registration.register_steps(
        *images,
        load_operators(operators),
        RegisterSettings(**settings),
        map_=in_threads(threads, cancelled),
    )


def _read_as(
    fixed: Any,  # noqa: ANN401 - anything like an array
    moving: Any,  # noqa: ANN401
    settings: dict[str, Any],
    cancelled: Callable[[], bool] | None,
) -> tuple[Any, Any]:
    """Give images and masks in chunks names for their errors, and let reading them be stopped.

    A region is cut out without being read.
    """
    from napari_cosparse.tiles import as_plane

    part = settings.get("region") is not None
    for name, uncut in (("mask_fixed", part), ("mask_moving", False)):
        if hasattr(settings.get(name), "chunks"):
            settings[name] = as_plane(settings[name], name, cancelled, uncut=uncut)
    return as_plane(fixed, "fixed", cancelled, uncut=part), as_plane(moving, "moving", cancelled)
