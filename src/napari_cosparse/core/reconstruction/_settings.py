"""The settings of an upsampling run, checked as soon as they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._kernels import Blur
from ._placing import Phase

Solver = Literal["lbfgs", "cg"]
Start = Literal["bicubic", "random"]
OutputType = Literal["float32", "input"]
Factor = float | tuple[float, float]

CHOICES = {"phase": Phase, "blur": Blur, "solver": Solver, "dtype": OutputType}


@dataclass(frozen=True, eq=False, kw_only=True)
class Settings:
    """Keywords of `upsample`; see there for their meaning.

    Raises
    ------
    InputError
        If a value breaks a rule.
    """

    factor: Factor | None = None  # two numbers once checked
    phase: Phase = "centre"
    blur: Blur = "box"
    noise: float | None = None
    invalid: float | None = None
    weights: NDArray[Any] | None = None
    guided: bool = True
    origin: tuple[float, float] | None = None
    solver: Solver = "lbfgs"
    start: Start | NDArray[Any] = "bicubic"
    seed: int = 0
    dtype: OutputType = "float32"

    def __post_init__(self) -> None:
        """Check every value that can be checked without the images."""
        for name, choices in CHOICES.items():
            _check_choice(name, getattr(self, name), get_args(choices))
        if isinstance(self.start, str):
            _check_choice("start", self.start, get_args(Start))
        if self.noise is not None and not (np.isfinite(self.noise) and self.noise >= 0):
            raise InputError(
                f"noise {self.noise} must be at least 0 (exact samples); leave it out to estimate"
            )
        for name in ("factor", "origin"):
            value = getattr(self, name)
            if value is not None and not np.isfinite(two(value)).all():
                raise InputError(f"{name} {value} must be finite")
        object.__setattr__(self, "factor", None if self.factor is None else two(self.factor))

    @property
    def steps(self) -> tuple[float, float] | None:
        """Factor along rows and columns."""
        return None if self.factor is None else two(self.factor)

    def as_json(self) -> dict[str, Any]:
        """Give the settings as JSON values; arrays are named, not stored.

        Returns
        -------
        dict
        """
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("weights", "start"):
            if isinstance(plain[name], np.ndarray):
                plain[name] = f"array of shape {plain[name].shape}"
        for name in ("factor", "origin"):
            plain[name] = None if plain[name] is None else [float(v) for v in plain[name]]
        return plain


def two(value: Factor) -> tuple[float, float]:
    """Read one number for both axes, or one for each.

    Parameters
    ----------
    value : float or tuple of float
        One or two numbers.

    Returns
    -------
    tuple of float
        For rows and columns.

    Raises
    ------
    InputError
        If there are more.
    """
    numbers = np.atleast_1d(np.asarray(value, np.float64))
    if numbers.size not in (1, 2) or numbers.ndim != 1:
        raise InputError(f"{value} must be one number, or two for rows and columns")
    return float(numbers[0]), float(numbers[-1])


def _check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name} {value!r} is unknown; choose one of {', '.join(allowed)}")
