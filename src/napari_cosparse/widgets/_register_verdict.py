"""What the registration panel says about a result: whether to trust it, why, what helps."""

from collections.abc import Mapping
from math import inf, isfinite
from typing import Any

import numpy as np

from napari_cosparse.core.registration import ALLOW, JUDGE

from ._register_text import motion_text

MASK = "mask what only one of the images shows"
HELP = {  # in the words of the panel, for what the core advises in those of its keywords
    "search": f"drag the layer near its place or set points (see Start), or {MASK}",
    "place": f"drag the layer nearer, search everywhere, or {MASK}",
    "points": f"check the order of the points and set more of them, or {MASK}",
    "good points": f"search everywhere, or {MASK}",
}
START = "give a"  # how the core's advice begins that the above stands for
MORE = {  # what it may end with
    "scattered holes": ", or fill scattered holes",
    "compare by eye": ", and compare by eye whatever comes of it",
}
WORDS = {  # the core's advice also names keywords and options, for other readers
    JUDGE: "turn on Advanced > Judge the result",
    ALLOW: "flip it, or tick Advanced > Allow a mirror image",
}
ROUGHLY = 0.1  # of what a curve spans: the ends are summed over other pixels than the steps
NOTHING = "there is nothing to register"


def verdict(
    found: Any,  # noqa: ANN401 a Registration
    start: str = "search",
    *,
    flipped: bool = False,
) -> str:
    """Say with its numbers whether a registration is to be trusted.

    Parameters
    ----------
    found : Registration
        What the core returned.
    start : {"search", "place", "points", "good points"}
        How it began; good points are those that the answer brings onto one another.
    flipped : bool
        As `motion_text` takes it.

    Returns
    -------
    str
        The verdict, then the motion; where it is not trusted, what decided and what helps.
    """
    if not found.trusted:
        return _not_trusted(found, start)
    because = panel_words(found.because)
    numbers = _numbers(found, because)
    if isfinite(found.agreement) and "of the starts" not in because:
        numbers.append(f"{found.agreement:.0%} of the starts end here")
    if isfinite(found.predicted_error):
        numbers.append(f"error about {found.predicted_error:.2g} px")
    if isfinite(found.cost_before) and isfinite(found.cost_after):
        numbers.append(f"cost {found.cost_before:.4g} to {found.cost_after:.4g}")
    joined = f"; {', '.join(numbers)}" if because.endswith(")") else f" ({', '.join(numbers)})"
    known = joined if numbers else ""
    told = motion_text(found.matrix, found.moving_shape, flipped=flipped)
    return f"Trusted: {because}{known}. {told}"


def cost_curve(found: Any) -> list[float]:  # noqa: ANN401 a Registration
    """Give the costs from where the layers lay to the answer, as far as they can be compared.

    Parameters
    ----------
    found : Registration
        What the core returned.

    Returns
    -------
    list of float
        Before, between and after; only the ends where the steps between them fell below the
        last one, as those do that saw the moving image mirrored or another part of it.
    """
    ends = [float(found.cost_before), float(found.cost_after)]
    steps = [float(cost) for cost in found.history]
    costs = [ends[0], *steps, ends[1]]
    span = np.nanmax(costs) - np.nanmin(costs)
    return ends if min(steps, default=inf) < ends[1] - ROUGHLY * span else costs


def panel_words(because: object) -> str:
    """Say a reason of the core in the words of the panel.

    Parameters
    ----------
    because : str
        Of a registration.

    Returns
    -------
    str
        Without its full stop.
    """
    told = str(because).rstrip(".")
    for theirs, ours in WORDS.items():
        told = told.replace(theirs, ours)
    return told


def is_nothing(found: Any) -> bool:  # noqa: ANN401 a Registration
    """Say whether nothing was compared: an image is constant or unknown.

    Parameters
    ----------
    found : Registration
        What the core returned.

    Returns
    -------
    bool
    """
    return not found.trusted and NOTHING in found.because


def details(found: Any, *, flipped: bool = False) -> str:  # noqa: ANN401 a Registration
    """Give all that is known of a result that is not trusted, for those who want to know.

    Parameters
    ----------
    found : Registration
        What the core returned.
    flipped : bool
        As `motion_text` takes it.

    Returns
    -------
    str
        The whole reason with its numbers, then the motion; empty where there is no more to say.
    """
    if found.trusted or is_nothing(found):
        return ""
    reason = panel_words(found.because.removesuffix(f": {found.way}"))
    told = motion_text(found.matrix, found.moving_shape, flipped=flipped)
    return f"In full: {'; '.join([reason, *_numbers(found, reason)])}. {told}"


def _not_trusted(found: Any, start: str) -> str:  # noqa: ANN401 a Registration
    """Say what decided, and what helps; how sure a wrong place is would say nothing."""
    if NOTHING in found.because:
        return f"Not trusted: {panel_words(found.because)}."
    usual = found.way.startswith(START) or not found.way
    more = "".join(words for end, words in MORE.items() if found.way.endswith(end))
    helps = HELP[start] + more if usual else panel_words(found.way)
    return f"Not trusted: {panel_words(found.reason)}. What helps: {helps}."


def _numbers(found: Any, because: str) -> list[str]:  # noqa: ANN401 a Registration
    """Give the figures that are known and not yet told: constant images have none."""
    numbers = []
    if isfinite(found.overlap) and "covered" not in because:
        numbers.append(f"{found.overlap:.0%} of the fixed image covered")
    edges = found.measure != "nmi"  # of grey values alone the lead of edges says nothing
    if edges and isfinite(found.margin) and "place" not in because:
        numbers.append(_lead(found.margin))
    return numbers


def _lead(margin: float) -> str:
    if margin >= 1:
        return "no other place fits"
    return f"next best place {margin:.0%} worse" if margin >= 0 else "another place fits better"


def judgement(record: Mapping[str, Any], source: str) -> str:
    """Say what is known of a transform that was not found just now.

    Parameters
    ----------
    record : mapping
        May have ``trusted`` and ``because``.
    source : str
        Who said so.

    Returns
    -------
    str
        A part of a sentence; without a reason nobody has judged it.
    """
    trusted, because = bool(record.get("trusted", True)), panel_words(record.get("because", ""))
    if trusted and not because:
        return "not judged"
    head = "trusted" if trusted else "not trusted"
    return f"{head}, says {source}" + (f": {because}" if because else "")
