"""What is measured once for a whole image, so that its blocks agree."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from numpy.typing import NDArray

from napari_cosparse.core.mapping import Map, once
from napari_cosparse.core.operators import OperatorPair

from ._holes import without_gaps
from ._lattice import Lattice
from ._noise import FLOOR, estimate_noise
from ._recipe import groups_for
from ._scale import Scaled, Unit, scale_target
from ._settings import Settings


@dataclass(frozen=True)
class Scalars:
    """Ranges, noise and the like of a whole image.

    Attributes
    ----------
    unit : Unit
        Range of the target.
    limits : tuple of float
        Smallest and largest known sample, in ranges.
    noise : float
        Standard deviation of the samples' noise, in ranges; 0 for exact samples.
    guide : tuple of float, or None
        Low end and range of the guide; None if it is left out or constant.
    density : float
        K / m of the contract's noisy cost: weighted responses, where known samples have a say, for
        each of these.
    """

    unit: Unit
    limits: tuple[float, float]
    noise: float
    guide: tuple[float, float] | None
    density: float

    def to_json(self) -> dict[str, Any]:
        """Give the numbers as JSON values.

        Returns
        -------
        dict
        """
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Scalars:
        """Read what `to_json` gave.

        Parameters
        ----------
        values : dict
            JSON values.

        Returns
        -------
        Scalars
        """
        unit = values["unit"]
        lattice = None if unit["lattice"] is None else Lattice(**unit["lattice"])
        low, high = values["limits"]
        guide = values["guide"]
        return cls(
            Unit(unit["low"], unit["span"], lattice),
            (low, high),
            values["noise"],
            None if guide is None else (guide[0], guide[1]),
            values["density"],
        )


def measure(
    target: NDArray[Any],
    guide: tuple[float, float] | None,
    operators: OperatorPair,
    settings: Settings,
    factor: tuple[float, float],
    map_: Map = map,
) -> Scalars:
    """Measure a target as `prepare` does.

    Parameters
    ----------
    target : ndarray, shape (m1, m2)
        The whole target, or enough of its rows.
    guide : tuple of float, or None
        See `guide_range`.
    operators : OperatorPair
        The bank.
    settings : Settings
        Noise and invalid value.
    factor : tuple of float
        Distances of two samples, in guide pixels.
    map_ : callable
        Like the built-in `map`; who runs it may stop between two steps.

    Returns
    -------
    Scalars

    Raises
    ------
    InputError
        If the target has no known sample.
    """
    scaled = scale_target(target, settings.invalid, map_=map_)
    known = scaled.samples[scaled.known]
    bank = groups_for(operators, factor)
    pixels = bank.weight_sum * factor[0] * factor[1]
    return Scalars(
        unit=scaled.unit,
        limits=(float(known.min()), float(known.max())),
        noise=once(map_, noise_of, scaled, settings.noise),
        guide=guide if settings.guided else None,
        density=pixels * once(map_, without_gaps, scaled.known).sum() / known.size,
    )


def noise_of(scaled: Scaled, noise: float | None) -> float:
    """Noise of a target in ranges: as given, or estimated.

    Parameters
    ----------
    scaled : Scaled
        Samples.
    noise : float or None
        As given, in the target's unit.

    Returns
    -------
    float
    """
    if noise is not None:
        share = noise / scaled.span
        return share if share > FLOOR else 0.0
    return estimate_noise(scaled.samples, scaled.known, scaled.unit.step)
