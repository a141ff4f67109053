"""Learn a coupled pair of analysis operators from registered image pairs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from napari_cosparse import __version__
from napari_cosparse.core.descent import Iterate, Stop, iterate, until
from napari_cosparse.core.geometry import ZeroMeanSpheres
from napari_cosparse.core.progress import Progress, drain

from ._diagnostics import Diagnostics, diagnose
from ._images import Image
from ._objective import LearningCost
from ._pair import OperatorPair
from ._sample import Patches, as_pairs, sample_patches
from ._settings import Settings, Two

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
    """

    pair: OperatorPair
    history: NDArray[np.float64]
    diagnostics: Diagnostics
    stop: Stop
    evaluations: int


def learn_operators(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    side: int = 5,
    atoms: int | None = None,
    samples: int = 15_000,
    nu: float = 400.0,
    kappa: Two = (5.0, 22.0),
    mu: Two = (1e2, 2.5e4),
    thresholds: Two = (0.01, 0.003),
    symmetries: bool = False,
    invalid: tuple[float | None, float | None] = (None, None),
    iterations: int = 300,
    seed: int = 0,
    report: Callable[[Progress], None] | None = None,
) -> Learned:
    """Learn a coupled pair of analysis operators from registered image pairs.

    Minimises eq. (learning_func) of the paper with its conjugate gradients on the product of
    zero-mean unit spheres. Patches are drawn in equal numbers from all pairs.

    Parameters
    ----------
    pairs : sequence of (u, v), arrays of shape (H, W) or (H, W, 3 or 4)
        Registered images of one scene, in any unit. Colours become luminance (Rec. 601); a
        fourth channel is ignored. U is the guide or fixed modality, V the target or moving one.
    side : int
        Side of the patches, in pixels; at least 2.
    atoms : int, optional
        Number of atoms of each operator; ``2 * side**2`` if None.
    samples : int
        Number of patch pairs, over all image pairs.
    nu : float
        Weight of squared responses in the sparsity measure log(1 + nu x^2).
    kappa : tuple of float
        Weights of the rank penalty for U and V.
    mu : tuple of float
        Weights of the coherence penalty for U and V (mean over ordered pairs of rows, twice).
    thresholds : tuple of float
        Standard deviation that a patch of U and of V must exceed, as a fraction of the image's
        range (1-99 % quantiles).
    symmetries : bool
        Turn each patch pair by a random symmetry of the square. Registration needs it: it ties
        the centres of corresponding atoms together.
    invalid : tuple of float or None
        Values of U and V that mean unknown; NaN and infinity always do. Patches with an unknown
        pixel are never used.
    iterations : int
        Number of iterations at most.
    seed : int
        Seed of all random choices; the same seed gives the same pair bit for bit.
    report : callable, optional
        Called with each `Progress`.

    Returns
    -------
    Learned
        The pair, its history and diagnostics.

    Raises
    ------
    InputError
        If an image or parameter breaks a rule, or no patch may be used.
    """
    steps = learn_steps(
        pairs,
        side=side,
        atoms=atoms,
        samples=samples,
        nu=nu,
        kappa=kappa,
        mu=mu,
        thresholds=thresholds,
        symmetries=symmetries,
        invalid=invalid,
        iterations=iterations,
        seed=seed,
    )
    return drain(steps, report)


def learn_steps(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    side: int = 5,
    atoms: int | None = None,
    samples: int = 15_000,
    nu: float = 400.0,
    kappa: Two = (5.0, 22.0),
    mu: Two = (1e2, 2.5e4),
    thresholds: Two = (0.01, 0.003),
    symmetries: bool = False,
    invalid: tuple[float | None, float | None] = (None, None),
    iterations: int = 300,
    seed: int = 0,
) -> Generator[Progress, None, Learned]:
    """Learn as `learn_operators` does, step by step.

    Wrong input is refused at once, before the first step.

    Parameters
    ----------
    pairs, side, atoms, samples, nu, kappa, mu, thresholds, symmetries, invalid, iterations, seed :
        As in `learn_operators`.

    Returns
    -------
    Learned
        The pair, its history and diagnostics: the value of the generator that is returned.

    Yields
    ------
    Progress
        One for each image pair and each iteration.
    """
    k = 2 * side**2 if atoms is None else atoms
    settings = Settings(
        side,
        k,
        samples,
        nu,
        kappa,
        mu,
        thresholds,
        symmetries,
        invalid,
        iterations,
        seed,
    )
    return _learn(as_pairs(pairs, side), settings)


def _learn(
    pairs: list[tuple[Image, Image]], settings: Settings
) -> Generator[Progress, None, Learned]:
    streams = [
        np.random.default_rng(s)
        for s in np.random.SeedSequence(settings.seed).spawn(2 + len(pairs))
    ]
    patches = yield from sample_patches(pairs, settings, streams[2:])
    history, last = yield from _descend(patches, settings, streams[0], len(pairs))
    u, v = np.split(last.point, 2, axis=1)
    diagnostics = diagnose(u, v, *patches, nu=settings.nu, rng=streams[1])
    stop = last.stop or Stop.BUDGET_SPENT
    metadata = _metadata(settings, patches, history, stop, diagnostics)
    pair = OperatorPair.from_patches(u, v, metadata)
    return Learned(pair, np.array(history), diagnostics, stop, last.evaluations)


def _descend(
    patches: tuple[Patches, Patches], settings: Settings, rng: np.random.Generator, before: int
) -> Generator[Progress, None, tuple[list[float], Iterate]]:
    """Minimise the learning cost from a random start."""
    space = ZeroMeanSpheres(tuple(len(part) for part in patches))
    cost = LearningCost(
        *patches, atoms=settings.atoms, nu=settings.nu, kappa=settings.kappa, mu=settings.mu
    )
    start = space.random(settings.atoms, rng)
    steps = iterate(space, cost, start, restart=space.dimension(settings.atoms))
    history: list[float] = []
    for record in until(steps, iterations=settings.iterations, change_tolerance=CHANGE_TOLERANCE):
        if record.index == len(history):
            history.append(record.value)
            yield Progress(
                "learning operators",
                before + record.index,
                before + settings.iterations,
                record.value,
            )
        last = record
    return history, last


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
