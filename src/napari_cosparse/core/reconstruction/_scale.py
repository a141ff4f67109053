"""Ranges and colour: bring both modalities to one scale, so that a*x + b changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.mapping import Map, once
from napari_cosparse.core.ranges import robust_range
from napari_cosparse.core.types import Plane

from ._lattice import Lattice, find_lattice

MOST_CHANNELS = 64


@dataclass(frozen=True)
class Unit:
    """The range of a target, in which the solver measures.

    Attributes
    ----------
    low, span : float
        Low end and width of the range; in steps of the lattice if there is one.
    lattice : Lattice or None
        Levels that all samples lie on.
    """

    low: float
    span: float
    lattice: Lattice | None = None

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Unit:
        """Find the unit of a target's known samples, shape (n,)."""
        lattice = find_lattice(values)
        return cls(*robust_range(values if lattice is None else lattice.count(values)), lattice)

    def ranges(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bring samples to ranges, shape (n,)."""
        numbers = values if self.lattice is None else self.lattice.count(values)
        scaled: NDArray[np.float64] = (numbers - self.low) / self.span
        return scaled

    @property
    def ends(self) -> tuple[float, float]:
        """Low end and width of the range, in the target's unit."""
        if self.lattice is None:
            return self.low, self.span
        return self.lattice.first + self.lattice.step * self.low, self.lattice.step * self.span

    @property
    def step(self) -> float:
        """Distance of two levels, in ranges; 0 without a lattice."""
        return 0.0 if self.lattice is None else 1 / self.span


@dataclass(frozen=True)
class Scaled:
    """A target in units of its range.

    Attributes
    ----------
    samples : ndarray, shape (m1, m2), float32
        (y - low) / span; 0 where unknown.
    known : ndarray, shape (m1, m2), bool
        Samples that count.
    unit : Unit
        What they are measured in.
    """

    samples: Plane
    known: NDArray[np.bool_]
    unit: Unit

    @property
    def low(self) -> float:
        """Low end of the range, in the target's unit."""
        return self.unit.ends[0]

    @property
    def span(self) -> float:
        """Width of the range, in the target's unit."""
        return self.unit.ends[1]

    def restore(self, image: Plane) -> Plane:
        """Bring an image back to the target's unit.

        Parameters
        ----------
        image : ndarray, shape (h, w), float32
            In ranges.

        Returns
        -------
        ndarray, shape (h, w), float64
            In the target's unit.
        """
        return self.low + self.span * image.astype(np.float64)


def nothing_known(shape: tuple[int, ...], invalid: float | None) -> str:
    """Say that a target has no known sample.

    Parameters
    ----------
    shape : tuple of int
        Of the target.
    invalid : float or None
        Value that means unknown.

    Returns
    -------
    str
    """
    kinds, check = ["NaN", "infinite", "without weight"], "whether this is the right target"
    if invalid is not None:
        kinds.append(f"equal to the invalid value {invalid}")
        check = "the invalid value"
    all_are = f"{', '.join(kinds[:-1])} or {kinds[-1]}"
    return f"target of shape {shape} has no known sample: all are {all_are}. Check {check}."


def scale_target(
    target: ArrayLike,
    invalid: float | None = None,
    usable: NDArray[np.bool_] | None = None,
    unit: Unit | None = None,
    map_: Map = map,
) -> Scaled:
    """Find the known samples of a target and bring them to units of its range.

    Parameters
    ----------
    target : array_like, shape (m1, m2)
        Any real numeric type and unit.
    invalid : float or None
        Value that means unknown; NaN and infinities always do.
    usable : ndarray, shape (m1, m2), bool, optional
        Samples that may count; the others are unknown whatever their value.
    unit : Unit, optional
        That of a larger target of which this one is a part; its own if None.
    map_ : callable
        Like the built-in `map`; who runs it may stop between two steps.

    Returns
    -------
    Scaled

    Raises
    ------
    InputError
        If the target is not a plane of real numbers, has no known sample, or numbers that float32
        cannot hold.
    """
    samples = as_numbers(target, "target")
    if samples.ndim != 2 or 0 in samples.shape:
        many = "Pass the planes one by one; upsample_to_store takes stacks and colours"
        few = "Pass an array of at least one row and one column"
        raise InputError(
            f"target has shape {samples.shape}; it must be one plane (rows, columns). "
            f"{few if samples.ndim < 2 or 0 in samples.shape else many}"
        )
    known = np.isfinite(samples) & (True if usable is None else usable)
    if invalid is not None:
        known &= ~_equal(np.asarray(target), samples, invalid)
    if not known.any():
        raise InputError(nothing_known(samples.shape, invalid))
    unit = unit or once(map_, Unit.of, samples[known])
    span = unit.ends[1]
    largest, limits = float(np.abs(samples[known]).max()), np.finfo(np.float32)
    if largest > float(limits.max) or span < float(limits.tiny):
        raise InputError(
            f"target has values up to {largest:g} and a range of {span:g}, which float32 cannot "
            "hold; change its unit"
        )
    plane = np.zeros(samples.shape, np.float32)
    plane[known] = unit.ranges(samples[known])
    return Scaled(plane, known, unit)


def _equal(target: NDArray[Any], samples: NDArray[np.float64], value: float) -> NDArray[np.bool_]:
    """Find samples that equal a value, as a number or once rounded to the target's own type."""
    found: NDArray[np.bool_] = samples == value
    if target.dtype.kind == "f":
        with np.errstate(over="ignore"):
            found |= target == target.dtype.type(value)
    return found


def as_array(image: ArrayLike, name: str) -> NDArray[Any]:
    """Turn an image into an array of its own type, refusing what is not a real number.

    Parameters
    ----------
    image : array_like
        Any real numeric or boolean type; a mask is kept.
    name : str
        What to call it in an error.

    Returns
    -------
    ndarray

    Raises
    ------
    InputError
        If the type is not a real number.
    """
    try:
        array = image if isinstance(image, np.ma.MaskedArray) else np.asarray(image)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths; it must be an array") from None
    if array.dtype.kind not in "buif":
        raise InputError(
            f"{name} has type {array.dtype}; it must hold real numbers (integer, float or bool)"
        )
    return array


def as_numbers(image: ArrayLike, name: str) -> NDArray[np.float64]:
    """Turn an image into float64, refusing what is not a real number.

    Parameters
    ----------
    image : array_like
        Any real numeric or boolean type; masked elements become NaN.
    name : str
        What to call it in an error.

    Returns
    -------
    ndarray, float64

    Raises
    ------
    InputError
        If the type is not a real number.
    """
    numbers = as_array(image, name).astype(np.float64)
    return numbers.filled(np.nan) if isinstance(numbers, np.ma.MaskedArray) else numbers


def check_guide_shape(shape: tuple[int, ...]) -> None:
    """Refuse a guide that is not a plane or a plane of channels.

    Parameters
    ----------
    shape : tuple of int
        Shape of the guide.

    Raises
    ------
    InputError
        If it is something else.
    """
    fine = (
        len(shape) in (2, 3) and 0 not in shape and (len(shape) == 2 or shape[2] <= MOST_CHANNELS)
    )
    if not fine:
        raise InputError(
            f"guide has shape {shape}; it must be (rows, columns) or (rows, columns, channels) "
            f"with at most {MOST_CHANNELS} channels. Pass one plane of a stack."
        )
