"""Pairs of points that a user has found in both images."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

Points = NDArray[np.float64]


def read_points(path: Path) -> tuple[Points, Points]:
    """Read a table of corresponding points.

    Parameters
    ----------
    path : Path
        Text with four numbers a line, with commas or blanks between them: row and column in the
        fixed image, row and column in the moving image, in pixels. The first line may be a heading.

    Returns
    -------
    fixed, moving : ndarray, shape (n, 2)
        The points.

    Raises
    ------
    InputError
        If there is no such file, or it is no such table.
    """
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not text; points are a table of four numbers a line"
        ) from error
    lines = [line for line in text.replace(",", " ").splitlines() if line.strip()]
    if lines and not _are_numbers(lines[0]):
        del lines[0]
    if not lines:
        raise InputError(f"{path} holds no points; give four numbers a line")
    try:
        table = np.loadtxt(io.StringIO("\n".join(lines)), ndmin=2)
    except ValueError as error:
        raise InputError(f"{path} is no table of four numbers a line ({error})") from error
    if table.shape[1] != 4 or not np.isfinite(table).all():
        raise InputError(
            f"{path} holds {table.shape[1]} numbers a line; four finite ones are needed: row and "
            "column in the fixed image, row and column in the moving image"
        )
    return table[:, :2], table[:, 2:]


def _are_numbers(line: str) -> bool:
    try:
        [float(word) for word in line.split()]
    except ValueError:
        return False
    return True
