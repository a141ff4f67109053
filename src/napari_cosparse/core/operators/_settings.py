"""Settings of the learning, checked in one place."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from napari_cosparse.core.errors import InputError

Two = tuple[float, float]
BLOCK = 256
LEAST_BLOCK = 32


@dataclass(frozen=True)
class Settings:
    """Parameters of `learn_operators`; see there."""

    side: int
    atoms: int
    samples: int
    nu: float
    kappa: Two
    mu: Two
    thresholds: Two
    symmetries: bool
    invalid: tuple[float | None, float | None]
    iterations: int
    seed: int
    block: int = BLOCK  # side of the parts of a large image that are looked at, in pixels

    def __post_init__(self) -> None:
        """Refuse values that the cost is not defined for."""
        for name in (*PAIRS, "invalid"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name, least in (("side", 2), ("samples", 1), ("iterations", 1), ("seed", 0)):
            _whole(name, getattr(self, name), least)
        _whole("atoms", self.atoms, 1)
        _whole("block", self.block, max(LEAST_BLOCK, 2 * self.side))
        if self.atoms < self.side**2 - 1:
            raise InputError(
                f"atoms {self.atoms} for patches of side {self.side}: with fewer than "
                f"{self.side**2 - 1} atoms (the dimension of patches without mean) the rank "
                f"penalty is infinite. Choose at least {self.side**2}, or smaller patches"
            )
        if not (np.isfinite(self.nu) and self.nu > 0):
            raise InputError(f"nu {self.nu} must be positive and finite")
        for name in ("kappa", "mu", "thresholds"):
            _two(name, getattr(self, name))
        if len(self.invalid) != 2:
            raise InputError(f"invalid {self.invalid} must be two values (or None), for U and V")

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        values = asdict(self)
        if self.block == BLOCK:  # then it need not be told
            del values["block"]
        return (
            values
            | {name: list(getattr(self, name)) for name in PAIRS}
            | {"invalid": [_finite(value) for value in self.invalid]}
        )


PAIRS = ("kappa", "mu", "thresholds")


def _whole(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} {value!r} must be a whole number of at least {least}")


def _two(name: str, values: Two) -> None:
    if len(values) != 2 or not all(np.isfinite(value) and value >= 0 for value in values):
        raise InputError(f"{name} {values} must be two numbers of at least 0, for U and V")


def _finite(value: float | None) -> float | None:
    """NaN always means invalid and JSON has no word for it."""
    return float(value) if value is not None and np.isfinite(value) else None
