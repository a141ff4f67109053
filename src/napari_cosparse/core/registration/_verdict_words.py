"""Words of verdicts: what they name, measure and advise, for readers who know none of the code."""

from __future__ import annotations

import numpy as np

MEASURE_NAMES = {  # as docs/register.md explains them
    "both": "edges and grey values together",
    "mutual": "edges alone (mutual co-sparsity)",
    "nmi": "grey values alone (mutual information)",
    "coupled": "the paper's coupled sparsity",
}
JUDGE = "turn on Advanced > Judge the result (verdict=True; no --no-verdict)"
CAPTION = "if that is a caption, a scale bar or a frame, mask it in both images"
ALLOW = (
    "flip it, or allow that (Advanced > Allow a mirror image; allow_reflection=True; "
    "--allow-reflection)"
)


def pixels(distance: float) -> str:
    """Word a distance.

    Parameters
    ----------
    distance : float
        In pixels.

    Returns
    -------
    str
    """
    return f"{distance:.2f} px" if distance < 10 else f"{distance:.0f} px"


def percent(share: float) -> str:
    """Word a share so that one below a limit of whole per cent is told to be below.

    Parameters
    ----------
    share : float
        0 to 1.

    Returns
    -------
    str
    """
    return f"{int(100 * share + 1e-9)}%"


def back_and_forth(measure: str, distance: float, limit: float) -> str:
    """Word what registering the other way round gave.

    Parameters
    ----------
    measure : {"both", "mutual", "coupled", "nmi"}
        The measure.
    distance : float
        From the answer to that of the backward run, in pixels; infinite if that found none.
    limit : float
        Up to which it is believed, in pixels.

    Returns
    -------
    str
        A sentence without its end.
    """
    told = f"by {MEASURE_NAMES[measure]}, "
    if not np.isfinite(distance):
        return f"{told}nothing fits if registered the other way round"
    away = pixels(distance)
    moved = f"agrees to {away}" if distance <= limit else f"lands {away} away"
    return f"{told}it {moved} if registered the other way round (limit {limit:.2g} px)"


def rival(margin: float) -> str:
    """Word the lead over the best place elsewhere.

    Parameters
    ----------
    margin : float
        Of an answer.

    Returns
    -------
    str
        A sentence without its end.
    """
    if margin >= 1:
        return "no other place fits"
    if margin < 0:
        return "another place fits better"
    return f"the next best place is {percent(margin)} worse"
