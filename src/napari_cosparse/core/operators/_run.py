"""The learning itself: sample, walk, diagnostics; who does the work and who keeps it is given."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse import __version__
from napari_cosparse.core.descent import Iterate, Stop, iterate, until
from napari_cosparse.core.geometry import ZeroMeanSpheres
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.progress import Progress

from ._diagnostics import Diagnostics, diagnose
from ._images import Image
from ._objective import LearningCost
from ._pair import OperatorPair
from ._sample import ROOM, Patches, as_pairs, sample_patches
from ._settings import Settings

CHANGE_TOLERANCE = 1e-8
"""Relative decrease of the cost in one iteration that float32 products cannot tell from none."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned operator pair and how it came about.

    Attributes
    ----------
    pair : OperatorPair
        The operators, with their provenance as metadata.
    history : ndarray, shape (iterations + 1,), float64
        Cost at the start and after each iteration; never rises.
    diagnostics : Diagnostics
        Condition, coherence, activity and coupling on the training patches.
    stop : Stop
        Why learning ended.
    evaluations : int
        Evaluations of the cost and of its gradient.
    skipped : tuple of int
        Numbers, from 1, of the image pairs without a patch that may be used: constant, unknown or
        flatter than the thresholds. The others were learned from. The metadata hold them too.
    """

    pair: OperatorPair
    history: NDArray[np.float64]
    diagnostics: Diagnostics
    stop: Stop
    evaluations: int
    skipped: tuple[int, ...] = ()


class Keeper(Protocol):
    """Whoever keeps an unfinished run, so that it can be continued."""

    def begin(self, patches: tuple[Patches, Patches], settings: Settings) -> Kept | None:
        """Give what was kept of the same run, or None; called once, before the first step."""
        ...

    def keep(self, kept: Kept) -> None:
        """Keep what is there, if it is time to."""
        ...


@dataclass(frozen=True, eq=False)
class Kept:
    """All that it takes to continue a run with the same bits.

    Attributes
    ----------
    last : Iterate
        Where it stands, with `onward`.
    history : list of float
        Cost at the start and after each iteration.
    """

    last: Iterate
    history: list[float]


def learn_with(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    settings: Settings,
    *,
    map_: Map = map,
    read: Map = map,
    keeper: Keeper | None = None,
    room: int = ROOM,
) -> Generator[Progress, None, Learned]:
    """Learn as `learn_operators` does, with whoever does the work and keeps it.

    Parameters
    ----------
    pairs : sequence of (u, v)
        As in `learn_operators`.
    settings : LearnSettings
        Its keywords.
    map_ : callable
        Like the built-in `map`; evaluates the cost. Changes no bit.
    read : callable
        Like the built-in `map`; looks for patches and reads them, perhaps in other processes.
        Changes no bit.
    keeper : Keeper, optional
        Keeps the run, so that it can be continued.
    room : int
        Bytes of chunked images that may be kept in memory, so that no part is read twice.

    Returns
    -------
    Learned
        The pair, its history and diagnostics: the value of the generator that is returned.

    Yields
    ------
    Progress
        One for each image pair and each iteration.
    """
    return _learn(as_pairs(pairs, settings.side), settings, (map_, read), keeper, room)


def _learn(
    pairs: list[tuple[Image, Image]],
    settings: Settings,
    maps: tuple[Map, Map],
    keeper: Keeper | None,
    room: int,
) -> Generator[Progress, None, Learned]:
    streams = [
        np.random.default_rng(s)
        for s in np.random.SeedSequence(settings.seed).spawn(2 + len(pairs))
    ]
    patches, skipped = yield from sample_patches(pairs, settings, streams[2:], maps[1], room)
    kept = keeper.begin(patches, settings) if keeper else None
    walk = _walk(patches, settings, streams[0], maps[0], kept)
    history = [] if kept is None else list(kept.history)
    for record in walk:
        if record.index == len(history):
            history.append(record.value)
            if keeper and record.stop is None:
                keeper.keep(Kept(record, history))
            done, total = (len(pairs) + n for n in (record.index, settings.iterations))
            yield Progress("learning operators", done, total, record.value)
        last = record
    u, v = np.split(last.point, 2, axis=1)
    diagnostics = diagnose(u, v, *patches, nu=settings.nu, rng=streams[1])
    stop = last.stop or Stop.BUDGET_SPENT
    metadata = _metadata(settings, patches, history, stop, diagnostics)
    if skipped:
        metadata["skipped"] = list(skipped)
    pair = OperatorPair.from_patches(u, v, metadata)
    return Learned(pair, np.array(history), diagnostics, stop, last.evaluations, skipped)


def _walk(
    patches: tuple[Patches, Patches],
    settings: Settings,
    rng: np.random.Generator,
    map_: Map,
    kept: Kept | None,
) -> Iterator[Iterate]:
    """Minimise the learning cost from a random start, or go on from what was kept."""
    space = ZeroMeanSpheres(tuple(len(part) for part in patches))
    cost = LearningCost(
        *patches,
        atoms=settings.atoms,
        nu=settings.nu,
        kappa=settings.kappa,
        mu=settings.mu,
        map_=map_,
    )
    start = space.random(settings.atoms, rng) if kept is None else kept.last
    period = space.dimension(settings.atoms)
    steps = iterate(space, cost, start, restart=period, resumable=True)
    return until(steps, iterations=settings.iterations, change_tolerance=CHANGE_TOLERANCE)


def _metadata(
    settings: Settings,
    patches: tuple[Patches, Patches],
    history: list[float],
    stop: Stop,
    diagnostics: Diagnostics,
) -> dict[str, Any]:
    return {
        "kind": "learned",
        **settings.to_json(),
        "patches": patches[0].shape[1],
        "iterations_done": len(history) - 1,
        "cost": history[-1],
        "stop": str(stop),
        "diagnostics": diagnostics.summary(),
        "version": __version__,
    }
