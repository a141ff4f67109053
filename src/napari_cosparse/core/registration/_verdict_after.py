"""What is asked once more: of two answers that are not trusted, and of one that is."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

from ._answer import Answer
from ._concentration import FEW
from ._motions import distance
from ._scene import Scene
from ._verdict import LIMIT, Verdict, hopeless, limit_of, may_repeat
from ._verdict_words import CAPTION, MEASURE_NAMES, percent, pixels

LONE = 0.06  # textures and lattices that repeat lead by .05 at most, other scenes by .08 at least
MEASURES_APART = 3.0  # pixels: nearer answers of two measures, searched apart, are one


def in_few_places(verdict: Verdict, share: float, rest: str) -> Verdict:
    """Take trust back where most that agrees lies in few places and the rest contradicts.

    Parameters
    ----------
    verdict : Verdict
        Of an answer that is trusted so far.
    share : float
        Share of the agreement in the best twentieth of the picture; see `elsewhere`.
    rest : str
        How the picture contradicts without it; empty if it does not.

    Returns
    -------
    Verdict
    """
    if not rest:
        return verdict
    where = f"{percent(min(share, 1))} of what agrees lies in {percent(FEW)} of the picture"
    return replace(verdict, trusted=False, reason=f"{where}, but {rest}", note="", way=CAPTION)


def one_of_many(verdict: Verdict, lead: float, away: float) -> Verdict:
    """Take trust back where another shift fits as well.

    Parameters
    ----------
    verdict : Verdict
        Of an answer that is trusted so far.
    lead : float
        Over the best other shift; see `repeated`.
    away : float
        How far that is, in pixels.

    Returns
    -------
    Verdict
    """
    if not lead < LONE:
        return verdict
    reason = (
        f"the images repeat themselves: {away:.0f} px away another place is only "
        f"{percent(max(lead, 0))} worse (limit {LONE:.0%})"
    )
    way = "give a start or landmarks, and compare by eye"  # backward runs are misled likewise
    return replace(verdict, trusted=False, reason=reason, note="", way=way)


def agreed(scene: Scene, clearer: Answer, other: Answer) -> Verdict | None:
    """Believe two measures that find one place, each by a search of its own.

    Parameters
    ----------
    scene : Scene
        The pair.
    clearer, other : Answer
        Of edges and grey values together, and of grey values alone, in either order.

    Returns
    -------
    Verdict or None
        None where they differ, where one of them found no start, where a start elsewhere beats the
        clearer one, or where a repeated pattern may deceive both.
    """
    limit = limit_of(scene) * MEASURES_APART / LIMIT
    if any(hopeless(a) is not None or may_repeat(scene, a) for a in (clearer, other)):
        return None
    if isnan(other.margin) or not clearer.margin >= 0:
        return None  # NaN: no start was found, both only descended from where the images lay
    apart = distance(scene, clearer.tau, other.tau)
    if not apart <= limit:
        return None
    names = f"{MEASURE_NAMES['both']} and {MEASURE_NAMES['nmi']}"
    where = f"{pixels(apart)} apart (limit {limit:.2g} px)"
    reason = f"{names} find the same place in two searches, {where}"
    return Verdict(trusted=True, reason=reason, doubtful=True)
