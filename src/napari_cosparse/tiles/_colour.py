"""Whether the last axis of a target holds colours or columns."""

from __future__ import annotations

from dataclasses import replace

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import Settings

from ._as_source import as_source
from ._sources import COLOURS, Colour, Source

MOST_UNEQUAL = 4  # factors along rows and columns, beyond which columns are rather colours


def target_source(
    image: object, colour: Colour, level: int, guide: tuple[int, int], settings: Settings
) -> Source:
    """Look at a target without reading it.

    Parameters
    ----------
    image : array-like, or sequence of array-likes
        See `as_source`.
    colour : bool or "first", optional
        Where its channels are; if None, the sizes decide.
    level : int
        Level of a multiscale image.
    guide : tuple of int
        Shape of the guide, in pixels.
    settings : Settings
        Of the run: they may say how the target lies.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        If it is no image, has no such level, or its last axis can be both.
    """
    if colour is not None:
        return as_source(image, "target", colour=colour, level=level)
    source = as_source(image, "target", colour=False, level=level)
    shape = tuple(int(n) for n in source.array.shape)
    if len(shape) < 3 or shape[-1] not in COLOURS:
        return source
    stack, coloured = (_fits(guide, plane, settings) for plane in (shape[-2:], shape[-3:-1]))
    if stack and coloured:
        rows, columns, last = shape[-3:]
        raise InputError(
            f"target of shape {shape} may be {rows} planes of {columns} x {last} samples or an "
            f"image of {rows} x {columns} in {last} colours; say which: colour=(False, None) or "
            "(True, None)"
        )
    return replace(source, colour=not stack)


def _fits(guide: tuple[int, int], plane: tuple[int, ...], settings: Settings) -> bool:
    """Whether a plane may be the whole of the target: rows and columns as coarse as each other."""
    if settings.transform is not None or settings.origin is not None:
        return False  # it may be a part, so that sizes do not tell: few planes are that narrow
    steps = guide[0] / plane[0], guide[1] / plane[1]
    if settings.steps is not None:
        return all(
            abs(n - m * d) <= d for n, m, d in zip(guide, plane, settings.steps, strict=True)
        )
    return min(steps) >= 1 and max(steps) <= MOST_UNEQUAL * min(steps)
