"""Operator files in napari: dropped they show their atoms; layers of atoms are saved back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from napari_cosparse.core.errors import InputError
from napari_cosparse.io import load_operators, save_operators
from napari_cosparse.layers import LayerData, atom_layers, pair_of

OWN_ENDING = ".cosparse"
Reader = Callable[[str | list[str]], list[LayerData]]


def get_reader(path: str | list[str]) -> Reader | None:
    """Offer to read operator files.

    Parameters
    ----------
    path : str or list of str
        What was dropped.

    Returns
    -------
    callable or None
        The reader; None for other files, such as NumPy's own archives. Of a file that bears our own
        ending the reader says what is wrong with it.
    """
    try:
        for name in _paths(path):
            if Path(name).suffix.lower() != OWN_ENDING:
                load_operators(Path(name))
    except InputError:
        return None
    return read_atoms


def read_atoms(path: str | list[str]) -> list[LayerData]:
    """Show the atoms of operator files.

    Parameters
    ----------
    path : str or list of str
        Operator files.

    Returns
    -------
    list of (ndarray, dict, str)
        Two mosaics for each file.
    """
    return [
        made
        for name in _paths(path)
        for made in atom_layers(load_operators(Path(name)), Path(name).stem)
    ]


def write_layer(path: str, data: Any, attributes: dict[str, Any]) -> list[str]:  # noqa: ANN401, ARG001
    """Write the operator pair that a layer shows.

    Parameters
    ----------
    path : str
        The file, ``.cosparse`` or ``.npz``.
    data : array_like
        The mosaic; not needed.
    attributes : dict
        The layer's settings, whose metadata hold the pair.

    Returns
    -------
    list of str
        The file.

    Raises
    ------
    InputError
        The layer shows no operator pair.
    """
    told = pair_of(attributes.get("metadata", {}))
    if told is None:
        raise InputError(
            f"layer {attributes.get('name')!r} shows no operator pair; choose a layer of atoms, or "
            "another file type"
        )
    return [str(save_operators(path, told[1]))]


def write_layers(path: str, layers: list[LayerData]) -> list[str]:
    """Write the operator pair that two layers show.

    Parameters
    ----------
    path : str
        The file, ``.cosparse`` or ``.npz``.
    layers : list of (array, dict, str)
        The two mosaics of one pair.

    Returns
    -------
    list of str
        The file.

    Raises
    ------
    InputError
        They do not show one pair.
    """
    told = [pair_of(attributes.get("metadata", {})) for _, attributes, _ in layers]
    if None in told or len({id(pair[1]) for pair in told if pair}) != 1:
        raise InputError("the selected layers do not show one operator pair; save one layer")
    return write_layer(path, *layers[0][:2])


def _paths(path: str | list[str]) -> list[str]:
    return [path] if isinstance(path, str) else list(path)
