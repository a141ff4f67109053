"""Transforms as JSON: the one format that keeps everything.

The key `matrix` is what other programs need; `direction`, `axis_order` and `units` say what it
means and have only one value each.
"""

from __future__ import annotations

import json
import platform
import re
from typing import Any

import numpy as np
import scipy

from napari_cosparse import __version__
from napari_cosparse.core.errors import InputError

from ._plain import to_json
from ._transform_record import Transform

FORMAT, VERSION = "napari-cosparse transform", 1
DIRECTION = "fixed pixel (row, column, 1) -> moving pixel (row, column, 1)"
MEANING = {"direction": DIRECTION, "axis_order": ["row", "column"], "units": "pixel"}
_NUMBERS = re.compile(r'\[\n([^\[\]{}"]*)\n *\]')  # a list of numbers, one a line
_PARTS = (
    "fixed_shape",
    "moving_shape",
    "pixel_size_fixed",
    "pixel_size_moving",
    "trusted",
    "because",
)


def encode_json(transform: Transform) -> str:
    """Write a transform as JSON text.

    Parameters
    ----------
    transform : Transform
        What is written.

    Returns
    -------
    str
        Numbers in it come back to the last bit.

    Raises
    ------
    InputError
        If its details are no JSON values.
    """
    details = dict(transform.details)
    versions = details.pop("versions", None) or {
        "napari-cosparse": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
    record = {"format": FORMAT, "version": VERSION, "matrix": transform.matrix.tolist(), **MEANING}
    record |= {name: getattr(transform, name) for name in _PARTS}
    text = to_json(record | {"details": details, "versions": versions}, indent=2)
    return _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def decode_json(text: str) -> Transform:
    """Read a transform from JSON text.

    Parameters
    ----------
    text : str
        An object with the key `matrix` at least.

    Returns
    -------
    Transform
        What it says.

    Raises
    ------
    InputError
        If it is no such text, or means another direction, axis order or unit.
    """
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error})") from error
    if not isinstance(record, dict) or "matrix" not in record:
        raise InputError('has no key "matrix" with the 3x3 numbers')
    _check_meaning(record)
    given = {name: record[name] for name in _PARTS if record.get(name) is not None}
    details = record.get("details", {})
    if not isinstance(details, dict) or not isinstance(given.get("because", ""), str):
        raise InputError('has "details" that are no object or a "because" that is no text')
    if "versions" in record:
        details = details | {"versions": record["versions"]}
    return Transform(matrix=record["matrix"], details=details, **given)


def _check_meaning(record: dict[str, Any]) -> None:
    """Refuse a file that would be read with another meaning than it was written with."""
    version = record.get("version", VERSION)
    if record.get("format", FORMAT) != FORMAT:
        raise InputError(f'has the format {record["format"]!r}; "{FORMAT}" is read here')
    if not isinstance(version, int) or version > VERSION:
        raise InputError(
            f"has version {version!r}; this program reads up to {VERSION}. Update napari-cosparse"
        )
    for key, wanted in MEANING.items():
        if record.get(key, wanted) != wanted:
            raise InputError(
                f"has the {key} {record[key]!r}; only {wanted!r} is read. Convert the matrix "
                "first: a map from moving to fixed is inverted, (x, y) order is swapped"
            )
