"""What the registration panel says about a pair of layers and about a result."""

from collections.abc import Mapping, Sequence
from math import atan2, degrees, isfinite
from typing import Any

import numpy as np

from ._couple import Couple

MASK = "mask what only one of the images shows"
HELP = {  # in the words of the panel, for what the core advises in those of its keywords
    "search": f"drag the layer near its place or set points (see Start), or {MASK}",
    "place": f"drag the layer nearer, search everywhere, or {MASK}",
    "points": f"check the order of the points and set more of them, or {MASK}",
}
START = "give a"  # how the core's advice begins that the above stands for
SHEARED = (
    "The layers are displayed sheared against one another, and stay so: if they are not in truth, "
    "undo that or choose Motion: affine (A)."
)
MIRRORED = (
    "The {} layer is displayed mirrored ({}), and stays so: if its image is none, undo that, or "
    "tick Advanced > Allow a mirror image."
)
UNDO_SHEAR = ("SA", "A")
NAMED = 4  # layers that are named one by one
SHEAR = 0.01  # of a unit step: less is put down to rounding
UNEQUAL = "if they are not, set scale and units of the layers, or choose the motion with one scale."


def couple_text(pair: Couple, group: str = "") -> str:
    """Say how two layers lie on one another now.

    Parameters
    ----------
    pair : Couple
        The layers.
    group : str
        Of the motion that is chosen.

    Returns
    -------
    str
        A few words and sentences.
    """
    fixed, moving = pair.grids
    shapes = [f"{grid.shape[0]} x {grid.shape[1]}" for grid in (fixed, moving)]
    parts = [f"Moving {shapes[1]} onto fixed {shapes[0]} pixels."]
    start = pair.start
    if start.note:
        parts.append(start.note)
    parts.append(_sizes(pair))
    parts += flaws(pair, group)
    for name, layer, plane in zip(
        ("fixed", "moving"), (pair.fixed, pair.moving), pair.planes, strict=True
    ):
        if layer.rgb:
            parts.append(f"Of the {name} layer the luminance counts.")
        if plane:
            told = ", ".join(map(str, plane))
            parts.append(f"Of the {name} stack the shown plane {told} is registered, all move.")
    return " ".join(parts)


def flaws(pair: Couple, group: str = "") -> list[str]:
    """Say what about the layers' display a motion may not be able to undo.

    Parameters
    ----------
    pair : Couple
        The layers.
    group : str
        Of the motion; empty if it is not chosen yet.

    Returns
    -------
    list of str
        Sentences.
    """
    told = []
    if pair.start.mirrored:
        which = int(np.linalg.det(pair.grids[1].matrix[:2, :2]) < 0)
        layer = (pair.fixed, pair.moving)[which]
        why = "negative scale" if np.prod(layer.scale[-2:]) < 0 else "by its transforms"
        told.append(MIRRORED.format(("fixed", "moving")[which], why))
    if _is_sheared(pair) and group not in UNDO_SHEAR:
        told.append(SHEARED)
    return told


def names_text(names: Sequence[str]) -> str:
    """Name layers, or count them.

    Parameters
    ----------
    names : sequence of str
        Of the layers.

    Returns
    -------
    str
        Part of a sentence.
    """
    return ", ".join(names) if len(names) <= NAMED else f"{len(names)} layers"


def verdict(found: Any, start: str = "search") -> str:  # noqa: ANN401 a Registration
    """Say with its numbers whether a registration is to be trusted.

    Parameters
    ----------
    found : Registration
        What the core returned.
    start : {"search", "place", "points"}
        How it began.

    Returns
    -------
    str
        The verdict, then the motion; what helps where it is not trusted, once.
    """
    because = str(found.because).rstrip(".")
    if not found.trusted:
        return f"{_not_trusted(found, because, start)} {motion_text(found.matrix)}"
    numbers = _numbers(found, because)
    if isfinite(found.agreement) and "of the starts" not in because:
        numbers.append(f"{found.agreement:.0%} of the starts end here")
    if isfinite(found.predicted_error):
        numbers.append(f"error about {found.predicted_error:.2g} px")
    if isfinite(found.cost_before) and isfinite(found.cost_after):
        numbers.append(f"cost {found.cost_before:.4g} to {found.cost_after:.4g}")
    known = f" ({', '.join(numbers)})" if numbers else ""
    return f"Trusted: {because}{known}. {motion_text(found.matrix)}"


def _not_trusted(found: Any, because: str, start: str) -> str:  # noqa: ANN401 a Registration
    """Say why, and what helps; how sure a wrong place is would say nothing."""
    reason, colon, way = because.rpartition(": ")
    if not colon:
        reason, way = because, START
    if not way.startswith(START):
        return f"Not trusted: {because}."
    why = "; ".join([reason, *_numbers(found, reason)])
    return f"Not trusted: {why}. What helps: {HELP[start]}."


def _numbers(found: Any, because: str) -> list[str]:  # noqa: ANN401 a Registration
    """Give the figures that are known and not yet told: constant images have none."""
    numbers = []
    if isfinite(found.overlap) and "covered" not in because:
        numbers.append(f"{found.overlap:.0%} of the fixed image covered")
    if isfinite(found.margin) and "place" not in because:
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
    trusted, because = bool(record.get("trusted", True)), str(record.get("because", "")).rstrip(".")
    if trusted and not because:
        return "not judged"
    head = "trusted" if trusted else "not trusted"
    return f"{head}, says {source}" + (f": {because}" if because else "")


def motion_text(matrix: Any) -> str:  # noqa: ANN401 array_like
    """Describe a transform of pixels.

    Parameters
    ----------
    matrix : array_like, shape (3, 3)
        Fixed pixel to moving pixel.

    Returns
    -------
    str
        Rotation, scale and shift.
    """
    values = np.asarray(matrix, np.float64)
    angle = degrees(atan2(values[1, 0] - values[0, 1], values[0, 0] + values[1, 1]))
    scale = float(np.sqrt(abs(np.linalg.det(values[:2, :2]))))
    shift = values[:2, 2]
    return (
        f"In pixels: rotation {angle:.2f} degrees, scale {scale:.4g}, "
        f"shift ({shift[0]:.1f}, {shift[1]:.1f})."
    )


def _sizes(pair: Couple) -> str:
    """Say how large the pixels are, or what to do if that is not known."""
    fixed, start = pair.grids[0], pair.start
    sizes = start.pixel_size_moving, start.pixel_size_fixed
    told = ""
    if start.informative:
        covered = f"now {start.overlap:.0%} of the fixed image is covered."
        unit = f" {fixed.units[0]}" if fixed.is_physical else ""
        told = f"Pixels of {_size(sizes[0])} on {_size(sizes[1])}{unit}; {covered}"
        if fixed.is_physical or not np.allclose(sizes, 1):
            return told
    return f"{told} Pixel sizes are taken as equal: {UNEQUAL}".lstrip()


def _is_sheared(pair: Couple) -> bool:
    """Whether no rotation and scale brings the layers from where they lie onto one another."""
    start = pair.start
    sizes = start.pixel_size_moving, start.pixel_size_fixed
    linear = np.diag(sizes[0]) @ start.matrix[:2, :2] @ np.diag(1 / np.array(sizes[1]))
    (a, b), (c, d) = linear / np.sqrt(abs(np.linalg.det(linear)))
    return bool(start.informative and max(abs(a - d), abs(b + c)) > SHEAR)


def _size(size: tuple[float, float]) -> str:
    rows, columns = (f"{value:.4g}" for value in size)
    return rows if rows == columns else f"{rows} x {columns}"
