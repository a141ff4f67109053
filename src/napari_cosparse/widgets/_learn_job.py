"""From pairs of layers to the learning that a worker runs, and what is said of its result."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
from napari.layers import Image

from napari_cosparse import api
from napari_cosparse.core.errors import InputError
from napari_cosparse.core.operators import Learned
from napari_cosparse.core.planes import plane_name
from napari_cosparse.core.progress import Progress
from napari_cosparse.layers import Source, grid_of, match_stacks, place

from ._configure import threads
from ._runner import Steps
from ._text import NAMED

HALF_A_PIXEL = 0.5
NO_PATCH = "all patches are constant, unknown or flatter than the thresholds"


def check_registered(u: Image, v: Image, levels: tuple[int, int] = (0, 0)) -> None:
    """Refuse pairs that are not pixel on pixel.

    Parameters
    ----------
    u, v : napari.layers.Image
        Layers of the two modalities.
    levels : tuple of int
        Their pyramid levels that are read.

    Raises
    ------
    InputError
        They are one layer, or differ in size or place.
    """
    if u is v:
        raise InputError(f"{u.name!r} is chosen as U and as V; choose two layers.")
    grids = grid_of(v, levels[1]), grid_of(u, levels[0])
    found = place(*grids) if grids[0].shape == grids[1].shape else None
    if (
        found is None
        or found.transform is not None
        or found.factor != (1.0, 1.0)
        or max(map(abs, found.origin)) > HALF_A_PIXEL
    ):
        sizes = " and ".join(f"{g.shape[0]} x {g.shape[1]}" for g in reversed(grids))
        raise InputError(
            f"{u.name!r} and {v.name!r} ({sizes} pixels) do not lie on one another pixel by pixel: "
            "register them first, with the result resampled onto the fixed layer."
        )


def learning(
    sources: list[tuple[Source, Source]],
    keywords: dict[str, Any],
    cancelled: Callable[[], bool] | None = None,
) -> Steps:
    """Prepare a run; the pixels are read when it starts, in the worker, of large layers in parts.

    Parameters
    ----------
    sources : list of tuple of Source
        Pixels of U and V of each pair; stacks give one pair a plane.
    keywords : dict
        Of `learn_operators`.
    cancelled : callable, optional
        Asked whether to stop.

    Returns
    -------
    callable
        Makes the generator of `Progress` that returns `Learned`.
    """

    def steps() -> Generator[Progress, None, Learned]:
        yield Progress("Reading the layers", 0, 0)
        pairs = [
            (u.lazy(ours), v.lazy(theirs))
            for u, v in sources
            for ours, theirs in match_stacks(u, v).pairs()
        ]
        options: dict[str, Any] = {"scheduler": "threads", "threads": threads()}
        return (yield from api.learn_steps(pairs, cancelled=cancelled, **options, **keywords))

    return steps


def diagnostics_text(summary: dict[str, float | None]) -> str:
    """Say what was measured of a pair.

    Parameters
    ----------
    summary : dict
        As `Diagnostics.summary` gives it.

    Returns
    -------
    str
        Lines.
    """
    shares = ("matched", "shuffled", "activity_u", "activity_v")
    forms = {name: ".1%" if name in shares else ".3g" for name in summary}
    told = {n: "unknown" if v is None else f"{v:{forms[n]}}" for n, v in summary.items()}
    matched, shuffled = summary["matched"], summary["shuffled"]
    told["times"] = f"{matched / shuffled:.2f}" if matched and shuffled else "unknown"
    return (
        "Coupling: where an atom of U is silent (near 0), its partner in V is too on {matched} of "
        "the patches, {times} times as often as in shuffled pairs (1: not coupled).\n"
        "Atoms are silent on {activity_u} of the patches in U, {activity_v} in V.\n"
        "Most alike two atoms: {coherence_u} in U, {coherence_v} in V (1: the same).\n"
        "Condition: {condition_u} of U, {condition_v} of V (1: all structures are seen alike; "
        "large: some hardly)."
    ).format(**told)


def repeated_text(pairs: Sequence[tuple[Image, Image]]) -> str:
    """Say which pairs are chosen more than once.

    Parameters
    ----------
    pairs : sequence of tuple of napari.layers.Image
        Layers of U and V.

    Returns
    -------
    str
        Sentences; empty if there are none.
    """
    first = {pair: number for number, pair in reversed(list(enumerate(pairs, 1)))}
    again = [(n, first[pair]) for n, pair in enumerate(pairs, 1) if first[pair] != n]
    return " ".join(f"Pair {n} is pair {m} again, and counts once more." for n, m in again)


def plane_names(sources: Sequence[tuple[Source, Source]]) -> list[tuple[str, str]]:
    """Name the image pairs that are learned from, in their order.

    Parameters
    ----------
    sources : sequence of tuple of Source
        Pixels of U and V of each pair; stacks give one image pair a plane.

    Returns
    -------
    list of tuple of str
        The layers, and the name of the plane; empty for single planes.
    """
    return [
        (f"{u.name!r} with {v.name!r}", plane_name(index))
        for u, v in sources
        for index in np.ndindex(*match_stacks(u, v).shape)
    ]


def skipped_text(skipped: Sequence[int], names: Sequence[tuple[str, str]]) -> str:
    """Say which image pairs were not learned from, and why.

    Parameters
    ----------
    skipped : sequence of int
        Their numbers, from 1, as `Learned` has them.
    names : sequence of tuple of str
        As `plane_names` gives them.

    Returns
    -------
    str
        A sentence; empty if there are none.
    """
    planes: dict[str, list[str]] = {}
    for number in skipped:
        layers, index = names[number - 1]
        planes.setdefault(layers, []).append(index)
    parts = [_planes_of(layers, found) for layers, found in planes.items()]
    return f"Left out, because {NO_PATCH}: {'; '.join(parts)}." if parts else ""


def _planes_of(layers: str, found: list[str]) -> str:
    """Name planes of a pair; the first few of many."""
    if not any(found):
        return layers
    named = ", ".join(found[:NAMED])
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"plane{'s' * (len(found) > 1)} {named}{more} of {layers}"


def coupling_lines(outcome: Learned) -> dict[str, list[float]]:
    """Rates of the coupling, for the plot: sorted, so that two curves can be told apart.

    Parameters
    ----------
    outcome : Learned
        What was learned.

    Returns
    -------
    dict of str to list of float
        Matched and shuffled, in the order of the matched rates.
    """
    matched, shuffled = outcome.diagnostics.matched, outcome.diagnostics.shuffled
    order = np.argsort(np.nan_to_num(matched))
    return {"matched": matched[order].tolist(), "shuffled": shuffled[order].tolist()}
