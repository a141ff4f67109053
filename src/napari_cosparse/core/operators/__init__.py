"""Operator pairs: the record, learning, and the global analysis operator."""

from ._analysis import GlobalOperator
from ._baselines import bank, first_differences, join, random_frame, second_differences, turned
from ._diagnostics import Diagnostics, diagnose
from ._learn import Learned, learn_operators, learn_steps
from ._pair import AtomGroup, OperatorPair, square_offsets
from ._windows import Store, Tile, tiles_of

__all__ = [
    "AtomGroup",
    "Diagnostics",
    "GlobalOperator",
    "Learned",
    "OperatorPair",
    "Store",
    "Tile",
    "bank",
    "diagnose",
    "first_differences",
    "join",
    "learn_operators",
    "learn_steps",
    "random_frame",
    "second_differences",
    "square_offsets",
    "tiles_of",
    "turned",
]
