"""The functions of the package for Python, the command line and the widgets.

They add two things to those of the core: operators may be given by name or file, and the work
runs in dask's threads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import wraps
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from napari_cosparse.core import reconstruction
from napari_cosparse.core.operators import (
    AtomGroup,
    Learned,
    OperatorPair,
    learn_operators,
    learn_steps,
)
from napari_cosparse.core.progress import Progress
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

DEFAULT_OPERATORS = "intensity-depth"

__all__ = [
    "Alignment",
    "AtomGroup",
    "Extent",
    "Learned",
    "OperatorPair",
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
    "save_operators",
    "save_transform",
    "shipped_operators",
    "upsample",
    "upsample_steps",
]


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
    return reconstruction.upsample(target, guide, pair, map_=map_, report=report, **settings)


def upsample_steps(
    target: ArrayLike,
    guide: ArrayLike,
    operators: OperatorPair | str | Path = DEFAULT_OPERATORS,
    *,
    threads: int | None = None,
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
    return reconstruction.upsample_steps(
        target, guide, load_operators(operators), Settings(**settings), map_=_threads(threads)
    )


def _threads(threads: int | None) -> Any:  # noqa: ANN401 - a generic callable protocol
    """Import dask only when something runs."""
    from napari_cosparse.tiles import threaded_map

    return threaded_map(threads)
