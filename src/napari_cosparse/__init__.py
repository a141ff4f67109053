"""Bimodal co-sparse analysis models for napari, Python and the command line."""

__version__ = "0.1.0"
