"""Upsample images of any size into a Zarr store."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress, drain
from napari_cosparse.core.reconstruction import Settings
from napari_cosparse.io import load_operators

from ._shared import DEFAULT_OPERATORS, check_keywords, check_transform, keywords_of

if TYPE_CHECKING:
    from napari_cosparse.tiles import Stored


def upsample_to_store(
    target: Any,  # noqa: ANN401 - array-likes
    guide: Any,  # noqa: ANN401
    output: str | Path,
    operators: OperatorPair | str | Path = DEFAULT_OPERATORS,
    *,
    report: Callable[[Progress], None] | None = None,
    **options: Any,  # noqa: ANN401 - those of upsample_to_store_steps
) -> Stored:
    """Upsample images of any size into a Zarr store, in blocks and bounded memory.

    An interrupted run (killed, cancelled, disk full) leaves a folder ``OUTPUT.partial`` beside the
    output; the same call continues it and gives the identical result. The output appears when it
    is complete; the same call then finds it and leaves it as it is.

    Parameters
    ----------
    target, guide : array_like
        As for `upsample_to_store_steps`.
    output : str or Path
        Zarr array to write, or a multiscale OME-Zarr image if it ends in ``.ome.zarr``.
    operators : OperatorPair, str or Path
        A pair, the name of a shipped one, or a file.
    report : callable, optional
        Called with each `Progress`.
    **options
        Keywords of `upsample_to_store_steps`.

    Returns
    -------
    Stored
        Where the result is and how it came about.

    Raises
    ------
    InputError
        If an input or setting breaks a rule, or the output belongs to something else.
    OSError
        If a part cannot be read or written, with its place; what was finished stays.
    """
    check_keywords(
        upsample_to_store,
        options,
        keywords_of(upsample_to_store_steps),
        Settings.__dataclass_fields__,
    )
    steps = upsample_to_store_steps(target, guide, output, operators, **options)
    with closing(steps):  # whatever stops it, the next run finds the folder free
        return drain(steps, report)


def upsample_to_store_steps(
    target: Any,  # noqa: ANN401 - array-likes
    guide: Any,  # noqa: ANN401
    output: str | Path,
    operators: OperatorPair | str | Path = DEFAULT_OPERATORS,
    *,
    memory: int | str | None = None,
    block: int | None = None,
    scheduler: Any = None,  # noqa: ANN401 - a name, an address or a client
    threads: int | None = None,
    overwrite: bool = False,
    resume: bool = True,
    colour: tuple[Any, Any] = (None, None),
    level: tuple[int, int] = (0, 0),
    axes: str | None = None,
    pixel_size: Sequence[float] | None = None,
    units: Sequence[str | None] | None = None,
    position: Sequence[float] | None = None,
    cancelled: Callable[[], bool] | None = None,
    **settings: Any,  # noqa: ANN401 - the keywords of upsample
) -> Generator[Progress, None, Stored]:
    """Upsample into a Zarr store step by step: for progress bars and cancel buttons.

    Parameters
    ----------
    target : array_like, shape (..., m1, m2) or (..., m1, m2, channels)
        NumPy, Dask or Zarr array, or a list of levels, the finest first. Leading axes are worked
        plane by plane.
    guide : array_like, shape (..., N1, N2) or (..., N1, N2, channels)
        One guide for all planes, or one for each.
    output : str or Path
        Zarr array to write, or a multiscale OME-Zarr image if it ends in ``.ome.zarr``.
    operators : OperatorPair, str or Path
        A pair, the name of a shipped one, or a file.
    memory : int or str, optional
        Budget in bytes, or such as "1GB"; half of the free memory if None. Larger planes are cut
        into blocks.
    block : int, optional
        Side of the blocks, in pixels, instead of the largest ones within the budget.
    scheduler : {"threads", "processes"}, str or distributed.Client, optional
        Who solves the blocks: this process, several ones, or the workers of a cluster, by the
        address of its scheduler (tcp://...). If None, the active client of dask.distributed if
        there is one, else threads.
    threads : int, optional
        Number of threads or processes; all cores if None.
    overwrite : bool
        Replace the output, and what another job left beside it.
    resume : bool
        Continue an unfinished run of the same job; an output that is complete and of the same job
        is left as it is (`Stored.found`), unless it is to be replaced.
    colour : tuple of bool, "first" or None
        Whether the last axis of target and guide holds channels, or the one before the rows
        ("first"). If None, the last one does if it has length 3 or 4; that of a target, unless
        its planes are as narrow: where both make sense of the sizes, it must be said. Channels of
        a target are upsampled one by one.
    level : tuple of int
        Level of a multiscale target and guide; 0 is the finest.
    axes : str, optional
        Names of the target's axes for OME-Zarr; the last ones of tczyx if None, and c for colours.
    pixel_size, units : sequence, optional
        Size of a pixel of the result along each of these axes, and units, for OME-Zarr; or two,
        for rows and columns.
    position : sequence of float, optional
        Where the centre of the result's first pixel lies along each of these axes, or along rows
        and columns, in these units, for OME-Zarr; 0 if None.
    cancelled : callable, optional
        Asked many times a second whether to stop, between two steps too, and between the chunks
        of Dask and Zarr arrays that are read; if so, the generator raises
        `napari_cosparse.tiles.Cancelled`. What was finished stays, as always.
    **settings
        Keywords of `upsample`.

    Returns
    -------
    generator
        Yields `Progress` and returns `Stored`.

    Raises
    ------
    InputError
        If an input or setting breaks a rule; most at the call.
    """
    from napari_cosparse.tiles import store_steps

    check_keywords(upsample_to_store_steps, settings, Settings.__dataclass_fields__)
    check_transform(settings.get("transform"))
    return store_steps(
        target,
        guide,
        load_operators(operators),
        output,
        Settings(**settings),
        memory=memory,
        block=block,
        scheduler=scheduler,
        threads=threads,
        overwrite=overwrite,
        resume=resume,
        colour=colour,
        level=level,
        axes=axes,
        pixel_size=pixel_size,
        units=units,
        position=position,
        cancelled=cancelled,
        beside=(settings.get("weights"), settings.get("transform"), operators),
    )
