"""The upsampling of one plane, perhaps of a stack."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from napari_cosparse.core.errors import ApartError
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair
from napari_cosparse.core.planes import plane_of_all
from napari_cosparse.core.progress import Progress, retold
from napari_cosparse.core.reconstruction import Settings, Upsampled, upsample_steps

Run = Generator[Progress, None, Upsampled]


def begin(
    images: tuple[NDArray[Any], NDArray[Any]],
    bank: OperatorPair,
    settings: Settings,
    map_: Map,
    *,
    alone: bool,
) -> Run | None:
    """Set a plane up.

    Parameters
    ----------
    images : tuple of ndarray
        Target and guide.
    bank : OperatorPair
        The operators.
    settings : Settings
        Complete.
    map_ : callable
        Like the built-in `map`.
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
    try:
        return upsample_steps(*images, bank, settings, map_=map_)
    except ApartError:
        if alone:
            raise
        return None


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

    def told(progress: Progress) -> Progress:
        return replace(
            progress,
            stage=f"{plane_of_all(index, number, count)}, {progress.stage}",
            step=number * progress.total + progress.step,
            total=count * progress.total,
        )

    return (yield from retold(run, told))
