"""Upsample images in memory, in dask's threads."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from napari_cosparse.core import reconstruction
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import Settings, Upsampled
from napari_cosparse.io import load_operators

from ._shared import DEFAULT_OPERATORS, check_keywords, check_transform, facade, in_threads


@facade(reconstruction.upsample)
def upsample(
    target: ArrayLike,
    guide: ArrayLike,
    operators: OperatorPair | str | Path = DEFAULT_OPERATORS,
    *,
    level: tuple[int, int] = (0, 0),
    threads: int | None = None,
    report: Callable[[Progress], None] | None = None,
    **settings: Any,  # noqa: ANN401 - the keywords that the core declares
) -> Upsampled:
    """Upsample with shipped, saved or learned operators, in dask's threads."""
    check_keywords(upsample, settings, Settings.__dataclass_fields__)
    pair, map_ = load_operators(operators), in_threads(threads)
    images = _gathered(target, guide, level, settings)
    return reconstruction.upsample(*images, pair, map_=map_, report=report, **settings)


def upsample_steps(
    target: ArrayLike,
    guide: ArrayLike,
    operators: OperatorPair | str | Path = DEFAULT_OPERATORS,
    *,
    level: tuple[int, int] = (0, 0),
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
    level : tuple of int
        Level of a multiscale target and guide that is a list of them; 0 is the finest.
    threads : int, optional
        Number of threads; all cores if None.
    cancelled : callable, optional
        Asked many times a second whether to stop, between two steps too, and between the chunks
        of Dask and Zarr arrays that the call reads; if so, the call or the generator raises
        `napari_cosparse.tiles.Cancelled`.
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
    check_keywords(upsample_steps, settings, Settings.__dataclass_fields__)
    pair = load_operators(operators)
    images = _gathered(target, guide, level, settings, cancelled)
    return reconstruction.upsample_steps(
        *images, pair, Settings(**settings), map_=in_threads(threads, cancelled)
    )


def _gathered(
    target: Any,  # noqa: ANN401 - array-likes
    guide: Any,  # noqa: ANN401
    level: tuple[int, int],
    settings: dict[str, Any],
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Any, Any]:
    """Read images into memory, once the settings may be right."""
    from napari_cosparse.tiles import gather_both

    check_transform(settings.get("transform"))
    return gather_both(target, guide, level, cancelled=cancelled)
