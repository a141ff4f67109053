"""``napari-cosparse info`` and what it shows of a pair."""

from __future__ import annotations

import textwrap
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from napari_cosparse.api import load_operators
from napari_cosparse.core.operators import AtomGroup

from ._terminal import number, say, table


def run(arguments: Namespace) -> None:
    """Show the groups of atoms and the provenance of a pair.

    Parameters
    ----------
    arguments : Namespace
        Of the command line.

    Raises
    ------
    InputError
        If there is no such pair, or its file is damaged.
    """
    pair = load_operators(arguments.operators)
    say(f"{arguments.operators}: {pair.atoms} atoms, reach {pair.radius} pixels")
    heads = ("group", "atoms", "pattern", "weight")
    groups = enumerate(pair.groups)
    rows = [(str(i), str(len(g.coefficients_u)), pattern(g), number(g.weight)) for i, g in groups]
    table([heads, *rows])
    for key, value in _flat(pair.metadata):
        say(textwrap.fill(f"{key}: {value}", 100, subsequent_indent="    ", break_long_words=False))


def pattern(group: AtomGroup) -> str:
    """Describe the pixels that the atoms of a group compare.

    Parameters
    ----------
    group : AtomGroup
        The group.

    Returns
    -------
    str
        The square patch and the distance of its pixels, or their number and reach.
    """
    square = group.side_and_dilation
    if square is None:
        return f"{len(group.offsets)} pixels within {group.radius}"
    side, dilation = square
    return f"{side} x {side}" + (f", {dilation} apart" if dilation > 1 else "")


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested metadata as lines, in their order."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, list) and value and all(isinstance(v, Mapping) for v in value):
            for index, item in enumerate(value):
                yield from _flat(item, f"{prefix}{key}[{index}].")
        else:
            yield prefix + key, _text(value)


def _text(value: object) -> str:
    """Write one value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "none"
    if isinstance(value, float):
        return number(value)
    return "-" if value is None else str(value)
