"""Files: operator pairs, images for the command line, sample data."""

from ._operators import load_operators, save_operators, shipped_operators

__all__ = ["load_operators", "save_operators", "shipped_operators"]
