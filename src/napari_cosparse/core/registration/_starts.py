"""Where the solvers may start: candidates over all shifts, those worth refining, their lead."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.progress import Progress

from ._frame import Matrix
from ._motions import distance
from ._scene import Scene
from ._start import Candidate, grid_of_motions, search, sheared
from ._start_nmi import LARGEST as LARGEST_NMI
from ._start_nmi import search_information

CANDIDATES = 4
LARGEST_COARSE = 160  # pixels: side of the level that most rotations and scales are ruled out on
KEPT_MOTIONS = 6
SHEARS = (0.08, 0.04)
"""Steps of shear and stretch that are tried in turn about the best motions of affine groups."""
WORTH = 0.6  # of the best score: candidates below are not refined
APART = {"both": 0.05, "mutual": 0.05, "coupled": 0.05, "nmi": 0.03}
"""Of the larger side: candidates nearer than this are one. Neighbours on the grid of rotations lead
to one edge, but whether they do is what speaks for an answer of mutual information."""
RIVAL_APART = 0.05  # of the larger side: another start, not a neighbour on the grid


@dataclass(frozen=True)
class Plan:
    """How to look for a start.

    Attributes
    ----------
    max_rotation : float
        Degrees either way.
    max_scale : float
        Magnification either way.
    linear : ndarray, shape (2, 2)
        Linear part that the motions are applied after.
    """

    max_rotation: float
    max_scale: float
    linear: NDArray[np.float64]


def search_starts(
    scene: Scene, measure: str, plan: Plan
) -> Generator[Progress, None, list[Candidate]]:
    """Look for starts over all shifts and the plan's rotations and scales; affine groups: shears.

    Parameters
    ----------
    scene : Scene
        The pair.
    measure : {"both", "mutual", "coupled", "nmi"}
        "nmi" compares grey levels, the others edges.
    plan : Plan
        What to try.

    Yields
    ------
    Progress
        After each rotation and scale.

    Returns
    -------
    list of Candidate
        Best first.
    """
    motions = grid_of_motions(plan.max_rotation, plan.max_scale, plan.linear)
    method = search_information if measure == "nmi" else search
    found: list[tuple[Candidate, int]] = []
    for level, shear in _rounds(scene, measure, len(motions)):
        found = []
        motions = sheared(motions, shear) if shear else motions
        pair = scene.fixed[level], scene.moving[level]
        for number, some in enumerate(method(*pair, scene.frame, motions)):
            found += [(candidate, number) for candidate in some]
            yield Progress("search for a start", number + 1, len(motions))
        if not found:
            break  # too few usable pixels for any shift
        found.sort(key=lambda f: -f[0].score)
        kept = dict.fromkeys(number for _, number in found)
        motions = [motions[i] for i in list(kept)[:KEPT_MOTIONS]]
    starts = [candidate for candidate, _ in found]
    if scene.group.name == "SO":
        starts = _about_centres(scene, starts)
    return sorted(starts, key=lambda c: -c.score)


def _about_centres(scene: Scene, found: list[Candidate]) -> list[Candidate]:
    """Drop the shifts of starts of a group that has none; those that need one say little."""
    apart = APART["mutual"] * max(scene.frame.shape_fixed)
    turned = []
    for candidate in found:
        tau = candidate.tau.copy()
        tau[:2, 2] = 0
        near = distance(scene, candidate.tau, tau) <= apart
        turned.append(Candidate(tau, candidate.score if near else candidate.score / 2))
    return turned


def _rounds(scene: Scene, measure: str, motions: int) -> list[tuple[int, float]]:
    """Levels to search on and shears to add; most motions are ruled out on a coarse level."""
    if measure == "nmi":
        return [(scene.level_within(LARGEST_NMI), 0.0)]
    level, coarse = scene.start_level, scene.level_within(LARGEST_COARSE)
    shears = SHEARS if scene.group.name in ("SA", "A") else ()
    few = motions <= 2 * KEPT_MOTIONS or coarse == level
    rounds = [] if few and not shears else [(coarse, 0.0)]
    rounds += [(coarse, shear) for shear in shears]
    return rounds if rounds and coarse == level else [*rounds, (level, 0.0)]


def distinct(scene: Scene, measure: str, starts: list[Candidate]) -> list[Candidate]:
    """Best starts that lie apart and are worth refining.

    Parameters
    ----------
    scene : Scene
        For the frame.
    measure : {"both", "mutual", "coupled", "nmi"}
        What is minimised.
    starts : list of Candidate
        Best first.

    Returns
    -------
    list of Candidate
        At most four.
    """
    kept: list[Candidate] = []
    apart = APART[measure] * max(scene.frame.shape_fixed)
    for start in starts:
        if len(kept) == CANDIDATES or start.score < WORTH * starts[0].score:
            break
        if all(distance(scene, start.tau, other.tau) > apart for other in kept):
            kept.append(start)
    return kept


def margin(scene: Scene, starts: list[Candidate], tau: Matrix) -> float:
    """Lead of the starts near an answer over those elsewhere.

    Parameters
    ----------
    scene : Scene
        For the frame.
    starts : list of Candidate
        All that the search returned.
    tau : ndarray, shape (3, 3)
        The answer.

    Returns
    -------
    float
        1 - score elsewhere / score near; negative if a start elsewhere is better, NaN if none
        was searched.
    """
    apart = RIVAL_APART * max(scene.frame.shape_fixed)
    near = [s.score for s in starts if distance(scene, s.tau, tau) <= 2 * apart]
    far = [s.score for s in starts if distance(scene, s.tau, tau) > 2 * apart]
    if not starts:
        return float("nan")
    if not near or max(near) <= 0:
        return -1.0
    return 1 - max(far, default=0.0) / max(near)


def largest_margin(scene: Scene, starts: list[Candidate]) -> float:
    """Bound the margin of any answer, before one is refined.

    An answer near the best start has every start that lies twice as far from that one against it;
    an answer elsewhere has the best start itself.

    Parameters
    ----------
    scene : Scene
        For the frame.
    starts : list of Candidate
        All that the search returned, best first.

    Returns
    -------
    float
        No answer's `margin` is larger.
    """
    best, apart = starts[0], RIVAL_APART * max(scene.frame.shape_fixed)
    far = [s.score for s in starts if distance(scene, s.tau, best.tau) > 4 * apart]
    return 1 - max(far, default=0.0) / best.score if best.score > 0 else -1.0
