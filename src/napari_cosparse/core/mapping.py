"""The seam between the mathematics and whoever runs it: a function like the built-in `map`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar, runtime_checkable

A = TypeVar("A")
B = TypeVar("B")


class Map(Protocol):
    """Apply a function to items and hand the results back in their order.

    The built-in `map` is one; `napari_cosparse.tiles.threaded_map` is another.
    """

    def __call__(self, function: Callable[[A], B], items: Iterable[A], /) -> Iterable[B]:
        """Return the results in the order of the items."""
        ...


@runtime_checkable
class Leaving(Protocol):
    """A map that can leave a long call behind when it is told to stop."""

    def once(self, function: Callable[[], B], /) -> B:
        """Return what a function returns."""
        ...


def once(map_: Map, function: Callable[..., B], *arguments: Any) -> B:  # noqa: ANN401
    """Call a function by way of a map: whoever runs that may stop before, or meanwhile.

    Parameters
    ----------
    map_ : callable
        Like the built-in `map`.
    function : callable
        What to call; it changes nothing that is there.
    *arguments
        What it takes.

    Returns
    -------
    B
        What it returns.
    """
    if isinstance(map_, Leaving):
        return map_.once(lambda: function(*arguments))
    (result,) = map_(lambda _: function(*arguments), [None])
    return result
