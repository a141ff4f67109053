"""Parts of scripts that run anywhere: layers that are opened again, imports that are used."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pprint import pformat
from textwrap import indent
from typing import Any

import numpy as np
from napari.layers import Image, Labels, Shapes

from napari_cosparse import __version__
from napari_cosparse.layers import file_name, layer_recipe, place_of

WIDTH = 92
HEAD = '''"""{what}, as a panel of napari-cosparse {version} did.

In napari's console it takes the layers that are open. Elsewhere it opens them, and a viewer.
"""

'''
VIEWER = """viewer = napari.current_viewer()
alone = viewer is None
if alone:
    viewer = napari.Viewer()
"""
TO_DO = "\n# "  # begins a line that says what to do before a script can run elsewhere
END = """if alone:
    napari.run()
"""
LIBRARY = {
    "napari_cosparse.core.errors": ("ApartError",),
    "napari_cosparse.core.operators": ("bank",),
    "napari_cosparse.layers": (
        *("atom_layers", "destination", "grid_of", "layer_data", "lazy_plane", "level_map"),
        *("mask_on", "match_stacks", "mirror", "motion_of", "moved", "open_layers", "pairs_in"),
        *("read", "store_place", "stored_data"),
    ),
    "napari_cosparse.tiles": ("known_samples", "open_levels"),
    "napari_cosparse.widgets": ("resampled",),
}


@dataclass(frozen=True)
class Operators:
    """Which operators a script uses.

    Attributes
    ----------
    python : str
        Python expression of them.
    name : str
        Name or file, for the record of the result.
    before : str
        Statements that the expression needs.
    """

    python: str
    name: str
    before: str = ""


def shown_operators(name: str, told: str, file: str = "") -> Operators:
    """Write how to find operators that a viewer shows, or the file that holds them.

    Parameters
    ----------
    name : str
        Of the pair.
    told : str
        Name for the record of the result.
    file : str
        Where it was read from or saved to; empty if it never was.

    Returns
    -------
    Operators
        For a pair that is in no file, with a comment that says what to do first.
    """
    path = file or f"{file_name(name)}.cosparse"
    note = (
        f"# The operators {name!r} are in no file. Unless they are open, save one of their layers\n"
        f"# once, as {path!r}, or write here where it is.\n"
    )
    return Operators(
        "operators",
        told,
        f"{'' if file else note}saved, shown = {path!r}, pairs_in(viewer.layers)\n"
        f"operators = shown[{name!r}] if {name!r} in shown else nc.load_operators(saved)\n",
    )


def whole_script(what: str, body: str) -> str:
    """Put a docstring, the imports that are needed, a viewer and an end around a script.

    Parameters
    ----------
    what : str
        What the script does, in a few words.
    body : str
        Its statements, from the one after `viewer` on.

    Returns
    -------
    str
        Python.
    """
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    lines = ["import napari", *(["import numpy as np"] if "np" in used else []), ""]
    lines += ["import napari_cosparse as nc"] if "nc" in used else []
    for module, names in LIBRARY.items():
        needed = [name for name in names if name in used]
        if needed:
            line = f"from {module} import {', '.join(needed)}"
            if len(line) > WIDTH:
                line = f"from {module} import (\n    " + ",\n    ".join(needed) + ",\n)"
            lines.append(line)
    head = HEAD.format(what=what.replace("\\", "/").replace('"', "'"), version=__version__)
    return head + "\n".join(lines) + f"\n\n{VIEWER}{body}{END}"


def opening(layers: Mapping[str, Image | Labels]) -> str:
    """Write the statement that finds or opens layers.

    Parameters
    ----------
    layers : mapping of str to Layer
        Names of variables and layers.

    Returns
    -------
    str
        Python; for layers that came from no file it says what to do first.
    """
    recipes = [layer_recipe(layer) for layer in layers.values()]
    lines = [
        f"# {told['name']!r} came from no file. Unless it is open, write its pixels once:\n"
        f"# numpy.save({told['path']!r}, viewer.layers[{told['name']!r}].data)\n"
        if told.get("by_hand")
        else f"# {told['name']!r} came from no file: open it first, under this name.\n"
        for told in recipes
        if told.get("by_hand") or not {"path", "sample"} & set(told)
    ]
    written = "".join(
        indent(pformat(told, width=WIDTH - 4, sort_dicts=False), "    ") + ",\n" for told in recipes
    )
    names = ", ".join(layers) + ("," if len(layers) == 1 else "")
    return f"{''.join(lines)}{names} = open_layers(\n    viewer,\n{written})\n"


def shapes_literal(layer: Shapes) -> str:
    """Write a layer of shapes as an expression.

    Parameters
    ----------
    layer : napari.layers.Shapes
        What is drawn.

    Returns
    -------
    str
        Python, exact to the last digit.
    """
    data = [np.asarray(corners).tolist() for corners in layer.data]
    told: Sequence[str] = [
        f"name={layer.name!r}",
        f"shape_type={[str(kind) for kind in layer.shape_type]!r}",
        *(f"{key}={value!r}" for key, value in place_of(layer).items()),
    ]
    return f"napari.layers.Shapes(\n    {data!r},\n    {', '.join(told)},\n)"


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
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    return repr(value.item() if isinstance(value, np.generic) else value)


def keyword_lines(keywords: Mapping[str, Any]) -> str:
    """Write keywords, one a line.

    Parameters
    ----------
    keywords : mapping of str to str
        Names and Python expressions.

    Returns
    -------
    str
    """
    return "".join(f"    {name}={value},\n" for name, value in keywords.items())
