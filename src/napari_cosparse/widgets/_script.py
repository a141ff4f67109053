"""Scripts that give the same result as a panel."""

from collections.abc import Mapping, Sequence
from typing import Any

from napari.layers import Layer

from napari_cosparse import __version__
from napari_cosparse.core.reconstruction import Settings

from ._configure import memory_bytes
from ._job import Pair

HEAD = f'''"""Made by napari-cosparse {__version__}. Run it in napari's console, where the layers
are open, or open the files that are named below first."""

import napari
import numpy as np

import napari_cosparse as nc
from napari_cosparse.core.operators import bank
from napari_cosparse.layers import {{names}}

viewer = napari.current_viewer() or napari.Viewer()
'''
NOT_IN_SCRIPT = {"weights", "start", "solver", "seed"}


def upsample_script(pair: Pair, operators: str, settings: Settings) -> str:
    """Write a script that upsamples as the panel does.

    Parameters
    ----------
    pair : Pair
        The layers.
    operators : str
        Python expression of the operators.
    settings : Settings
        As `placed` completes them.

    Returns
    -------
    str
        Python.
    """
    told = {k: v for k, v in settings.as_json().items() if k not in NOT_IN_SCRIPT}
    keywords = {k: tuple(v) if isinstance(v, list) else v for k, v in told.items()}
    names = "destination, layer_data, match_stacks, pairs_in, read"
    return f"""{head(names, {"target": pair.target, "guide": pair.guide})}
target, guide = viewer.layers[{pair.target.name!r}], viewer.layers[{pair.guide.name!r}]
levels = {pair.levels!r}  # of the pyramids, for target and guide
low, fine = read(target, levels[0]), read(guide, levels[1])
results = [
    nc.upsample(
        low.load_gray(ours),
        fine.load(theirs),
        {operators},
{indented(keywords, 8)}
    )
    for ours, theirs in match_stacks(low, fine).pairs()
]
made = layer_data(results, destination(target, guide, levels))
viewer.add_layer(napari.layers.Layer.create(*made))
"""


def store_script(pair: Pair, operators: str, settings: Settings, path: str) -> str:
    """Write a script that upsamples into a store as the panel does.

    Parameters
    ----------
    pair : Pair
        The layers.
    operators : str
        Python expression of the operators.
    settings : Settings
        As `placed` completes them.
    path : str
        The store.

    Returns
    -------
    str
        Python.
    """
    told = {k: v for k, v in settings.as_json().items() if k not in NOT_IN_SCRIPT}
    keywords = {k: tuple(v) if isinstance(v, list) else v for k, v in told.items()}
    return f"""{head("pairs_in, read", {"target": pair.target, "guide": pair.guide})}
stored = nc.upsample_to_store(
    read(viewer.layers[{pair.target.name!r}], {pair.levels[0]}).gray,
    read(viewer.layers[{pair.guide.name!r}], {pair.levels[1]}).pixels,
    {path!r},
    {operators},
    memory={int(memory_bytes())},
    colour=(False, {bool(pair.guide.rgb)}),
{indented(keywords, 4)}
)
print(stored)
"""


def head(names: str, layers: Mapping[str, Layer]) -> str:
    """Begin a script: imports, and where its layers came from.

    Parameters
    ----------
    names : str
        What it imports from `napari_cosparse.layers`.
    layers : mapping of str to Layer
        Its inputs.

    Returns
    -------
    str
        Python.
    """
    told = [f"# {role}: {origin(layer)}" for role, layer in layers.items()]
    return HEAD.format(names=names) + "\n".join(told)


def origin(layer: Layer) -> str:
    """Say in one line where a layer came from.

    Parameters
    ----------
    layer : napari.layers.Layer
        Any layer.

    Returns
    -------
    str
    """
    if layer.source.path is not None:
        return f"layer {layer.name!r}, viewer.open({str(layer.source.path)!r})"
    if layer.source.sample is not None:
        plugin, key = layer.source.sample
        return f"layer {layer.name!r}, viewer.open_sample({plugin!r}, {key!r})"
    return f"layer {layer.name!r}, not from a file"


def indented(keywords: Mapping[str, Any], width: int) -> str:
    """Write keywords, one a line.

    Parameters
    ----------
    keywords : mapping
        Names and values.
    width : int
        Spaces before each.

    Returns
    -------
    str
    """
    return "\n".join(f"{' ' * width}{name}={value!r}," for name, value in keywords.items())


def learn_script(
    pairs: Sequence[tuple[Layer, Layer]], keywords: Mapping[str, Any], name: str, *, join: bool
) -> str:
    """Write a script that learns as the panel does.

    Parameters
    ----------
    pairs : sequence of tuple of Layer
        Layers of U and V.
    keywords : mapping
        Of `learn_operators`.
    name : str
        What the pair is called.
    join : bool
        Whether differences are added.

    Returns
    -------
    str
        Python.
    """
    layers = {
        f"{modality}{number}": layer
        for number, pair in enumerate(pairs)
        for modality, layer in zip("uv", pair, strict=True)
    }
    named = [(u.name, v.name) for u, v in pairs]
    return f"""{head("atom_layers, match_stacks, read", layers)}
pairs = []
for u, v in {named!r}:
    first, second = read(viewer.layers[u]), read(viewer.layers[v])
    for ours, theirs in match_stacks(first, second).pairs():
        pairs.append((first.load(ours), second.load(theirs)))
learned = nc.learn_operators(
    pairs,
{indented(keywords, 4)}
)
pair = {"bank(learned.pair)" if join else "learned.pair"}
for made in atom_layers(pair, {name!r}):
    viewer.add_layer(napari.layers.Layer.create(*made))
"""
