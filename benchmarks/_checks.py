"""Figures that the shipped pair has to reach, as lines of target, measured and verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from _methods import BICUBIC, DEFAULT, FIRST, OPENCV, UNGUIDED
from _peers import PEERS
from _printed import NETWORK
from _table import Row, find, printed_rows, relative

IMAGES = ("tsukuba", "venus", "teddy", "cones")
MOST: dict[tuple[str, int, str], tuple[float, ...]] = {
    ("paper", 2, "rmse"): (0.165, 0.040, 0.24, 0.27),
    ("paper", 4, "rmse"): (0.355, 0.108, 0.42, 0.62),
    ("paper", 4, "bad"): (0.85, 0.17, 2.4, 2.9),
    ("paper", 8, "rmse"): (0.57, 0.156, 0.66, 1.04),
    ("paper", 8, "bad"): (2.2, 0.3, 5.8, 5.6),
    ("network", 4, "rmse"): (0.25, 0.092, 0.38, 0.62),
    ("network", 8, "rmse"): (0.51, 0.15, 0.57, 0.96),
}
UNITS = {"rmse": "RMSE, px", "bad": "bad, %"}
LARGE = (4, 8)  # factors at which the default has to beat the others
NOT_VENUS = ("tsukuba", "teddy", "cones")
MOST_OVERSHOOT = 0.02
MOST_MISFIT = 1e-4


@dataclass(frozen=True)
class Check:
    """One line of the final table.

    Attributes
    ----------
    name : str
        What is checked.
    target, measured : float
        A bound, and the figure that it bounds.
    ok : bool
        Whether the bound holds.
    sign : str
        How the target reads, for example "<=".
    """

    name: str
    target: float
    measured: float
    ok: bool
    sign: str = "<="

    @classmethod
    def at_most(cls, name: str, target: float, measured: float) -> Check:
        """Check ``measured <= target``.

        Parameters
        ----------
        name : str
            What is checked.
        target, measured : float
            Bound and figure.

        Returns
        -------
        Check
        """
        return cls(name, target, measured, measured <= target)

    @classmethod
    def below(cls, name: str, target: float, measured: float) -> Check:
        """Check ``measured < target``.

        Parameters
        ----------
        name : str
            What is checked.
        target, measured : float
            Bound and figure.

        Returns
        -------
        Check
        """
        return cls(name, target, measured, measured < target, "<")

    @classmethod
    def at_least(cls, name: str, target: float, measured: float) -> Check:
        """Check ``measured >= target``.

        Parameters
        ----------
        name : str
            What is checked.
        target, measured : float
            Bound and figure.

        Returns
        -------
        Check
        """
        return cls(name, target, measured, measured >= target, ">=")

    def __str__(self) -> str:
        """One line of text."""
        verdict = "ok" if self.ok else "MISSED"
        target = f"{self.sign} {self.target:.4g}"
        return f"{self.name:62}{target:>12}{self.measured:>12.4g}  {verdict}"


def all_checks(rows: list[Row]) -> list[Check]:
    """Every check whose figures were measured.

    Parameters
    ----------
    rows : list of Row
        What was measured.

    Returns
    -------
    list of Check
    """
    return [
        check
        for row in rows
        if row.method == DEFAULT
        for part in (_figures(row), _better(row, rows), _network(row, rows), _limits(row))
        for check in part
    ]


def report(checks: Iterable[Check]) -> bool:
    """Print a table of checks.

    Parameters
    ----------
    checks : iterable of Check
        Its lines.

    Returns
    -------
    bool
        Whether all hold.
    """
    print(f"\n{'figures to reach':62}{'target':>12}{'measured':>12}")
    checks = list(checks)
    for check in checks:
        print(check)
    failed = sum(not check.ok for check in checks)
    print(f"{len(checks) - failed} of {len(checks)} hold")
    return not failed


def _name(row: Row, rest: str) -> str:
    return f"{row.protocol} x{row.factor} {rest}"


def _figures(row: Row) -> Iterator[Check]:
    """RMSE and bad pixels of each image."""
    for kind, unit in UNITS.items():
        bounds = MOST.get((row.protocol, row.factor, kind), ())
        for image, bound in zip(IMAGES, bounds, strict=False):  # no bounds: nothing to check
            if image in row.scores:
                name = _name(row, f"{image}: {unit}")
                yield Check.at_most(name, bound, row.figures(kind, [image])[0])


def _better(row: Row, rows: list[Row]) -> Iterator[Check]:
    """Mean RMSE below that of every rival; the whole set of images is needed."""
    if row.factor not in LARGE or set(row.scores) != set(IMAGES):
        return
    for rival in (FIRST, UNGUIDED, *(OPENCV + name for name in PEERS)):
        other = find(rows, row.protocol, row.factor, rival)
        if other is not None:
            name = _name(row, f"mean RMSE, px, against {rival}")
            means = (float(np.mean(part.figures("rmse"))) for part in (other, row))
            yield Check.below(name, *means)


def _network(row: Row, rows: list[Row]) -> Iterator[Check]:
    """RMSE below the network's in the geometric mean of three images."""
    bicubic = find(rows, row.protocol, row.factor, BICUBIC)
    whole = set(row.scores) == set(IMAGES)
    if row.protocol != "network" or row.factor not in LARGE or bicubic is None or not whole:
        return
    for printed in printed_rows("network", row.factor, IMAGES):
        method = next(iter(NETWORK[row.factor]))
        name = _name(row, f"RMSE of bicubic without Venus, against {method}")
        means = (relative(part, bicubic, "rmse", NOT_VENUS) for part in (printed, row))
        yield Check.below(name, *means)


def _limits(row: Row) -> Iterator[Check]:
    """Bounds of the result and exact samples, on every image."""
    overshoot, misfit = max(row.figures("overshoot")), max(row.figures("misfit"))
    yield Check.at_most(_name(row, "largest overshoot, of the range"), MOST_OVERSHOOT, overshoot)
    yield Check.below(_name(row, "largest misfit, of the range"), MOST_MISFIT, misfit)
