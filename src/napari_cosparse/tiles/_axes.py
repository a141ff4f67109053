"""Names, sizes and units of the axes of a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from napari_cosparse.core.errors import InputError

from ._checks import positive_sizes
from ._sources import Source

ORDER = "tczyx"
SPACE, TIME, CHANNEL = ("y", "x", "z"), "t", "c"
Axes = tuple[str, tuple[float, ...], tuple[str | None, ...], tuple[float, ...]]


def describe_axes(
    target: Source,
    names: str | None,
    pixel_size: Sequence[float] | None,
    units: Sequence[str | None] | None,
    position: Sequence[float] | None = None,
) -> Axes:
    """Give each axis of a target a name, the size of a pixel of the result, a unit and a place.

    Parameters
    ----------
    target : Source
        The target.
    names : str or None
        One letter for each axis; the usual ones if None.
    pixel_size, units, position : sequence or None
        One for each axis, or two for rows and columns.

    Returns
    -------
    tuple

    Raises
    ------
    InputError
        If they are not those of the target's axes.
    """
    count = len(target.array.shape)
    size = (1.0, 1.0) if pixel_size is None else positive_sizes(pixel_size, "pixel_size")
    unit = _names_of_units(units)
    given = names or _usual(target)
    size, unit = _for_all(target, size, 1.0), _for_all(target, unit, None)
    place = _for_all(target, _numbers(position), 0.0)
    if any(len(values) != count for values in (names or size, size, unit, place)):
        raise InputError(
            f"axes {given!r}, pixel size {size}, units {unit} and position {place} must be those "
            f"of the target's {count} axes"
        )
    return given, size, unit, place


def _numbers(position: object) -> tuple[float, ...]:
    """Check where the first pixel lies."""
    if position is None:
        return 0.0, 0.0
    try:
        place = np.asarray(position, float)
    except (TypeError, ValueError):
        place = np.empty(0)
    if place.ndim != 1 or not place.size or not np.isfinite(place).all():
        raise InputError(
            f"position {position!r} must be a number for each axis, or for rows and columns"
        )
    return tuple(place.tolist())


def _names_of_units(units: object) -> tuple[str | None, ...]:
    """Check units before the run: metadata are written at its end."""
    if units is None:
        return None, None
    names = () if isinstance(units, str) or not isinstance(units, Iterable) else tuple(units)
    if not names or not all(name is None or isinstance(name, str) for name in names):
        raise InputError(
            f"units {units!r} must be a name or None for each axis, or for rows and columns, such "
            "as ('millimeter', 'millimeter')"
        )
    return names


def _for_all(target: Source, values: tuple[Any, ...], other: float | None) -> tuple[Any, ...]:
    """Put values for rows and columns in their places."""
    count = len(target.array.shape)
    if len(values) != 2 or count == 2:
        return values
    full, down = [other] * count, len(target.leading) + target.first
    full[down : down + 2] = values
    return tuple(full)


def _usual(target: Source) -> str:
    """Usual names of a target's axes."""
    count = len(target.array.shape)
    if not target.colour:
        return ORDER[-count:]
    return "tz"[: count - 3] + ("cyx" if target.first else "yxc")


def stored_order(target: Source) -> list[int]:
    """Order of a target's axes in an OME-Zarr: channels of a colour come before the plane.

    Parameters
    ----------
    target : Source
        The target.

    Returns
    -------
    list of int
    """
    count = len(target.array.shape)
    if not target.colour or target.first:
        return list(range(count))
    return [*range(count - 3), count - 1, count - 3, count - 2]


def check_stored(target: Source, axes: Axes) -> None:
    """Refuse axes that an OME-Zarr cannot have.

    Parameters
    ----------
    target : Source
        The target.
    axes : tuple
        See `describe_axes`.

    Raises
    ------
    InputError
        If their names or their order are others than it knows.
    """
    names, _, units, _ = axes
    count = len(target.array.shape)
    if len(names) != count:
        raise InputError(
            f"target has {count} axes, but OME-Zarr has {len(ORDER)} at most; write a plain array "
            "(.zarr)"
        )
    order = stored_order(target)
    axes_of([names[i] for i in order], [units[i] for i in order])


def axes_of(names: Sequence[str], units: Sequence[str | None]) -> list[dict[str, Any]]:
    """Describe axes as OME-Zarr does.

    Parameters
    ----------
    names : sequence of str
        Such as t, c, z, y, x.
    units : sequence of str or None
        Of each axis.

    Returns
    -------
    list of dict

    Raises
    ------
    InputError
        If OME-Zarr knows no such axes.
    """
    if len(set(names)) < len(names) or not set(names) <= {*SPACE, TIME, CHANNEL}:
        raise InputError(f"axes {', '.join(names)} must be different ones of t, c, z, y, x")
    if [*sorted(names, key=ORDER.index)] != [*names]:
        raise InputError(
            f"the result would have the axes {', '.join(names)}, but OME-Zarr knows them in the "
            f"order {', '.join(ORDER)} only; write a plain array (.zarr), or move the axes"
        )
    axes = []
    for name, unit in zip(names, units, strict=True):
        kind = "space" if name in SPACE else "time" if name == TIME else "channel"
        axes.append({"name": name, "type": kind, **({"unit": unit} if unit else {})})
    return axes
