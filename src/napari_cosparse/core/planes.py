"""How planes of stacks are named: by their index from 0, as in Python and on napari's sliders."""

from __future__ import annotations

from collections.abc import Sequence


def plane_name(index: Sequence[int]) -> str:
    """Name a plane for people.

    Parameters
    ----------
    index : sequence of int
        On the axes before the plane, from 0.

    Returns
    -------
    str
        The number on one axis, such as ``2``; in brackets on several, such as ``(0, 2)``.
    """
    named = ", ".join(str(int(i)) for i in index)
    return f"({named})" if len(index) > 1 else named


def plane_of_all(index: Sequence[int], done: int, count: int) -> str:
    """Name a plane that is worked on, and say how many are done with it.

    Parameters
    ----------
    index : sequence of int
        On the axes before the plane, from 0.
    done : int
        Planes before it.
    count : int
        Number of planes.

    Returns
    -------
    str
        Such as ``plane 2 (3 of 8)``.
    """
    return f"plane {plane_name(index)} ({done + 1} of {count})"
