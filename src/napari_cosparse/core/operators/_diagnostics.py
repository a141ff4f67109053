"""What a learned pair is like, and whether the paper's claim holds for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._penalties import Matrix, complement_basis
from ._products import steady_product

Rates = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Quality of a coupled pair on a set of patch pairs.

    Atom j counts as in the co-support of a normalised patch (zero mean, standard deviation 1) if
    the size of its response is below `threshold` = 1 / sqrt(nu), where the sparsity measure
    log(1 + nu x^2) turns from quadratic to logarithmic.

    Attributes
    ----------
    condition_u, condition_v : float
        Condition number of each operator on the complement of the constants; 1 is tight.
    coherence_u, coherence_v : float
        Largest product of two different rows, in absolute value.
    threshold : float
        Response below which an atom is in the co-support.
    activity_u, activity_v : ndarray, shape (k,)
        Share of the patches that have atom j in the co-support, Pr(j in cosupp).
    matched : ndarray, shape (k,)
        Pr(j in cosupp V | j in cosupp U), eq. (cond_prob), NaN if j never is in that of U.
    shuffled : ndarray, shape (k,)
        The same with the V patches in random order, which destroys the coupling.
    """

    condition_u: float
    condition_v: float
    coherence_u: float
    coherence_v: float
    threshold: float
    activity_u: Rates
    activity_v: Rates
    matched: Rates
    shuffled: Rates

    def summary(self) -> dict[str, float | None]:
        """Return the record's numbers and the means of its rates, as JSON values."""
        numbers = {key: value for key, value in asdict(self).items() if key not in RATES}
        return numbers | {key: _mean(getattr(self, key)) for key in RATES}

    def to_json(self) -> dict[str, Any]:
        """Return the whole record as JSON values, with the mean of each rate beside it."""
        rates = {key: [_plain(rate) for rate in getattr(self, key)] for key in RATES}
        means = {f"{key}_mean": _mean(getattr(self, key)) for key in RATES}
        return (
            {key: value for key, value in asdict(self).items() if key not in RATES} | rates | means
        )


RATES = ("activity_u", "activity_v", "matched", "shuffled")


def diagnose(
    u: Matrix,
    v: Matrix,
    patches_u: NDArray[np.float32],
    patches_v: NDArray[np.float32],
    *,
    nu: float,
    rng: np.random.Generator,
) -> Diagnostics:
    """Measure a coupled pair on a set of patch pairs.

    Parameters
    ----------
    u, v : ndarray, shape (k, n_u) and (k, n_v), float64
        The operators.
    patches_u, patches_v : ndarray, shape (n_u, M) and (n_v, M), float32
        Normalised patches, one pair a column.
    nu : float
        Weight of the squared responses in learning.
    rng : numpy.random.Generator
        Source of the shuffle.

    Returns
    -------
    Diagnostics
        The measurements.
    """
    threshold = 1 / np.sqrt(nu)
    zero_u, zero_v = _cosupport(u, patches_u, threshold), _cosupport(v, patches_v, threshold)
    return Diagnostics(
        condition_u=_condition(u),
        condition_v=_condition(v),
        coherence_u=_coherence(u),
        coherence_v=_coherence(v),
        threshold=float(threshold),
        activity_u=zero_u.mean(axis=1),
        activity_v=zero_v.mean(axis=1),
        matched=_conditional(zero_u, zero_v),
        shuffled=_conditional(zero_u, rng.permutation(zero_v, axis=1)),
    )


def _cosupport(
    operator: Matrix, patches: NDArray[np.float32], threshold: float
) -> NDArray[np.bool_]:
    """Whether atom j (row) is in the co-support of patch i (column)."""
    responses = steady_product(patches.T, operator.T.astype(np.float32)).T
    return np.asarray(np.abs(responses) < threshold)


def _condition(operator: Matrix) -> float:
    return float(np.linalg.cond(steady_product(operator, complement_basis(operator.shape[1]))))


def _coherence(operator: Matrix) -> float:
    return float(np.abs(np.triu(steady_product(operator, operator.T), 1)).max())


def _conditional(given: NDArray[np.bool_], zero: NDArray[np.bool_]) -> Rates:
    """Share of the patches with `given` that also have `zero`, for each atom."""
    number = given.sum(axis=1)
    both = (given & zero).sum(axis=1)
    rates: Rates = np.full(len(number), np.nan)
    np.divide(both, number, out=rates, where=number > 0)
    return rates


def _mean(rates: Rates) -> float | None:
    """Mean of the rates that exist."""
    known = rates[np.isfinite(rates)]
    return float(known.mean()) if known.size else None


def _plain(rate: float) -> float | None:
    """JSON has no NaN."""
    return float(rate) if np.isfinite(rate) else None
