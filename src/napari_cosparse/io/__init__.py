"""Files: operator pairs, images for the command line, sample data."""

from ._operators import load_operators, save_operators, shipped_operators
from ._read_image import read_image
from ._write_image import write_image

__all__ = ["load_operators", "read_image", "save_operators", "shipped_operators", "write_image"]
