"""Operator pairs: the record, learning, and the global analysis operator."""

from ._pair import AtomGroup, OperatorPair, square_offsets

__all__ = ["AtomGroup", "OperatorPair", "square_offsets"]
