"""Transforms as plain text: the affine matrix of the moving layer, as affinder and napari use it.

The matrix maps moving to fixed, (row, column, 1), in physical units: ``layer.affine`` of a moving
layer with its own scale, over a fixed layer with its own scale and nothing else.
"""

from __future__ import annotations

import io

import numpy as np

from napari_cosparse.core.errors import InputError

from ._transform_record import Pair, Transform, pixel_matrix, world_matrix

LONGEST = 20  # characters of a word that are quoted


def encode_text(transform: Transform) -> str:
    """Write the layer's matrix as comma-separated text.

    Parameters
    ----------
    transform : Transform
        What is written.

    Returns
    -------
    str
        Three lines of three numbers with all their digits.
    """
    text = io.StringIO()
    np.savetxt(text, np.linalg.inv(world_matrix(transform)), delimiter=",")
    return text.getvalue()


def decode_text(text: str, size_fixed: Pair, size_moving: Pair) -> Transform:
    """Read a layer's matrix from text.

    Parameters
    ----------
    text : str
        Three lines of three numbers, with commas or blanks between them.
    size_fixed, size_moving : tuple of float
        Scales of the fixed and the moving layer.

    Returns
    -------
    Transform
        Acts on pixels.

    Raises
    ------
    InputError
        If it is no such text.
    """
    if not text.strip():
        raise InputError("is empty")
    try:
        matrix = np.loadtxt(io.StringIO(text.replace(",", " ")), ndmin=2)
    except ValueError as error:
        raise InputError(
            f"is not a table of numbers{_flaw(text)}: needed are three lines of three numbers, "
            "with commas or blanks between them"
        ) from error
    if matrix.shape != (3, 3):
        raise InputError(
            f"holds {matrix.shape[0]} x {matrix.shape[1]} numbers; 3 x 3 are needed: the affine "
            "matrix of a two-dimensional layer"
        )
    if np.linalg.det(matrix[:2, :2]) == 0:
        raise InputError(f"holds the matrix {matrix.tolist()}, which has no inverse")
    found = pixel_matrix(np.linalg.inv(matrix), size_fixed, size_moving)
    return Transform(found, pixel_size_fixed=size_fixed, pixel_size_moving=size_moving)


def _flaw(text: str) -> str:
    """Name the first line that does not fit to a table."""
    first = 0
    for number, line in enumerate(text.replace(",", " ").splitlines(), 1):
        words = line.partition("#")[0].split()
        for word in words:
            try:
                float(word)
            except ValueError:
                return f" (line {number} has {word[:LONGEST]!r})"
        if words and len(words) != (first := first or len(words)):
            return f" (line {number} has {len(words)} numbers, those before {first})"
    return ""
