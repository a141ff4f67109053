"""How the result's array is laid out: shape, chunks, order and names of its axes."""

from __future__ import annotations

from ._axes import stored_order
from ._work import Work


def result_shape(work: Work) -> tuple[int, ...]:
    """Shape of the result: the target's planes and channels on the guide's grid.

    Parameters
    ----------
    work : Work
        The run.

    Returns
    -------
    tuple of int
        Channels of a colour target come last, in OME-Zarr before the plane.
    """
    leading, plane = work.target.leading, work.guide.plane
    if not work.target.colour:
        return (*leading, *plane)
    channels = work.target.channels
    return (*leading, channels, *plane) if work.ome else (*leading, *plane, channels)


def result_chunks(work: Work) -> tuple[int, ...]:
    """Chunks of the result: of one plane and channel, so that no two blocks share one.

    Parameters
    ----------
    work : Work
        The run, its blocks chosen.

    Returns
    -------
    tuple of int
    """
    ones = (1,) * (len(result_shape(work)) - 2)
    if work.target.colour and not work.ome:
        return (*ones[:-1], *work.plan_made.chunk, 1)
    return (*ones, *work.plan_made.chunk)


def result_dimensions(work: Work) -> tuple[str, ...] | None:
    """Names of the result's axes.

    Parameters
    ----------
    work : Work
        The run, its axes described.

    Returns
    -------
    tuple of str, or None
        None for a plain array.
    """
    return tuple(work.axes[0][i] for i in stored_order(work.target)) if work.ome else None
