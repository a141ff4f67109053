"""Records as plain JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from napari_cosparse.core.errors import InputError


def plain(value: Any, where: str = "metadata") -> Any:  # noqa: ANN401  (JSON is any value)
    """Turn records, arrays and NumPy numbers into what JSON knows.

    Parameters
    ----------
    value : object
        Nested mappings, sequences, dataclasses, arrays, paths, enumerations, numbers, strings.
    where : str
        Name of the value, for the message.

    Returns
    -------
    dict, list, str, float, int, bool or None
        Its plain form; numbers that are not finite become None, as JSON has none.

    Raises
    ------
    InputError
        If the value, or a part of it, has no plain form.
    """
    if value is None or isinstance(value, str | bool | int):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_key(key, where): plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    return plain(_unwrap(value, where), where)


def _key(key: object, where: str) -> str:
    """Refuse keys that JSON would silently turn into strings."""
    if not isinstance(key, str):
        raise InputError(f"{where} has the key {key!r}; keys must be strings to be written as JSON")
    return key


def _unwrap(value: Any, where: str) -> Any:  # noqa: ANN401
    """Replace one object by a plainer one."""
    if isinstance(value, np.floating):
        return float(value)  # long doubles stay NumPy's own in tolist
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    raise InputError(
        f"{where} is a {type(value).__name__}, which cannot be written as JSON; "
        "give strings, numbers, lists or mappings"
    )


def to_json(value: object, *, indent: int | None = None) -> str:
    """Write a record as JSON text that is the same for equal records.

    Parameters
    ----------
    value : object
        See `plain`.
    indent : int, optional
        Spaces a level; one line without it.

    Returns
    -------
    str
        Standard JSON, keys in the order of the record.

    Raises
    ------
    InputError
        If a part of it has no plain form.
    """
    return json.dumps(plain(value), indent=indent, allow_nan=False, ensure_ascii=True)
