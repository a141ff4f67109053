"""Planes of which nothing is known, among the results of a stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import Upsampled

Results = Sequence[Upsampled | None]


def known_planes(results: Results, name: str) -> list[Upsampled]:
    """Leave out the planes of which nothing is known.

    Parameters
    ----------
    results : sequence of Upsampled or None
        One for each plane; None where the target has no known sample.
    name : str
        Name of the target.

    Returns
    -------
    list of Upsampled
        At least one.

    Raises
    ------
    InputError
        Nothing is known in any plane.
    """
    known = [result for result in results if result is not None]
    if not known:
        raise InputError(
            f"{name!r} has no known sample in any of its {len(results)} planes: all are NaN, "
            "infinite, the unknown value or beside the guide. Check Unknown value and where the "
            "target lies, or choose another target."
        )
    return known


def blank_planes(results: Results, shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Name the planes of which nothing is known.

    Parameters
    ----------
    results : sequence of Upsampled or None
        One for each plane, in the order of the result.
    shape : sequence of int
        Lengths of the result's leading axes.

    Returns
    -------
    tuple of tuple of int
        Their indices on these axes.
    """
    places = np.ndindex(*shape)
    return tuple(place for place, result in zip(places, results, strict=True) if result is None)


def join_planes(results: Results, name: str) -> NDArray[Any]:
    """Put planes on top of one another; those of which nothing is known are unknown.

    Parameters
    ----------
    results : sequence of Upsampled or None
        One for each plane.
    name : str
        Name of the target.

    Returns
    -------
    ndarray, shape (planes, N1, N2)
        NaN in unknown planes, or the invalid value where the type is an integer.

    Raises
    ------
    InputError
        Nothing is known in any plane, or the type is bool, which has no value for that.
    """
    known = known_planes(results, name)
    blank = known[0].image
    if len(known) < len(results):
        blank = np.full_like(blank, _unknown(known[0], name))
    return np.stack([blank if result is None else result.image for result in results])


def _unknown(like: Upsampled, name: str) -> float:
    """Give what a result has where nothing is known."""
    kind = like.image.dtype.kind
    if kind == "f":
        return float("nan")
    if kind == "b":
        raise InputError(
            f"{name!r} has planes without a known sample, which the type bool cannot mark as "
            "unknown; use dtype 'float32' (Values)"
        )
    return float(like.parameters["invalid"])
