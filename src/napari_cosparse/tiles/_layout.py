"""How the result's array is laid out: shape, chunks, order and names of its axes."""

from __future__ import annotations

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
    assert work.plan is not None  # noqa: S101 - choose_blocks made it
    ones = (1,) * (len(result_shape(work)) - 2)
    if work.target.colour and not work.ome:
        return (*ones[:-1], *work.plan.chunk, 1)
    return (*ones, *work.plan.chunk)


def result_order(work: Work) -> list[int]:
    """Order of the target's axes in an OME-Zarr: channels of a colour come before the plane.

    Parameters
    ----------
    work : Work
        The run.

    Returns
    -------
    list of int
    """
    count = len(work.target.array.shape)
    if not work.target.colour or work.target.first:
        return list(range(count))
    return [*range(count - 3), count - 1, count - 3, count - 2]


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
    return tuple(work.axes[0][i] for i in result_order(work)) if work.ome else None
