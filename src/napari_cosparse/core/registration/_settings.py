"""The settings of a registration, checked as soon as they are made."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

GROUPS = ("SO", "SE", "similarity", "SA", "A")
MEASURES = ("auto", "both", "mutual", "nmi", "coupled")
SOLVERS = ("gauss-newton", "gradient")
LARGEST_SCALE = 4.0
SCALED = ("similarity", "A")  # groups with a scale
LEAST_POINTS = {"SO": 1, "SE": 2, "similarity": 2, "SA": 3, "A": 3}


@dataclass(frozen=True, eq=False, kw_only=True)
class RegisterSettings:
    """Keywords of `register`; see there for their meaning.

    Raises
    ------
    InputError
        If a value breaks a rule.
    """

    group: str = "SE"
    measure: str = "auto"
    solver: str = "gauss-newton"
    initial: Any = None
    points: Any = None
    mask_fixed: Any = None
    mask_moving: Any = None
    invalid: tuple[float | None, float | None] = (None, None)
    pixel_size_fixed: Any = (1.0, 1.0)
    pixel_size_moving: Any = (1.0, 1.0)
    region: tuple[int, int, int, int] | None = None
    search: bool | None = None
    max_rotation: float | None = None
    max_scale: float | None = None
    verdict: bool = True
    allow_reflection: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every value that can be checked without the images."""
        _choice("group", self.group, GROUPS)
        _choice("measure", self.measure, MEASURES)
        _choice("solver", self.solver, SOLVERS)
        _check_range("max_rotation", self.max_rotation, 0.0, 180.0, "degrees")
        _check_range("max_scale", self.max_scale, 1.0, LARGEST_SCALE, "times")
        if self.max_scale is not None and self.max_scale > 1 and self.group not in SCALED:
            raise InputError(
                f"max_scale {self.max_scale:g}: the group {self.group} has no scale to search; "
                f"take {' or '.join(SCALED)}, or leave max_scale out"
            )
        _check_flags(search=self.search, verdict=self.verdict, allow=self.allow_reflection)
        if self.initial is not None and self.points is not None:
            raise InputError("initial and points both say where to start; give one of them")
        if self.initial is not None:
            object.__setattr__(self, "initial", _matrix(self.initial))
        if self.points is not None:
            object.__setattr__(self, "points", _points(self.points, self.group))
        _check_invalid(self.invalid)
        try:
            valid = index(self.seed) >= 0
        except TypeError:
            valid = False
        if not valid:
            raise InputError(f"seed {self.seed!r} must be a whole number from 0 on")

    @property
    def searched(self) -> bool:
        """Whether a start is searched."""
        if self.search is None:
            return self.initial is None and self.points is None
        return bool(self.search)


def _choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        lower = {choice.lower(): choice for choice in choices}
        near = difflib.get_close_matches(str(value).lower(), lower, 1, 0.3)
        close = [lower[name] for name in near]
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InputError(f"{name} {value!r} must be one of {', '.join(choices)}{hint}")


def _check_range(name: str, value: float | None, low: float, high: float, unit: str) -> None:
    if value is None:
        return
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (number and low <= value <= high):
        raise InputError(f"{name} {value!r} must be a number from {low:g} to {high:g} {unit}")


def _check_flags(search: object, verdict: object, allow: object) -> None:
    named = {"search": search, "verdict": verdict, "allow_reflection": allow}
    for name, value in named.items():
        if not (isinstance(value, (bool, np.bool_)) or (name == "search" and value is None)):
            choices = "True, False or None" if name == "search" else "True or False"
            raise InputError(f"{name} {value!r} must be {choices}")


def _check_invalid(values: Any) -> None:  # noqa: ANN401 - whatever the user gave
    try:
        one, other = values
        for value in (one, other):
            float(value if value is not None else 0)
    except (TypeError, ValueError):
        wrong = True
    else:
        wrong = isinstance(values, str)
    if wrong:
        raise InputError(
            f"invalid {values!r} must be two numbers, for the fixed and the moving image; None "
            "where every number is valid, such as invalid=(0, None)"
        )


def _matrix(value: Any) -> NDArray[np.float64]:  # noqa: ANN401 - whatever the user gave
    try:
        matrix = np.array(value, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"initial is no matrix of numbers: {error}") from None
    last_row = np.array([0.0, 0.0, 1.0])
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
        what = f"shape {matrix.shape}" if matrix.shape != (3, 3) else "values that are not finite"
        raise InputError(
            f"initial has {what}; it must be a finite (3, 3) matrix from fixed pixel "
            "(row, column, 1) to moving pixel"
        )
    if not np.allclose(matrix[2], last_row) or abs(np.linalg.det(matrix)) < 1e-9:
        raise InputError(
            f"initial {matrix.tolist()} must be invertible and its last row 0, 0, 1 (row, column "
            "order, acting on columns)"
        )
    return matrix


def _points(value: Any, group: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # noqa: ANN401
    try:
        fixed, moving = (np.array(points, np.float64) for points in value)
    except (TypeError, ValueError) as error:
        raise InputError(f"points must be two arrays of (row, column): {error}") from None
    if fixed.shape != moving.shape or fixed.ndim != 2 or fixed.shape[1] != 2:
        raise InputError(
            f"points have shapes {fixed.shape} and {moving.shape}; both must be (n, 2), in the "
            "same order"
        )
    least = LEAST_POINTS[group]
    if len(fixed) < least:
        count = f"{len(fixed)} pair{'s' * (len(fixed) != 1)} of points"
        raise InputError(f"{count}; the group {group} needs at least {least}")
    _check_finite(fixed, moving)
    for name, points in (("fixed", fixed), ("moving", moving)):
        if np.linalg.matrix_rank(points - points.mean(0)) < least - 1:
            wrong = "in one place" if np.ptp(points, axis=0).max() == 0 else "on one line"
            raise InputError(
                f"the points of the {name} image lie {wrong}; the group {group} needs at least "
                f"{least} that do not"
            )
    return fixed, moving


def _check_finite(fixed: NDArray[np.float64], moving: NDArray[np.float64]) -> None:
    for name, points in (("fixed", fixed), ("moving", moving)):
        wrong = np.flatnonzero(~np.isfinite(points).all(1))
        if wrong.size:
            row, column = points[wrong[0]]
            raise InputError(
                f"point number {wrong[0] + 1} of the {name} image is not finite: row {row:g}, "
                f"column {column:g}; set it again, or take this pair of points out"
            )
