"""Scores, rows and their text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np
from _methods import Case, Method
from _printed import PRINTED
from numpy.typing import NDArray

BAD_PIXEL = 1.0  # error in disparity pixels
LEAST_BAD = 0.01  # percent: the last printed digit, so that ratios exist where none is bad
WIDTH = 30


@dataclass(frozen=True)
class Score:
    """How one result compares with the truth and with its samples.

    Attributes
    ----------
    rmse : float or None
        In disparity pixels; None where a printed table has no figure.
    bad : float or None
        Pixels with an error above 1 px, in percent.
    seconds : float or None
        Time of the run; None for a printed figure.
    misfit : float or None
        Largest ``|Phi s - y|`` as a share of the samples' range (1-99 % quantiles).
    overshoot : float or None
        How far the result leaves the samples, as a share of the same range.
    """

    rmse: float | None
    bad: float | None
    seconds: float | None = None
    misfit: float | None = None
    overshoot: float | None = None


@dataclass(frozen=True)
class Row:
    """The scores of one method at one factor under one protocol.

    Attributes
    ----------
    protocol : str
        Name of the protocol.
    factor : int
        Distance of two samples, in pixels.
    method : str
        As printed.
    scores : mapping
        By name of the image.
    """

    protocol: str
    factor: int
    method: str
    scores: Mapping[str, Score]

    def figures(self, kind: str, images: Iterable[str] | None = None) -> list[float]:
        """Collect one figure of every image.

        Parameters
        ----------
        kind : str
            Attribute of `Score`.
        images : iterable of str, optional
            Which; all if None.

        Returns
        -------
        list of float
            Empty if a figure is missing.
        """
        names = list(self.scores) if images is None else list(images)
        values = [getattr(self.scores.get(name), kind, None) for name in names]
        found = [float(value) for value in values if value is not None]
        return found if len(found) == len(values) else []


def measure(method: Method, case: Case) -> Score:
    """Run a method and score what it returns.

    Parameters
    ----------
    method : Method
        What to run, and how often.
    case : Case
        On what.

    Returns
    -------
    Score
    """
    times = []
    for _ in range(method.repeats):
        began = perf_counter()
        image = method.run(case)
        times.append(perf_counter() - began)
    return score(image, case, median(times))


def score(image: NDArray[np.float32], case: Case, seconds: float) -> Score:
    """Compare an image with the truth and with the samples.

    Parameters
    ----------
    image : ndarray, shape (N1, N2), float32
        Result, in disparity pixels.
    case : Case
        Gives truth, samples and the pixels that count.
    seconds : float
        Time that it took.

    Returns
    -------
    Score
    """
    result, samples = image.astype(np.float64), case.samples.astype(np.float64)
    error = np.abs(result - case.scene.truth)[case.protocol.scored(case.scene)]
    low, high = np.quantile(samples, (0.01, 0.99))
    span = high - low or np.ptp(samples) or 1.0
    again = case.protocol.reduce(result, case.factor)
    beyond = max(result.max() - samples.max(), samples.min() - result.min(), 0.0)
    return Score(
        rmse=float(np.sqrt(np.square(error).mean())),
        bad=float(100 * np.mean(error > BAD_PIXEL)),
        seconds=seconds,
        misfit=float(np.abs(again - samples).max() / span),
        overshoot=float(beyond / span),
    )


def printed_rows(protocol: str, factor: int, images: Iterable[str]) -> list[Row]:
    """Rows that others printed.

    Parameters
    ----------
    protocol : str
        Name of the protocol.
    factor : int
        Distance of two samples, in pixels.
    images : iterable of str
        Which of Tsukuba, Venus, Teddy, Cones to keep.

    Returns
    -------
    list of Row
        Empty where nothing was printed.
    """
    order = ("tsukuba", "venus", "teddy", "cones")
    rows = []
    for method, (rmse, bad) in PRINTED[protocol].get(factor, {}).items():
        scores = dict(zip(order, map(Score, rmse, bad), strict=True))
        kept = {name: scores[name] for name in images}
        rows.append(Row(protocol, factor, f"printed: {method}", kept))
    return rows


def relative(row: Row, bicubic: Row, kind: str, images: Iterable[str] | None = None) -> float:
    """Geometric mean over the images of a figure relative to bicubic's.

    Parameters
    ----------
    row, bicubic : Row
        Of one protocol and factor.
    kind : {"rmse", "bad"}
        Which figure; bad pixels count as at least 0.01 %.
    images : iterable of str, optional
        Which; all if None.

    Returns
    -------
    float
        NaN if a figure is missing.
    """
    least = LEAST_BAD if kind == "bad" else 0.0
    above, below = (np.maximum(part.figures(kind, images), least) for part in (row, bicubic))
    if len(above) != len(below) or not len(above):
        return float("nan")
    return float(np.exp(np.mean(np.log(above) - np.log(below))))


def head(images: Iterable[str]) -> str:
    """Head of a table.

    Parameters
    ----------
    images : iterable of str
        Names of the columns.

    Returns
    -------
    str
        Two lines.
    """
    names = [name[:7].capitalize() for name in images]
    columns = "".join(f"{name:>8}" for name in names)
    width = 8 * len(names)
    over = f"{'':{WIDTH}}{'RMSE, px':>{width}} {'bad pixels, %':>{width}} {'of bicubic':>14}"
    return f"{over}\n{'':{WIDTH}}{columns} {columns} {'RMSE':>7}{'bad':>7}{'s':>8}"


def line(row: Row, bicubic: Row | None) -> str:
    """One row as text.

    Parameters
    ----------
    row : Row
        What to print.
    bicubic : Row or None
        What the last columns relate to.

    Returns
    -------
    str
        One line; "-" where there is no figure.
    """
    scores = row.scores.values()
    rmse = "".join(f"{_number(score.rmse, 3):>8}" for score in scores)
    bad = "".join(f"{_number(score.bad, 2):>8}" for score in scores)
    ratios = "".join(
        f"{_number(None if bicubic is None else relative(row, bicubic, kind), 3):>7}"
        for kind in ("rmse", "bad")
    )
    seconds = row.figures("seconds")
    mean = _number(float(np.mean(seconds)) if seconds else None, 2)
    return f"{row.method:{WIDTH}}{rmse} {bad} {ratios}{mean:>8}"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None or np.isnan(value) else f"{value:.{digits}f}"


def find(rows: Iterable[Row], protocol: str, factor: int, method: str) -> Row | None:
    """Row of a method.

    Parameters
    ----------
    rows : iterable of Row
        Where to look.
    protocol : str
        Name of the protocol.
    factor : int
        Distance of two samples, in pixels.
    method : str
        As printed.

    Returns
    -------
    Row or None
    """
    for row in rows:
        if (row.protocol, row.factor, row.method) == (protocol, factor, method):
            return row
    return None
