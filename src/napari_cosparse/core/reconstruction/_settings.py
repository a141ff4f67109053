"""The settings of an upsampling run, checked as soon as they are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.geometry import as_motion

from ._kernels import Blur
from ._placing import Phase
from ._scale import as_numbers

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
    transform: NDArray[np.float64] | None = None
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
        else:
            object.__setattr__(self, "start", as_numbers(self.start, "start"))
        for name, read in READERS.items():
            value = getattr(self, name)
            if value is not None or name == "seed":
                object.__setattr__(self, name, read(value, name))
        if self.transform is not None:
            self._check_alone()

    def _check_alone(self) -> None:
        """Refuse what says the same as the transform, or something else."""
        given = {"factor": None, "origin": None, "phase": "centre"}
        for name, default in given.items():
            if (value := getattr(self, name)) != default:
                raise InputError(
                    f"{name} {value!r} beside a transform, which says where every sample lies; "
                    f"leave {name} out, or the transform"
                )

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
        for name in ("factor", "origin", "transform"):
            plain[name] = None if plain[name] is None else np.asarray(plain[name]).tolist()
        return plain


def two(value: Factor, name: str = "factor") -> tuple[float, float]:
    """Read one number for both axes, or one for each.

    Parameters
    ----------
    value : float or tuple of float
        One or two numbers.
    name : str
        What to call it in an error.

    Returns
    -------
    tuple of float
        For rows and columns.

    Raises
    ------
    InputError
        If it is something else.
    """
    try:
        numbers = np.atleast_1d(np.asarray(value, np.float64))
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.shape not in ((1,), (2,)):
        raise InputError(f"{name} {value!r} must be one number, or two for rows and columns")
    if not np.isfinite(numbers).all():
        raise InputError(f"{name} {value} must be finite")
    return float(numbers[0]), float(numbers[-1])


def _factor(value: Factor, name: str) -> tuple[float, float]:
    numbers = two(value, name)
    if min(numbers) <= 0:
        raise InputError(f"{name} {value} must be above 0 along rows and columns")
    return numbers


def _noise(value: float, name: str) -> float:
    number = _number(value, name)
    if not (np.isfinite(number) and number >= 0):
        raise InputError(
            f"noise {value} must be finite and at least 0 (exact samples); leave it out to estimate"
        )
    return number


def _invalid(value: float, name: str) -> float | None:
    """Read the value that means unknown; those that are not finite do so anyway."""
    number = _number(value, name)
    return number if np.isfinite(number) else None


def _number(value: float, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} {value!r} must be a number") from None


def _weights(value: ArrayLike, name: str) -> NDArray[np.float64]:
    """Read confidences; what is masked is unknown."""
    if isinstance(value, np.ma.MaskedArray):
        value = np.ma.filled(value, 0)
    return as_numbers(value, name)


def _seed(value: int, name: str) -> int:
    try:
        number = index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError(f"{name} {value!r} must be a whole number of at least 0")
    return number


def read_transform(value: ArrayLike, name: str = "transform") -> NDArray[np.float64]:
    """Read the matrix of an affine motion; a registration gives its own.

    Parameters
    ----------
    value : array_like, shape (3, 3), or Registration
        Guide pixel to target pixel.
    name : str
        What to call it in an error.

    Returns
    -------
    ndarray, shape (3, 3), float64

    Raises
    ------
    InputError
        If it is no affine motion or has no inverse, or the registration is not trusted.
    """
    matrix = as_motion(getattr(value, "matrix", value), name)
    if not getattr(value, "trusted", True):
        because = getattr(value, "because", "no reason given")
        raise InputError(
            f"the registration is not trusted ({because}): pass its .matrix as {name} to use it "
            "all the same"
        )
    sizes = np.linalg.svd(matrix[:2, :2], compute_uv=False)
    if sizes[1] <= 1e-12 * sizes[0]:
        raise InputError(f"{name} {matrix.tolist()} is singular: it folds the guide onto a line")
    return matrix


READERS: dict[str, Callable[[Any, str], Any]] = {
    "factor": _factor,
    "origin": two,
    "transform": read_transform,
    "weights": _weights,
    "noise": _noise,
    "invalid": _invalid,
    "seed": _seed,
}


def _check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name} {value!r} is unknown; choose one of {', '.join(allowed)}")
