"""Progress of what is done for a run into a store."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from napari_cosparse.core.progress import Progress

UNITS = 1000  # of progress, for each block

T = TypeVar("T")


def reported(steps: Generator[None, None, T], progress: Progress) -> Generator[Progress, None, T]:
    """Report one and the same progress at each step.

    Parameters
    ----------
    steps : generator
        What is done.
    progress : Progress
        What to say of it.

    Yields
    ------
    Progress
        At each step.

    Returns
    -------
    T
        What the generator returns.
    """
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        yield progress
