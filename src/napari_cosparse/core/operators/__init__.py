"""Operator pairs: the record, learning, and the global analysis operator."""

from ._analysis import GlobalOperator
from ._baselines import bank, first_differences, join, random_frame, second_differences, turned
from ._diagnostics import Diagnostics, diagnose
from ._images import Chunked
from ._learn import learn_operators, learn_steps, make_settings
from ._look import LOOKED
from ._pair import AtomGroup, OperatorPair, square_offsets
from ._program import Memory, Program, record
from ._run import Keeper, Kept, Learned, learn_with
from ._sample import ROOM
from ._settings import Settings as LearnSettings
from ._tiles import Tile, tiles_of

__all__ = [
    "LOOKED",
    "ROOM",
    "AtomGroup",
    "Chunked",
    "Diagnostics",
    "GlobalOperator",
    "Keeper",
    "Kept",
    "LearnSettings",
    "Learned",
    "Memory",
    "OperatorPair",
    "Program",
    "Tile",
    "bank",
    "diagnose",
    "first_differences",
    "join",
    "learn_operators",
    "learn_steps",
    "learn_with",
    "make_settings",
    "random_frame",
    "record",
    "second_differences",
    "square_offsets",
    "tiles_of",
    "turned",
]
