"""The upsampling of one plane, perhaps of a stack, perhaps of a part."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from napari_cosparse.core.errors import ApartError
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.planes import plane_of_all
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.ranges import robust_range
from napari_cosparse.core.reconstruction import (
    Scalars,
    Settings,
    Upsampled,
    gray_values,
    guide_planes,
    measure,
    upsample_steps,
)

Run = Generator[Progress, None, Upsampled]


def begin(
    images: tuple[NDArray[Any], NDArray[Any]],
    bank: OperatorPair,
    settings: Settings,
    map_: Map,
    wide: NDArray[Any] | None = None,
    *,
    alone: bool,
) -> Run | None:
    """Set a plane up.

    Parameters
    ----------
    images : tuple of ndarray
        Target and guide, or parts of them.
    bank : OperatorPair
        The operators.
    settings : Settings
        Complete.
    map_ : callable
        Like the built-in `map`.
    wide : ndarray, optional
        Larger part of the target, whose range and noise hold.
    alone : bool
        Whether there is no other plane.

    Returns
    -------
    generator or None
        None for a plane of a stack of which what is known lies beside the guide.

    Raises
    ------
    InputError
        The plane cannot be upsampled; the message says why.
    """
    whole = None if wide is None else measured(wide, images[1], bank, settings)
    try:
        return upsample_steps(*images, bank, settings, map_=map_, whole=whole)
    except ApartError:
        if alone:
            raise
        return None


def measured(
    samples: NDArray[Any], guide: NDArray[Any], bank: OperatorPair, settings: Settings
) -> Scalars:
    """Measure a target of which a part is upsampled, and the part of the guide.

    Parameters
    ----------
    samples : ndarray, shape (m1, m2)
        The target, or enough of it.
    guide : ndarray, shape (N1, N2) or (N1, N2, 3)
        Part of the guide.
    bank : OperatorPair
        The operators.
    settings : Settings
        With the factor.

    Returns
    -------
    Scalars
    """
    values, ends = gray_values(guide_planes(guide))
    span = robust_range(values) if (ends[1] > ends[0]).any() else None
    return measure(samples, span, bank, settings, settings.steps or (1.0, 1.0))


def counted(run: Run, index: Sequence[int], number: int, count: int) -> Run:
    """Count the steps of one plane among those of all.

    Parameters
    ----------
    run : generator
        Of the plane.
    index : sequence of int
        Of the plane, on the leading axes of the result.
    number, count : int
        Planes before it, and how many there are.

    Returns
    -------
    generator
    """
    if count == 1:
        return (yield from run)
    steps = _Steps(run)
    for progress in steps:
        yield replace(
            progress,
            stage=f"{plane_of_all(index, number, count)}, {progress.stage}",
            step=number * progress.total + progress.step,
            total=count * progress.total,
        )
    return steps.result


class _Steps:
    """Iterate over a generator and keep what it returns."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.result: Upsampled

    def __iter__(self) -> Iterator[Progress]:
        self.result = yield from self._run
