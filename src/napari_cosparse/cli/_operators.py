"""``napari-cosparse operators``."""

from __future__ import annotations

from argparse import Namespace

from napari_cosparse.api import load_operators, shipped_operators

from ._info import pattern
from ._terminal import say, table


def run(_: Namespace) -> None:
    """List the pairs that come with the package."""
    rows = [("name", "atoms", "patterns")]
    for name in shipped_operators():
        pair = load_operators(name)
        rows.append((name, str(pair.atoms), "; ".join(pattern(group) for group in pair.groups)))
    table(rows, indent="")
    say("details: napari-cosparse info NAME")
