"""What the functions of the facade share: dask is imported only when something runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import Signature, signature
from typing import Any, TypeVar, cast

import numpy as np

from napari_cosparse.core.errors import InputError

DEFAULT_OPERATORS = "intensity-depth"
REGISTER_OPERATORS = "intensity-nir"


def in_threads(threads: int | None, cancelled: Callable[[], bool] | None = None) -> Any:  # noqa: ANN401 - a generic callable protocol
    """Make a map in dask's threads.

    Parameters
    ----------
    threads : int, optional
        Number of threads; all cores if None.
    cancelled : callable, optional
        Asked many times a second whether to stop.

    Returns
    -------
    callable
        See `napari_cosparse.tiles.threaded_map`.
    """
    from napari_cosparse.tiles import check_count, threaded_map

    check_count(threads, "threads")
    return threaded_map(threads, cancelled)


def check_transform(value: Any) -> None:  # noqa: ANN401 - whatever was given
    """Refuse a transform of a target that is no matrix of numbers.

    Parameters
    ----------
    value : array_like, shape (3, 3), or Registration, or None
        As given.

    Raises
    ------
    InputError
        If it is something else; what the numbers must be is checked where they are used.
    """
    if value is None:
        return
    try:
        matrix = np.asarray(getattr(value, "matrix", value))
        good = matrix.dtype.kind != "c" and matrix.astype(float).shape == (3, 3)
    except (TypeError, ValueError):
        good = False
    if not good:
        shape = getattr(value, "shape", None)
        what = repr(value) if shape is None else f"of shape {shape} and type {value.dtype}"
        raise InputError(
            f"transform {what} must be a registration or a matrix of 3 x 3 real numbers that maps "
            "guide pixel (row, column, 1) to target pixel; load_transform(FILE).matrix reads one "
            "from a file"
        )


F = TypeVar("F", bound=Callable[..., Any])
MAP = re.compile(r"^    map_ : .*\n(?:        .*\n)+", re.MULTILINE)
THREADS = "    threads : int, optional\n        Number of threads; all cores if None.\n"


def facade(core: Callable[..., Any]) -> Callable[[F], F]:
    """Document a function as the one of the core that it calls, with what is its own.

    Parameters
    ----------
    core : callable
        Whose parameters and docstring are told, but for the map that runs tiles.

    Returns
    -------
    callable
        Decorator.
    """

    def decorate(function: F) -> F:
        own, theirs = signature(function).parameters, signature(core).parameters
        told = [own.get(name, part) for name, part in theirs.items() if name != "map_"]
        told += [p for n, p in own.items() if n not in theirs and p.kind is p.KEYWORD_ONLY]
        made = wraps(core)(function)
        made.__signature__ = Signature(told)  # type: ignore[attr-defined]
        made.__doc__ = MAP.sub(THREADS, core.__doc__ or "")
        return cast("F", made)

    return decorate


def check_keywords(
    function: Callable[..., Any], given: Iterable[str], *known: Iterable[str]
) -> None:
    """Refuse unknown keywords as Python does, with the name that was meant.

    Parameters
    ----------
    function : callable
        The one that was called.
    given : iterable of str
        Its keywords.
    *known : iterable of str
        Those that it hands on.

    Raises
    ------
    TypeError
        If one is unknown.
    """
    names = {name for part in (keywords_of(function), *known) for name in part}
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(sorted(names))}"
            called = function.__name__
            raise TypeError(f"{called}() got an unexpected keyword argument {name!r}{hint}")


def keywords_of(function: Callable[..., Any]) -> list[str]:
    """Names of the arguments that a function takes by keyword only.

    Parameters
    ----------
    function : callable

    Returns
    -------
    list of str
    """
    arguments = signature(function, follow_wrapped=False).parameters.values()
    return [argument.name for argument in arguments if argument.kind is argument.KEYWORD_ONLY]
