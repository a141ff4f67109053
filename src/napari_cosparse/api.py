"""The functions of the package for Python, the command line and the widgets.

They add two things to those of the core: operators may be given by name or file, and the work
runs in dask's threads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from napari_cosparse.core import operators as learning
from napari_cosparse.core import reconstruction, registration
from napari_cosparse.core.operators import (
    AtomGroup,
    Learned,
    OperatorPair,
    make_settings,
)
from napari_cosparse.core.progress import Progress, drain
from napari_cosparse.core.reconstruction import (
    Alignment,
    Settings,
    Upsampled,
    check_alignment,
    check_target,
    degrade,
)
from napari_cosparse.core.registration import (
    Extent,
    RegisterSettings,
    Registration,
    apply_to_labels,
    apply_to_points,
    apply_to_shapes,
    apply_transform,
    moving_extent,
)
from napari_cosparse.io import (
    Transform,
    load_operators,
    load_transform,
    make_scene,
    save_operators,
    save_transform,
    shipped_operators,
)

if TYPE_CHECKING:
    from napari_cosparse.tiles import Stored

DEFAULT_OPERATORS = "intensity-depth"
REGISTER_OPERATORS = "intensity-nir"

__all__ = [
    "Alignment",
    "AtomGroup",
    "Extent",
    "Learned",
    "OperatorPair",
    "Registration",
    "Transform",
    "Upsampled",
    "apply_to_labels",
    "apply_to_points",
    "apply_to_shapes",
    "apply_transform",
    "check_alignment",
    "check_target",
    "degrade",
    "learn_operators",
    "learn_steps",
    "load_operators",
    "load_transform",
    "make_scene",
    "moving_extent",
    "register",
    "register_steps",
    "save_operators",
    "save_transform",
    "shipped_operators",
    "upsample",
    "upsample_steps",
    "upsample_to_store",
    "upsample_to_store_steps",
]


@wraps(learning.learn_operators)
def learn_operators(
    pairs: Sequence[tuple[Any, Any]],
    *,
    report: Callable[[Progress], None] | None = None,
    **options: Any,  # noqa: ANN401 - those of learn_steps
) -> Learned:
    """Learn from images of any size; `learn_steps` has options for large ones and long runs."""
    return drain(learn_steps(pairs, **options), report)


def learn_steps(
    pairs: Sequence[tuple[Any, Any]],
    *,
    memory: int | str | None = None,
    scheduler: Any = None,  # noqa: ANN401 - a name, an address or a client
    threads: int | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = True,
    overwrite: bool = False,
    cancelled: Callable[[], bool] | None = None,
    **settings: Any,  # noqa: ANN401 - the keywords of learn_operators, and block
) -> Generator[Progress, None, Learned]:
    """Learn step by step: for progress bars, cancel buttons, large images and long runs.

    Wrong input is refused at once, before the first step.

    Parameters
    ----------
    pairs : sequence of (u, v), arrays of shape (H, W) or (H, W, 3 or 4)
        Registered images of one scene: NumPy, Dask or Zarr. Of images of more than 4 megapixels
        parts are read, in a random order of the seed, until there are patches enough; chunks do
        not matter.
    memory : int or str, optional
        Bytes, or such as "1GB", that the sample and reading the images may take; the free memory
        if None. A run that needs more is refused.
    scheduler : {"threads", "processes"}, str or distributed.Client, optional
        Who looks for patches and reads them: this process, several ones, or the workers of a
        cluster, by the address of its scheduler (tcp://...). If None, the active client of
        dask.distributed if there is one, else threads. Images that are not Zarr arrays on disk are
        read by this process.
    threads : int, optional
        Number of threads or processes that read; all cores if None.
    checkpoint : str or Path, optional
        Folder in which a run of more than two seconds is kept until it is finished, so that the
        same call continues it and gives the same pair, bit for bit.
    resume : bool
        Continue the unfinished run in that folder.
    overwrite : bool
        Delete what another run left there.
    cancelled : callable, optional
        Asked many times a second whether to stop, between two steps too; if so, the generator
        raises `napari_cosparse.tiles.Cancelled`.
    **settings
        Keywords of `learn_operators`, and ``block``: side of the parts of large images that are
        read, in pixels (256). Another one makes another sample.

    Returns
    -------
    generator
        Yields `Progress` and returns `Learned`.

    Raises
    ------
    InputError
        If an image or setting breaks a rule; at the call.
    """
    from napari_cosparse.tiles import learning_steps

    return learning_steps(
        pairs,
        make_settings(**settings),
        memory=memory,
        scheduler=scheduler,
        threads=threads,
        checkpoint=checkpoint,
        resume=resume,
        overwrite=overwrite,
        cancelled=cancelled,
    )


@wraps(reconstruction.upsample)
def upsample(
    target: ArrayLike,
    guide: ArrayLike,
    operators: OperatorPair | str | Path = DEFAULT_OPERATORS,
    *,
    threads: int | None = None,
    report: Callable[[Progress], None] | None = None,
    **settings: Any,  # noqa: ANN401 - the keywords that the core declares
) -> Upsampled:
    """Upsample with shipped, saved or learned operators, in dask's threads."""
    pair, map_ = load_operators(operators), _threads(threads)
    images = _gather(target), _gather(guide)
    return reconstruction.upsample(*images, pair, map_=map_, report=report, **settings)


def upsample_steps(
    target: ArrayLike,
    guide: ArrayLike,
    operators: OperatorPair | str | Path = DEFAULT_OPERATORS,
    *,
    threads: int | None = None,
    cancelled: Callable[[], bool] | None = None,
    **settings: Any,  # noqa: ANN401 - the keywords that the core declares
) -> Generator[Progress, None, Upsampled]:
    """Upsample step by step: for progress bars and cancel buttons.

    Parameters
    ----------
    target, guide : array_like
        As for `upsample`.
    operators : OperatorPair, str or Path
        A pair, the name of a shipped one, or a file.
    threads : int, optional
        Number of threads; all cores if None.
    cancelled : callable, optional
        Asked many times a second whether to stop, between two steps too; if so, the generator
        raises `napari_cosparse.tiles.Cancelled`.
    **settings
        Keywords of `upsample`.

    Returns
    -------
    generator
        Yields `Progress` and returns `Upsampled`.

    Raises
    ------
    InputError
        If an input or setting breaks a rule; at the call.
    """
    images, pair = (_gather(target), _gather(guide)), load_operators(operators)
    return reconstruction.upsample_steps(
        *images, pair, Settings(**settings), map_=_threads(threads, cancelled)
    )


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
    is complete.

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
    return drain(upsample_to_store_steps(target, guide, output, operators, **options), report)


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
    colour: tuple[Any, Any] = (False, None),
    level: tuple[int, int] = (0, 0),
    axes: str | None = None,
    pixel_size: Sequence[float] | None = None,
    units: Sequence[str | None] | None = None,
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
        Continue an unfinished run of the same job.
    colour : tuple of bool, "first" or None
        Whether the last axis of target and guide holds channels, or the one before the rows
        ("first"); None: the last one, if it has length 3 or 4. Channels of a target are
        upsampled one by one.
    level : tuple of int
        Level of a multiscale target and guide.
    axes : str, optional
        Names of the target's axes for OME-Zarr; the last ones of tczyx if None.
    pixel_size, units : sequence, optional
        Size of a pixel of the result along each of these axes, and units, for OME-Zarr.
    cancelled : callable, optional
        Asked many times a second whether to stop, between two steps too; if so, the generator
        raises `napari_cosparse.tiles.Cancelled`. What was finished stays, as always.
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
        cancelled=cancelled,
    )


@wraps(registration.register)
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
    pair, map_ = load_operators(operators), _threads(threads)
    return registration.register(fixed, moving, pair, map_=map_, report=report, **settings)


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
        Asked many times a second whether to stop, between two steps too; if so, the generator
        raises `napari_cosparse.tiles.Cancelled`.
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
    return registration.register_steps(
        fixed,
        moving,
        load_operators(operators),
        RegisterSettings(**settings),
        map_=_threads(threads, cancelled),
    )


def _gather(image: Any) -> Any:  # noqa: ANN401 - array-likes
    """Read Dask and Zarr arrays chunk by chunk; NumPy needs no dask."""
    if isinstance(image, np.ndarray) or not hasattr(image, "chunks"):
        return image
    from napari_cosparse.tiles import gather

    return gather(image)


def _threads(threads: int | None, cancelled: Callable[[], bool] | None = None) -> Any:  # noqa: ANN401 - a generic callable protocol
    """Import dask only when something runs."""
    from napari_cosparse.tiles import threaded_map

    return threaded_map(threads, cancelled)
