"""A script that registers as the panel does."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from napari.layers import Layer

from ._couple import Couple
from ._script import head


def register_script(
    pair: Couple,
    operators: str,
    keywords: Mapping[str, Any],
    masks: tuple[Layer | None, Layer | None],
) -> str:
    """Write a script that registers as the panel does.

    Parameters
    ----------
    pair : Couple
        The layers.
    operators : str
        Python expression of the operators.
    keywords : mapping
        Of `register`.
    masks : tuple of Layer or None
        Where the masks of the fixed and of the moving image are drawn.

    Returns
    -------
    str
        Python.
    """
    written = {name: literal(value) for name, value in keywords.items()}
    turned = ", mirrored=True" if pair.start.mirrored else ""
    for name, layer, grid, plane, flip in zip(
        ("mask_fixed", "mask_moving"), masks, "01", pair.planes, ("", turned), strict=True
    ):
        if layer is not None:
            drawn = f"viewer.layers[{layer.name!r}]"
            written[name] = f"mask_on(grids[{grid}], {drawn}, {plane!r}{flip})"
    told = "\n".join(f"    {name}={value}," for name, value in written.items())
    images = "\n".join(
        f"    lazy_plane({name}, {level}, {plane!r}{_given(options)}),"
        for name, ((_, level, plane), options) in zip(
            ("fixed", "moving"), pair.planes_to_read(keywords["invalid"]), strict=True
        )
    )
    names = "grid_of, lazy_plane, level_map, mask_on, mirror, motion_of, moved, pairs_in"
    level = f"level_map(moving, {pair.levels[1]})"
    flip = " @ mirror(grids[1].shape)" if pair.start.mirrored else ""
    return f"""{head(names, {"fixed": pair.fixed, "moving": pair.moving})}
fixed, moving = viewer.layers[{pair.fixed.name!r}], viewer.layers[{pair.moving.name!r}]
grids = grid_of(fixed, {pair.levels[0]}), grid_of(moving, {pair.levels[1]})
found = nc.register(
{images}
    {operators},
{told}
)
print(found.trusted, found.because)
matrix = {level}{flip} @ found.matrix @ np.linalg.inv(level_map(fixed, {pair.levels[0]}))
made = moved(moving, motion_of(grid_of(fixed), grid_of(moving), matrix))
viewer.add_layer(napari.layers.Layer.create(*made))
"""


def _given(options: Mapping[str, Any]) -> str:
    """Write the options that are not the usual ones."""
    usual = {"step": 1, "mirrored": False}
    told = {name: value for name, value in options.items() if value != usual[name]}
    return "".join(f", {name}={value!r}" for name, value in told.items())


def literal(value: object) -> str:
    """Write a value as Python; arrays to the last digit.

    Parameters
    ----------
    value : object
        Number, text, tuple or array.

    Returns
    -------
    str
    """
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})"
    if isinstance(value, tuple) and any(isinstance(part, np.ndarray) for part in value):
        return f"({', '.join(map(literal, value))})"
    return repr(value)
