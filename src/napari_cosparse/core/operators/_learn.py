"""Learn a coupled pair of analysis operators from registered image pairs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from numpy.typing import ArrayLike

from napari_cosparse.core.progress import Progress, drain

from ._run import Learned, learn_with
from ._settings import Settings, Two


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
        pixel are never used. A pair without a patch that may be used (the dark ends of a stack) is
        left out, see `Learned`.
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
        If an image or parameter breaks a rule, or no patch of any pair may be used.
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
    settings = make_settings(
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
    return learn_with(pairs, settings)


def make_settings(**keywords: Any) -> Settings:  # noqa: ANN401 - those of learn_operators, and block
    """Check the settings of a run; what is not given is as in `learn_operators`.

    Parameters
    ----------
    **keywords
        Of `learn_operators`, and `block`: side of the parts of a large image that are looked at,
        in pixels.

    Returns
    -------
    LearnSettings

    Raises
    ------
    InputError
        If one breaks a rule.
    """
    values = {**(learn_steps.__kwdefaults__ or {}), **keywords}
    if values["atoms"] is None:
        values["atoms"] = 2 * values["side"] ** 2
    return Settings(**values)
