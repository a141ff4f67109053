"""What can be seen before a run, without reading a large layer: why it would fail, or be idle."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.reconstruction import Settings, place, straighten
from napari_cosparse.layers import Source, steps_of

from ._job import Pair
from ._text import blank_text

LOOKED = 1 << 20  # values that are looked at in a millisecond or two
BEYOND = 2.5  # samples around the outermost ones, to which a result reaches
AS_FINE = 1.001  # factor up to which nothing is upsampled
Two = tuple[float, float]
Shape = tuple[int, int]
Lines = tuple[NDArray[np.bool_], NDArray[np.bool_]]
Phase = Literal["centre", "corner"]


def check_pair(pair: Pair, settings: Settings) -> None:
    """Refuse what the core would refuse, as far as it can be seen at once.

    Parameters
    ----------
    pair : Pair
        The layers.
    settings : Settings
        As `placed` completes them.

    Raises
    ------
    InputError
        The message says why.
    """
    target, guide = pair.sources()
    for source in (target, guide):
        source.check_numbers()
    if _same(target.pixels, guide.pixels):
        raise InputError(
            f"{target.name!r} and {guide.name!r} show the same pixels: choose another guide."
        )
    whole = _check_place(pair, settings)
    if settings.dtype == "input" and np.dtype(target.pixels.dtype).kind != "f" and not whole:
        raise InputError(
            f"{target.name!r} ({target.pixels.dtype}) does not cover the whole guide, and its type "
            "has no NaN for the rest: choose Values: float32 (Advanced), or crop the guide."
        )
    _check_values(target, settings.invalid)
    if _is_small(target.pixels) and not _known_here(pair, settings).any():
        raise InputError(
            f"{target.name!r} has no known sample on the guide: all that are known lie beside it. "
            "Check where the target lies, and Unknown value."
        )


def remarks(pair: Pair, settings: Settings) -> str:
    """Say what makes a run idle, though it is possible.

    Parameters
    ----------
    pair : Pair
        The layers.
    settings : Settings
        As `placed` completes them.

    Returns
    -------
    str
        Sentences; empty as a rule.
    """
    target, guide = pair.target_grid.shape, pair.guide_grid.shape
    factor = settings.steps or (guide[0] / target[0], guide[1] / target[1])
    if settings.transform is not None:
        factor = steps_of(settings.transform)
    told = []
    if max(factor) <= AS_FINE:
        told.append(
            "The target is as fine as the guide: noise is removed and unknown samples are filled, "
            "but nothing becomes sharper."
        )
    pixels = pair.sources()[1].pixels
    if settings.guided and _is_small(pixels) and not _varies(np.asarray(pixels)):
        told.append("The guide is constant: it has no say.")
    told.append(blank_text(_blank(pair, settings)))
    return " ".join(filter(None, told))


def on_guide(pair: Pair, settings: Settings) -> NDArray[np.bool_]:
    """Find the samples that lie on the guide, without making the operator of a turned target.

    Parameters
    ----------
    pair : Pair
        The layers.
    settings : Settings
        As `placed` completes them.

    Returns
    -------
    ndarray of bool, shape (m1, m2)
        As the core counts them; of a turned target some more, up to half a sample away.
    """
    guide, target = pair.guide_grid.shape, pair.target_grid.shape
    factor, origin = settings.steps, settings.origin
    if settings.transform is not None:
        straight = straighten(settings.transform, target)
        if straight is None:
            return _near(settings.transform, guide, target)
        factor, origin = straight
    rows, columns = _place(guide, target, factor, origin, settings.phase)[2]
    return np.asarray(rows[:, None] & columns)


def check_training(pairs: Iterable[tuple[Source, Source]], keywords: dict[str, Any]) -> None:
    """Refuse images to learn from that have no patch, as far as it can be seen at once.

    Parameters
    ----------
    pairs : iterable of tuple of Source
        Images of U and V.
    keywords : dict
        Of `learn_operators`.

    Raises
    ------
    InputError
        The message says why.
    """
    side, invalid = keywords["side"], keywords["invalid"]
    reasons = []
    for pair in pairs:
        for source in pair:
            source.check_numbers()
            if min(source.shape) < side:
                rows, columns = source.shape
                raise InputError(
                    f"{source.name!r} has {rows} x {columns} pixels, and patches have {side} x "
                    f"{side}: choose a smaller patch side or larger images."
                )
        barren = [_barren(*each) for each in zip(pair, invalid, strict=True)]
        reasons.append(next(filter(None, barren), ""))
    if all(reasons):
        raise InputError(f"{reasons[0]}: there is no patch to learn from.")


def _barren(source: Source, invalid: float | None) -> str:
    """Say why no patch of a small image may be used; empty if one may, or if nobody knows."""
    if not _is_small(source.pixels):
        return ""
    values = np.asarray(source.pixels)[_known(source, invalid)]
    if not values.size:
        return f"{source.name!r} holds unknown values only"
    return "" if _varies(values) else f"{source.name!r} is constant"


def _check_place(pair: Pair, settings: Settings) -> bool:
    """Refuse factors that do not fit the sizes; return whether the target covers the guide."""
    guide, target = pair.guide_grid.shape, pair.target_grid.shape
    factor, origin = settings.steps, settings.origin
    if settings.transform is not None:
        straight = straighten(settings.transform, target)
        if straight is None:
            return _check_turned(settings.transform, guide, target)
        factor, origin = straight
    why, whole, _ = _place(guide, target, factor, origin, settings.phase)
    if why:
        raise InputError(why)
    return whole


def _check_turned(transform: NDArray[np.float64], guide: Shape, target: Shape) -> bool:
    steps = steps_of(transform)
    if max(steps) > max(guide):
        raise InputError(
            f"A target pixel would be {steps[0]:.4g} x {steps[1]:.4g} guide pixels, more than the "
            f"whole guide ({guide[0]} x {guide[1]}): check scale and units of both layers."
        )
    ends = [[row, column, 1.0] for row in (0, guide[0] - 1) for column in (0, guide[1] - 1)]
    places = (np.array(ends) @ transform.T)[:, :2]
    return bool(((places >= -BEYOND) & (places <= np.array(target) - 1 + BEYOND)).all())


@lru_cache(maxsize=64)
def _place(
    guide: Shape, target: Shape, factor: Two | None, origin: Two | None, phase: Phase
) -> tuple[str, bool, Lines]:
    """Ask the core; the answer to the same question is kept, with rows and columns on the guide."""
    try:
        found, sampling = place(guide, target, Settings(factor=factor, origin=origin, phase=phase))
    except InputError as error:
        return str(error), False, (np.zeros(target[0], bool), np.zeros(target[1], bool))
    inside = sampling.inside
    return "", found.whole, (np.asarray(inside.any(1)), np.asarray(inside.any(0)))


def _near(transform: NDArray[np.float64], guide: Shape, target: Shape) -> NDArray[np.bool_]:
    """Which samples of a turned target lie on the guide, or less than half a sample away."""
    back, slack = np.linalg.inv(transform), max(steps_of(transform)) / 2
    rows, columns = np.ogrid[: target[0], : target[1]]
    near = np.ones(target, bool)
    for (down, right, start), n in zip(back[:2], guide, strict=True):
        place = down * rows + right * columns + start
        near &= (place > -0.5 - slack) & (place < n - 0.5 + slack)
    return near


def _check_values(target: Source, invalid: float | None) -> None:
    """Refuse a small target of which nothing is known, or too large for float32."""
    if not _is_small(target.pixels):
        return
    known = _known(target, invalid)
    if not known.any():
        raise InputError(
            f"{target.name!r} has no known sample: all are NaN, infinite or the unknown value. "
            "Check Unknown value, or choose another target."
        )
    values = np.asarray(target.pixels)[known]
    largest = max(abs(float(values.min())), abs(float(values.max())))
    if largest > float(np.finfo(np.float32).max):
        raise InputError(
            f"{target.name!r} has values up to {largest:g}, beyond float32: change its unit."
        )


def _blank(pair: Pair, settings: Settings) -> list[tuple[int, ...]]:
    """Find planes of a small target of which nothing is known on the guide."""
    target = pair.sources()[0]
    if not target.leading or not _is_small(target.pixels):
        return []
    known = _known_here(pair, settings).reshape(*target.leading, -1).any(-1)
    return [tuple(int(i) for i in place) for place in np.argwhere(~known)]


def _known_here(pair: Pair, settings: Settings) -> NDArray[np.bool_]:
    """Which samples of a small target are known and lie on the guide, shape (..., m1, m2)."""
    return _known(pair.sources()[0], settings.invalid) & on_guide(pair, settings)


def _known(source: Source, invalid: float | None) -> NDArray[np.bool_]:
    """Which pixels of a small image are known, shape (..., H, W)."""
    pixels = np.asarray(source.pixels)
    if source.rgb:
        return np.asarray(np.isfinite(pixels[..., :3]).all(-1))
    known: NDArray[np.bool_] = np.isfinite(pixels)
    return known if invalid is None else known & (pixels != np.float64(invalid))


def _same(first: Any, second: Any) -> bool:  # noqa: ANN401 any arrays
    """Whether two arrays are one, or small ones hold the same values."""
    if first is second:
        return True
    if first.shape != second.shape or not (_is_small(first) and _is_small(second)):
        return False
    return bool(np.array_equal(first, second, equal_nan=first.dtype.kind == "f"))


def _is_small(pixels: Any) -> bool:  # noqa: ANN401 any array
    """Whether an array is in memory and can be looked at at once."""
    return isinstance(pixels, np.ndarray) and pixels.size <= LOOKED


def _varies(values: NDArray[Any]) -> bool:
    """Whether finite values differ; those of several channels may differ among each other."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and finite.min() < finite.max())
