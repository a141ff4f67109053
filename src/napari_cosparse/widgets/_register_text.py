"""What the registration panel says about a pair of layers and about a motion."""

from collections.abc import Sequence
from math import atan2, degrees
from typing import Any

import numpy as np

from napari_cosparse.core.planes import plane_name
from napari_cosparse.layers import mirror

from ._couple import Couple

SHEARED = (
    "The layers are displayed sheared against one another, and stay so: if they are not in truth, "
    "undo that or choose Motion: affine (A)."
)
MIRRORED = (
    "An axis of the {} layer runs backwards ({}), and stays so: if the layer is displayed as a "
    "mirror image that way, undo that, or tick Advanced > Allow a mirror image."
)
WHY_MIRRORED = "An axis of the {} layer runs backwards ({}), which may be why: undo that first."
UNDO_SHEAR = ("SA", "A")
AXES = [1, 0, 2]  # exchanges rows and columns
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
            told = plane_name(plane)
            parts.append(f"Of the {name} stack the shown plane {told} is registered, all move.")
    return " ".join(parts)


def flaws(
    pair: Couple, group: str = "", *, trusted: bool = False, reflected: bool = False
) -> list[str]:
    """Say what about the layers' display a motion may not be able to undo.

    Parameters
    ----------
    pair : Couple
        The layers.
    group : str
        Of the motion; empty if it is not chosen yet.
    trusted : bool
        Whether the result is: then layers that are mirrored were no hindrance.
    reflected : bool
        Whether the result tells of a mirror image, and what helps then.

    Returns
    -------
    list of str
        Sentences.
    """
    told = []
    if pair.start.mirrored and not trusted:
        which = int(np.linalg.det(pair.grids[1].matrix[:2, :2]) < 0)
        layer = (pair.fixed, pair.moving)[which]
        why = "negative scale" if np.prod(layer.scale[-2:]) < 0 else "by its transforms"
        words = WHY_MIRRORED if reflected else MIRRORED
        told.append(words.format(("fixed", "moving")[which], why))
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


def motion_text(
    matrix: Any,  # noqa: ANN401 array_like
    shape: tuple[int, int],
    *,
    flipped: bool = False,
) -> str:
    """Describe a transform of pixels; a mirror is one that mirrors in the world.

    Parameters
    ----------
    matrix : array_like, shape (3, 3)
        Fixed pixel to moving pixel.
    shape : tuple of int
        Rows and columns of the moving image.
    flipped : bool
        Whether an axis of one of the layers runs backwards in the world, see `Found.flipped`.
        Then a transform of pixels that mirrors leaves the layers as they are displayed.

    Returns
    -------
    str
        Rotation, scale and shift; where pixels are mirrored, those of the moving image mirrored
        about its middle.
    """
    head, told, tail, values = "In pixels", "", "", np.asarray(matrix, np.float64)
    if np.linalg.det(values[:2, :2]) < 0:
        across = values[0, 0] < values[1, 1]  # the flip that leaves the smaller rotation
        if flipped:
            axis = "rows" if across else "columns"
            head += f" (moving {axis} counted backwards, as the layers are displayed)"
        else:
            told = f"mirrored {'top-bottom' if across else 'left-right'}, "
        flip = mirror((shape[1], shape[0]))[AXES][:, AXES] if across else mirror(shape)
        values = np.asarray(flip @ values)
    elif flipped:
        tail = "; as the layers are displayed, that mirrors the moving one"
    angle = degrees(atan2(values[1, 0] - values[0, 1], values[0, 0] + values[1, 1]))
    scale = float(np.sqrt(np.linalg.det(values[:2, :2])))
    down, right = np.round(values[:2, 2], 1) + 0.0  # not -0.0
    return (
        f"{head}: {told}rotation {round(angle, 2) + 0.0:.2f} degrees, scale {scale:.4g}, "
        f"shift ({down:.1f}, {right:.1f}){tail}."
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
