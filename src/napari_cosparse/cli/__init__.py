"""The command line ``napari-cosparse``: learn, upsample, info, operators, demo."""

from ._main import main

__all__ = ["main"]
