"""Layers written down so that a script finds or opens them again, where they lay."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from napari.layers import Image, Labels, Layer

from napari_cosparse.core.errors import InputError

from ._record import METADATA_KEY
from ._world import is_physical, placement

UNNAMED = ("{}", "axis {}")  # labels that napari gives by itself: 0.9, 0.6
BUILTIN = "napari"  # its readers make one layer of a file, without units

Recipe = dict[str, Any]


def layer_recipe(layer: Image | Labels) -> Recipe:
    """Write down what `open_layers` needs to find or to open a layer again.

    Parameters
    ----------
    layer : napari.layers.Image or Labels
        Any layer of pixels.

    Returns
    -------
    dict
        Python literals: name, kind, shape; sample or path; place, in so far as it is not the usual
        one. A layer of one level that came from nowhere gets ``by_hand``: True and the name of a
        file that somebody has to write with ``numpy.save``.
    """
    kind = "labels" if isinstance(layer, Labels) else "image"
    shape = tuple(int(n) for n in layer.data.shape)
    told: Recipe = {"name": layer.name, "kind": kind, "shape": shape, **_origin(layer)}
    place = place_of(layer)
    return {**told, "place": place} if place else told


def place_of(layer: Layer) -> dict[str, Any]:
    """Write down where a layer lies.

    Parameters
    ----------
    layer : napari.layers.Layer
        Any layer.

    Returns
    -------
    dict
        Keywords of a layer as Python literals; those that napari sets anyway are left out.
    """
    ndim, state = layer.ndim, placement(layer)
    usual = {
        "scale": np.ones(ndim),
        "translate": np.zeros(ndim),
        "rotate": np.eye(ndim),
        "shear": np.zeros(ndim * (ndim - 1) // 2),
        "affine": np.eye(ndim + 1),
    }
    told = {
        name: state[name].tolist()
        for name, value in usual.items()
        if not np.array_equal(state[name], value)
    }
    if any(is_physical(unit) for unit in state["units"]):
        told["units"] = [str(unit) for unit in state["units"]]
    unnamed = [tuple(form.format(axis) for axis in range(-ndim, 0)) for form in UNNAMED]
    if tuple(state["axis_labels"]) not in unnamed:
        told["axis_labels"] = list(state["axis_labels"])
    return told


def open_layers(viewer: Any, *recipes: Mapping[str, Any]) -> list[Layer]:  # noqa: ANN401
    """Find layers in a viewer, or open them and put them where they lay.

    Parameters
    ----------
    viewer : napari.viewer.Viewer
        Layers that are open in it are taken as they lie.
    *recipes : dict
        What `layer_recipe` wrote.

    Returns
    -------
    list of napari.layers.Layer
        One for each recipe.

    Raises
    ------
    InputError
        A layer is neither open nor to be opened, or is another one.
    """
    before = list(viewer.layers)
    return [_find(viewer, recipe, before) for recipe in recipes]


def _origin(layer: Layer) -> Recipe:
    source, record = layer.source, layer.metadata.get(METADATA_KEY)
    store = record.get("store") if isinstance(record, dict) else None
    if source.sample is not None:
        return {"sample": tuple(source.sample)}
    if source.path is not None:
        return {"path": _absolute(str(source.path)), "plugin": source.reader_plugin}
    if store is not None:
        return {"path": _absolute(str(store)), "plugin": BUILTIN}
    if layer.multiscale:
        return {}
    rgb = {"rgb": bool(layer.rgb)} if isinstance(layer, Image) else {}
    return {"path": f"{file_name(layer.name)}.npy", "plugin": BUILTIN, "by_hand": True, **rgb}


def _absolute(path: str) -> str:
    return path if "://" in path else str(Path(path).absolute())


def file_name(name: str) -> str:
    """Turn the name of a layer into the stem of a file's.

    Parameters
    ----------
    name : str
        Any text.

    Returns
    -------
    str
        Letters, digits, ``-`` and ``_``.
    """
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name).strip("_") or "layer"


def _find(viewer: Any, recipe: Mapping[str, Any], before: list[Layer]) -> Layer:  # noqa: ANN401
    name = recipe["name"]
    layer = next((layer for layer in viewer.layers if layer.name == name), None)
    if layer is None or not (_fits(layer, recipe) or layer in before):
        layer = _choose(_opened(viewer, recipe), recipe)
        layer.name = name
    if not _fits(layer, recipe):
        raise InputError(
            f"layer {name!r} has shape {tuple(layer.data.shape)}; the one that the script was "
            f"written for had {recipe['shape']}: rename or close it"
        )
    if layer not in before:
        for key, value in recipe.get("place", {}).items():
            setattr(layer, key, value)
    return layer


def _opened(viewer: Any, recipe: Mapping[str, Any]) -> list[Layer]:  # noqa: ANN401
    """Open what a recipe names; nothing else knows where the pixels are."""
    if "sample" in recipe:
        return list(viewer.open_sample(*recipe["sample"]))
    if "path" not in recipe:
        raise InputError(
            f"layer {recipe['name']!r} came from no file: open it in the viewer under this name "
            "before the script runs"
        )
    options = {"rgb": recipe["rgb"]} if "rgb" in recipe else {}
    if recipe.get("by_hand"):
        options["layer_type"] = recipe["kind"]
    open_it = partial(viewer.open, recipe["path"], plugin=recipe["plugin"], **options)
    units = recipe.get("place", {}).get("units")
    if units is not None and recipe["plugin"] == BUILTIN:
        # If they came later, napari could draw in between and warn that units are not the same.
        with suppress(ValueError):  # other axes than expected, which is told later
            return list(open_it(units=units))
    return list(open_it())


def _choose(layers: list[Layer], recipe: Mapping[str, Any]) -> Layer:
    """Choose the one of the name that it had, or the only one that fits."""
    fitting = [layer for layer in layers if _fits(layer, recipe)]
    named = [layer for layer in fitting if layer.name == recipe["name"]]
    if not named and len(fitting) != 1:
        where = recipe.get("path") or recipe.get("sample")
        raise InputError(
            f"{where} holds {len(fitting)} layers of kind {recipe['kind']} and shape "
            f"{recipe['shape']}, none called {recipe['name']!r}: open the right one under this "
            "name before the script runs"
        )
    return (named or fitting)[0]


def _fits(layer: Layer, recipe: Mapping[str, Any]) -> bool:
    kind = {"labels": Labels, "image": Image}[recipe["kind"]]
    return isinstance(getattr(layer, "__wrapped__", layer), kind) and (
        tuple(layer.data.shape) == tuple(recipe["shape"])
    )
