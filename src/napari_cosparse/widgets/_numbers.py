"""Numbers and matrices that are typed into rows."""

import re

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

Numbers = float | tuple[float, float]


def parse_number(what: str, text: str) -> float | None:
    """Read a number.

    Parameters
    ----------
    what : str
        What to call it in an error.
    text : str
        What was typed.

    Returns
    -------
    float or None
        None for an empty field.

    Raises
    ------
    InputError
        It is not a number.
    """
    parts = _parts(text)
    if not parts:
        return None
    if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text):
        raise InputError(f"{what} {text!r} has a comma: write {'.'.join(parts)}")
    numbers = _floats(what, text, parts)
    if len(numbers) != 1:
        raise InputError(f"{what} {text!r} must be one number like 0.5 (or empty)")
    return numbers[0]


def parse_numbers(what: str, text: str) -> Numbers | None:
    """Read one number, or two with a comma or a blank between them.

    Parameters
    ----------
    what : str
        What to call it in an error.
    text : str
        What was typed.

    Returns
    -------
    float, tuple of float, or None
        None for an empty field.

    Raises
    ------
    InputError
        It is neither, too large, or may be meant as either.
    """
    parts = _parts(text)
    if not parts:
        return None
    if re.fullmatch(r"\s*-?0,\d+\s*", text):
        raise InputError(
            f"{what} {text!r} may be one number or two: write {'.'.join(parts)} or "
            f"{', '.join(parts)}"
        )
    numbers = _floats(what, text, parts)
    if len(numbers) not in (1, 2):
        raise InputError(
            f"{what} {text!r} must be one number like 0.5, or two like 4, 2 where rows and columns "
            "differ (or empty)"
        )
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def parse_matrix(what: str, text: str) -> NDArray[np.float64] | None:
    """Read the two upper rows of a matrix: six numbers.

    Parameters
    ----------
    what : str
        What to call it in an error.
    text : str
        What was typed, as "1, 0, 2.5; 0, 1, 7".

    Returns
    -------
    ndarray, shape (3, 3), float64, or None
        None for an empty field.

    Raises
    ------
    InputError
        It is no matrix.
    """
    if not text.strip():
        return None
    try:
        numbers = [float(part) for part in re.split(r"[\s,;\[\]()]+", text) if part]
    except ValueError:
        numbers = []
    if len(numbers) == 9:
        return np.array(numbers).reshape(3, 3)
    if len(numbers) != 6:
        raise InputError(
            f"{what} {text!r} must be six numbers, row by row like 1, 0, 2.5; 0, 1, 7 (or empty)"
        )
    return np.array([*numbers, 0, 0, 1]).reshape(3, 3)


def matrix_text(matrix: NDArray[np.float64], digits: int = 17) -> str:
    """Write the two upper rows of a matrix as `parse_matrix` reads them.

    Parameters
    ----------
    matrix : ndarray, shape (3, 3)
        What is written.
    digits : int
        Of each number; 17 keep every bit.

    Returns
    -------
    str
    """
    return "; ".join(", ".join(f"{value:.{digits}g}" for value in row) for row in matrix[:2])


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[\s,;]+", text) if part]


def _floats(what: str, text: str, parts: list[str]) -> list[float]:
    """Read all parts; none where one is no number."""
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return []
    if np.isinf(numbers).any() and "inf" not in text.lower():
        raise InputError(f"{what} {text!r} is too large a number")
    return numbers
