"""Which planes of two stacks belong together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from napari_cosparse.core.errors import InputError

from ._read import Source

Index = tuple[int, ...]


@dataclass(frozen=True)
class Stack:
    """Leading axes of two layers, matched by their labels.

    Attributes
    ----------
    labels : tuple of str
        Labels of the result's leading axes.
    shape : tuple of int
        Their lengths; empty for single planes.
    first, second : tuple of int
        For each of these axes, its place among the leading axes of the first and of the second
        layer; -1 where a layer has no such axis, or has it with length 1.
    counts : tuple of int
        Number of leading axes of both layers.
    """

    labels: tuple[str, ...]
    shape: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    counts: tuple[int, int]

    @property
    def planes(self) -> int:
        """Number of pairs of planes."""
        return prod(self.shape)

    def pairs(self) -> Iterator[tuple[Index, Index]]:
        """Give the indices of planes that belong together, in the order of the result."""
        for index in product(*map(range, self.shape)):
            yield self._of(0, self.first, index), self._of(1, self.second, index)

    def _of(self, which: int, axes: tuple[int, ...], index: Index) -> Index:
        found = [0] * self.counts[which]
        for axis, value in zip(axes, index, strict=True):
            if axis >= 0:
                found[axis] = value
        return tuple(found)


def match_stacks(first: Source, second: Source) -> Stack:
    """Match the leading axes of two layers as NumPy broadcasts, but by their labels.

    Parameters
    ----------
    first, second : Source
        Pixels of two layers. Axes of one label belong together; napari's default labels count
        from the last axis. An axis that one layer lacks, or has with length 1, is repeated; one
        of length 1 that only the first has is dropped.

    Returns
    -------
    Stack
        The pairs of planes. The axes are in the first layer's order; one that only the second has
        comes before the axis that follows it there, if both have that, and else last.

    Raises
    ------
    InputError
        Two axes of one label have different lengths.
    """
    ours = dict(zip(first.axis_labels, first.leading, strict=False))
    theirs = dict(zip(second.axis_labels, second.leading, strict=False))
    labels = _merged([name for name, n in ours.items() if name in theirs or n > 1], list(theirs))
    shape = []
    for name in labels:
        lengths = {source.get(name, 1) for source in (ours, theirs)} - {1}
        if len(lengths) > 1:
            raise InputError(
                f"axis {name!r} has {ours[name]} planes in {first.name!r} and {theirs[name]} in "
                f"{second.name!r}; use stacks of equal length, or name their axes differently"
            )
        shape.append(max(lengths, default=1))
    where = [
        tuple(list(source).index(name) if source.get(name, 1) > 1 else -1 for name in labels)
        for source in (ours, theirs)
    ]
    return Stack(tuple(labels), tuple(shape), where[0], where[1], (len(ours), len(theirs)))


def _merged(ours: list[str], theirs: list[str]) -> list[str]:
    """Put labels that we lack among ours."""
    found, place = list(ours), len(ours)
    for name in reversed(theirs):
        if name not in ours:
            found.insert(place, name)
        place = found.index(name)
    return found
