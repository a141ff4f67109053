"""From chosen layers and settings to the computation a worker runs."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

from napari.layers import Image

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import (
    Alignment,
    Settings,
    Upsampled,
    check_target,
    upsample_steps,
)
from napari_cosparse.io import load_operators
from napari_cosparse.layers import Grid, Placing, grid_of, place, read
from napari_cosparse.tiles import threaded_map

from ._runner import Steps
from ._text import CHOOSE_TWO, SAME_LAYER


@dataclass(frozen=True)
class Pair:
    """Two layers that fit together.

    Attributes
    ----------
    target, guide : napari.layers.Image
        The layers.
    target_grid, guide_grid : Grid
        Their pixel grids in the world.
    placing : Placing or None
        Where the target lies on the guide; None leaves it to factor and phase.
    """

    target: Image
    guide: Image
    target_grid: Grid
    guide_grid: Grid
    placing: Placing | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run gives.

    Attributes
    ----------
    result : Upsampled
        What the core returned.
    alignment : Alignment or None
        Whether the edges of target and guide coincide; None where the guide had no say.
    """

    result: Upsampled
    alignment: Alignment | None


def pair_up(target: Image | None, guide: Image | None, *, positions: bool) -> Pair:
    """Check that two layers can be target and guide.

    Parameters
    ----------
    target, guide : napari.layers.Image or None
        What is chosen.
    positions : bool
        Whether the layers' transforms say where the target lies.

    Returns
    -------
    Pair
        The layers and how they lie on one another.

    Raises
    ------
    InputError
        They cannot; the message says why.
    """
    if target is None or guide is None:
        raise InputError(CHOOSE_TWO)
    if target is guide:
        raise InputError(SAME_LAYER)
    grids = grid_of(target), grid_of(guide)
    return Pair(target, guide, *grids, place(*grids) if positions else None)


def upsampling(pair: Pair, operators: str | Path, settings: Settings) -> Steps:
    """Prepare a run; pixels and operators are read when it starts, in the worker.

    Parameters
    ----------
    pair : Pair
        The layers.
    operators : str or Path
        Name of a shipped operator pair, or a file.
    settings : Settings
        The settings of the run; factor and origin come from the pair.

    Returns
    -------
    callable
        Makes the generator of `Progress` that returns an `Outcome`.
    """
    target, guide = read(pair.target), read(pair.guide)
    if pair.placing is not None:
        settings = replace(settings, factor=pair.placing.factor, origin=pair.placing.origin)

    def steps() -> Generator[Progress, None, Outcome]:
        yield Progress("Reading the layers", 0, 0)
        images = target.load_gray(), guide.load()
        bank = load_operators(operators)
        result = yield from upsample_steps(*images, bank, settings, map_=threaded_map())
        if not result.guided:
            return Outcome(result, None)
        yield Progress("Comparing the edges", 0, 0)
        found = check_target(
            *images, factor=result.factor, origin=result.origin, invalid=settings.invalid
        )
        return Outcome(result, found)

    return steps
