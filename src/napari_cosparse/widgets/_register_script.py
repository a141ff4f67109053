"""A script that registers as the panel does."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from napari.layers import Labels, Shapes

from ._configure import threads
from ._couple import Couple
from ._script_parts import (
    Operators,
    keyword_lines,
    literal,
    opening,
    shapes_literal,
    whole_script,
)

USUAL = {"step": 1, "mirrored": False}  # options of lazy_plane that are not written
MASKS = ("mask_fixed", "mask_moving")  # written as the layers on which they are drawn
NOTHING = ("initial", "points")  # not written where they are None
BACKWARDS = (
    "# An axis of one of the layers runs backwards in the world. To be compared as displayed, the\n"
    "# columns of the moving one are read backwards.\n"
)
DOUBTED = (
    "trusted = False  # so the panel moved nothing; write True to move the layer all the same\n"
)
Masks = tuple[Labels | Shapes | None, Labels | Shapes | None]


def register_script(
    pair: Couple,
    operators: Operators,
    keywords: Mapping[str, Any],
    masks: Masks,
    *,
    resample: bool = False,
    insist: bool = False,
    matrix: Any = None,  # noqa: ANN401 array_like
    trusted: bool = True,
) -> str:
    """Write a script that registers as the panel does.

    Parameters
    ----------
    pair : Couple
        The layers.
    operators : Operators
        The operators.
    keywords : mapping
        Of `register`.
    masks : tuple of Labels, Shapes or None
        Where the masks of the fixed and of the moving image are drawn.
    resample : bool
        Whether a layer on the fixed layer's pixels is made too.
    insist : bool
        Whether the layer is moved though the result is not trusted.
    matrix : ndarray, shape (3, 3), optional
        Fixed pixel to moving pixel of the finest levels, where no run found it that a script could
        repeat: loaded, inverted, or the best of a run that was cancelled.
    trusted : bool
        Whether that matrix is trusted.

    Returns
    -------
    str
        Python, complete: it opens what is not open.
    """
    if matrix is None:
        body = [*_layers(pair, masks), operators.before]
        body += [_call(pair, operators.python, keywords, masks), _matrix(pair)]
    else:
        body = [opening({"fixed": pair.fixed, "moving": pair.moving})]
        body.append(f"matrix = np.array({np.asarray(matrix).tolist()!r})\n")
    made = ["viewer.add_layer(napari.layers.Layer.create(*made))"]
    made.insert(0, "made = moved(moving, motion_of(grid_of(fixed), grid_of(moving), matrix))")
    if resample:
        made.append("made = resampled(moving, matrix, fixed)")
        made.append("viewer.add_layer(napari.layers.Layer.create(*made))")
    if matrix is not None and not trusted and not insist:
        body.append(DOUBTED)
        made = ["if trusted:", *(f"    {line}" for line in made)]
    if not insist and matrix is None:
        made = ["if found.trusted:", *(f"    {line}" for line in made)]
    body.append("\n".join(made) + "\n")
    does = "Registers" if matrix is None else "Moves"
    what = f"{does} {pair.moving.name!r} onto {pair.fixed.name!r}"
    return whole_script(what, "".join(body))


def _layers(pair: Couple, masks: Masks) -> list[str]:
    """Find or open all layers; write out what is drawn by hand."""
    drawn = dict(zip(MASKS, masks, strict=True))
    labels = {name: layer for name, layer in drawn.items() if isinstance(layer, Labels)}
    parts = [opening({"fixed": pair.fixed, "moving": pair.moving, **labels})]
    parts += [
        f"{name} = {shapes_literal(layer)}\n"
        for name, layer in drawn.items()
        if isinstance(layer, Shapes)
    ]
    levels = pair.levels
    if any(layer is not None for layer in masks) or pair.start.mirrored:
        parts.append(f"grids = grid_of(fixed{_level(levels[0])}), ")
        parts.append(f"grid_of(moving{_level(levels[1])})\n")
    return parts


def _call(pair: Couple, operators: str, keywords: Mapping[str, Any], masks: Masks) -> str:
    """Call `register` with all that the panel hands over, defaults too: they may change."""
    told = {
        name: literal(value)
        for name, value in keywords.items()
        if name not in MASKS and not (name in NOTHING and value is None)
    }
    flips = "", ", mirrored=True" if pair.start.mirrored else ""
    for number, (name, layer, plane, flip) in enumerate(
        zip(MASKS, masks, pair.planes, flips, strict=True)
    ):
        if layer is not None:
            told[name] = f"mask_on(grids[{number}], {name}, {plane!r}{flip})"
    if threads() is not None:
        told["threads"] = repr(threads())
    images = "".join(
        f"    lazy_plane({name}, {level}, {plane!r}{_given(options)}),\n"
        for name, ((_, level, plane), options) in zip(
            ("fixed", "moving"), pair.planes_to_read(keywords["invalid"]), strict=True
        )
    )
    call = f"found = nc.register(\n{images}    {operators},\n{keyword_lines(told)})\nprint(found)\n"
    return BACKWARDS + call if pair.start.mirrored else call


def _matrix(pair: Couple) -> str:
    """From the levels that were read to the finest; in the order of `Couple.to_finest`."""
    if pair.levels == (0, 0) and not pair.start.mirrored:
        return "matrix = found.matrix\n"
    ours = "(mirror(grids[1].shape) @ found.matrix)" if pair.start.mirrored else "found.matrix"
    first, second = f"level_map(fixed, {pair.levels[0]})", f"level_map(moving, {pair.levels[1]})"
    return f"matrix = {second} @ {ours} @ np.linalg.inv({first})\n"


def _level(level: int) -> str:
    return f", {level}" if level else ""


def _given(options: Mapping[str, Any]) -> str:
    """Write the options that are not the usual ones."""
    told = {name: value for name, value in options.items() if value != USUAL[name]}
    return "".join(f", {name}={value!r}" for name, value in told.items())
