"""Learn operators from images of any size."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from napari_cosparse.core import operators as learning
from napari_cosparse.core.operators import Learned, LearnSettings, make_settings
from napari_cosparse.core.progress import Progress, drain

from ._shared import check_keywords, facade, keywords_of

SHOWN = 5  # numbers of pairs in a warning


@facade(learning.learn_operators)
def learn_operators(
    pairs: Sequence[tuple[Any, Any]],
    *,
    report: Callable[[Progress], None] | None = None,
    **options: Any,  # noqa: ANN401 - those of learn_steps
) -> Learned:
    """Learn from images of any size; `learn_steps` has options for large ones and long runs."""
    check_keywords(
        learn_operators, options, keywords_of(learn_steps), LearnSettings.__dataclass_fields__
    )
    steps = learn_steps(pairs, **options)
    with closing(steps):  # whatever stops it, the next run finds the folder free
        learned = drain(steps, report)
    if learned.skipped:
        warnings.warn(_skipped(learned), stacklevel=2)
    return learned


def _skipped(learned: Learned) -> str:
    """Say which pairs had no say."""
    many, shown = len(learned.skipped), ", ".join(map(str, learned.skipped[:SHOWN]))
    shown += f" and {many - SHOWN} more" if many > SHOWN else ""
    return (
        f"no patch of image pair{'s' * (many > 1)} {shown} may be used (constant, unknown, or "
        "flatter than the thresholds); learned from the others"
    )


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
        Registered images of one scene: NumPy, Dask or Zarr, or lists of levels, of which the
        first, the finest, is used. Of images of more than 4 megapixels parts are read, in a random
        order of the seed, until there are patches enough; chunks do not matter. Masked pixels are
        unknown.
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
        Asked many times a second whether to stop, between two steps too, and between the chunks
        of Dask and Zarr arrays that are read; if so, the generator raises
        `napari_cosparse.tiles.Cancelled`.
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

    check_keywords(learn_steps, settings, LearnSettings.__dataclass_fields__)
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
