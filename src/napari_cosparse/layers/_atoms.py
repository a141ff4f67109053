"""Operator pairs as layers: the atoms of both modalities side by side, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil, isfinite, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from napari.layers import Layer
from napari.utils import Colormap
from napari.utils.colormaps import ensure_colormap
from numpy.typing import NDArray

from napari_cosparse.core.operators import AtomGroup, OperatorPair

from ._record import METADATA_KEY
from ._world import unit_factors
from ._write import LayerData

COLORMAP = "PiYG"  # diverging: the middle is a coefficient of 0
FRAME = (0.5, 0.5, 0.5, 1.0)  # around the atoms: 0 is as white as a light theme's canvas
PAIR = "pair"  # key of the operator pair in a layer's record
NAME = "pair_name"
FILE = "pair_file"  # where it was saved
MOST_ACROSS = 16

Sheet = NDArray[np.float32]


def atom_layers(
    pair: OperatorPair,
    name: str,
    record: Mapping[str, Any] | None = None,
    beside: Layer | None = None,
    among: Iterable[Layer] = (),
) -> list[LayerData]:
    """Show an operator pair as two mosaics side by side.

    Parameters
    ----------
    pair : OperatorPair
        The pair; the layers' metadata keep it, so that it can be used and saved.
    name : str
        What the pair is called in the viewer.
    record : mapping, optional
        How it came about, for the metadata.
    beside : napari.layers.Layer, optional
        Layer to whose right the atoms are shown, in its units and as high as it is.
    among : iterable of napari.layers.Layer, optional
        Other layers to whose right they are shown, too, so that they cover nothing.

    Returns
    -------
    list of (ndarray, dict, str)
        Layer data of U on the left and of V on the right. Tiles at the same place belong
        together; each is scaled to its largest coefficient, gaps are NaN.
    """
    sheets = [mosaic(pair, which) for which in "uv"]
    kept = {METADATA_KEY: {**(record or {"action": "read"}), PAIR: pair, NAME: name}}
    corner, step, units = _right_of(beside, sheets[0].shape[0], among)
    shift = sheets[0].shape[1] + 2
    return [
        (
            sheet,
            {
                "name": f"{name} {label}",
                "scale": (step, step),
                "translate": (corner[0], corner[1] + place * shift * step),
                "units": units,
                "contrast_limits": (-1, 1),
                "colormap": atom_colours(),
                "rgb": False,
                "metadata": {METADATA_KEY: dict(kept[METADATA_KEY])},
            },
            "image",
        )
        for place, (sheet, label) in enumerate(
            zip(sheets, ("U (guide, fixed)", "V (target, moving)"), strict=True)
        )
    ]


def atom_colours() -> Colormap:
    """Make the colours of atoms: green above 0, pink below, gray around.

    Returns
    -------
    napari.utils.Colormap
    """
    usual = ensure_colormap(COLORMAP)
    return Colormap(
        usual.colors,
        controls=usual.controls,
        interpolation=usual.interpolation,
        name=f"{COLORMAP} of atoms",
        nan_color=FRAME,
    )


def pairs_in(layers: Iterable[Layer]) -> dict[str, OperatorPair]:
    """Find the operator pairs that are shown in a viewer.

    Parameters
    ----------
    layers : iterable of napari.layers.Layer
        The viewer's layers.

    Returns
    -------
    dict of str to OperatorPair
        By name; the uppermost layer wins.
    """
    found = {}
    for layer in layers:
        told = pair_of(layer.metadata)
        if told is not None:
            found[told[0]] = told[1]
    return found


def file_of(layers: Iterable[Layer], name: str) -> str:
    """Find the file of an operator pair that is shown in a viewer.

    Parameters
    ----------
    layers : iterable of napari.layers.Layer
        The viewer's layers.
    name : str
        Of the pair.

    Returns
    -------
    str
        What it was read from or saved to; empty if it never was.
    """
    found = ""
    for layer in layers:
        told = pair_of(layer.metadata)
        if told is not None and told[0] == name:
            found = str(layer.metadata[METADATA_KEY].get(FILE) or layer.source.path or "")
    return str(Path(found).absolute()) if found else ""


def note_file(layers: Iterable[Layer], pair: OperatorPair, path: str | Path) -> None:
    """Write down in the layers that show an operator pair where it was saved.

    Parameters
    ----------
    layers : iterable of napari.layers.Layer
        The viewer's layers.
    pair : OperatorPair
        What was saved.
    path : str or Path
        The file.
    """
    for layer in layers:
        told = pair_of(layer.metadata)
        if told is not None and told[1] is pair:
            layer.metadata[METADATA_KEY][FILE] = str(Path(path).absolute())


def pair_of(metadata: Mapping[str, Any]) -> tuple[str, OperatorPair] | None:
    """Read the operator pair that a layer shows.

    Parameters
    ----------
    metadata : mapping
        The layer's.

    Returns
    -------
    tuple of (str, OperatorPair), or None
        Name and pair; None for any other layer.
    """
    record = metadata.get(METADATA_KEY)
    if not isinstance(record, Mapping) or not isinstance(record.get(PAIR), OperatorPair):
        return None
    return str(record.get(NAME, "learned")), record[PAIR]


def mosaic(pair: OperatorPair, which: str) -> Sheet:
    """Lay the atoms of one modality out as tiles, group below group.

    Parameters
    ----------
    pair : OperatorPair
        The pair.
    which : {"u", "v"}
        The modality.

    Returns
    -------
    ndarray, shape (H, W), float32
        Coefficients between -1 and 1; NaN between tiles and where an atom has no coefficient.
    """
    sheets = [_sheet(group, getattr(group, f"coefficients_{which}")) for group in pair.groups]
    width = max(sheet.shape[1] for sheet in sheets)
    padded = [
        np.pad(sheet, ((0, 1), (0, width - sheet.shape[1])), constant_values=np.nan)
        for sheet in sheets
    ]
    return np.concatenate(padded)[:-1]


def _sheet(group: AtomGroup, atoms: NDArray[np.float64]) -> Sheet:
    """Tiles of one group; pixels at a distance are drawn as neighbours."""
    rows, columns = (np.unique(axis, return_inverse=True) for axis in group.offsets.T)
    tall, wide = len(rows[0]), len(columns[0])
    count = len(atoms)
    across = min(MOST_ACROSS, ceil(sqrt(count * tall / wide)))
    down = ceil(count / across)
    sheet = np.full((down * (tall + 1) + 1, across * (wide + 1) + 1), np.nan, np.float32)
    scaled = atoms / np.maximum(np.abs(atoms).max(1, keepdims=True), np.finfo(float).tiny)
    for number, atom in enumerate(scaled):
        row, column = divmod(number, across)
        top, left = 1 + (tall + 1) * row, 1 + (wide + 1) * column
        sheet[top + rows[1], left + columns[1]] = atom
    return sheet


def _right_of(
    layer: Layer | None, rows: int, among: Iterable[Layer]
) -> tuple[tuple[float, float], float, Any]:
    """Find corner, pixel size and units for a sheet of some rows beside layers."""
    if layer is None:
        ends = _right_ends(among, ("pixel", "pixel"))
        return (0.0, max(ends) + 3 if ends else 0.0), 1.0, ("pixel", "pixel")
    (top, _), (bottom, right) = np.asarray(layer.extent.world, np.float64)[:, -2:]
    step = float((bottom - top) / max(rows - 1, 1)) or 1.0
    units = tuple(layer.units[-2:])
    right = max([float(right), *_right_ends(among, units)])
    return (float(top), right + 3 * step), step, units


def _right_ends(layers: Iterable[Layer], units: tuple[Any, ...]) -> list[float]:
    """Right edges of layers in some units, or in numbers where napari draws them so."""
    flat = [layer for layer in layers if layer.ndim > 1]
    factors = [unit_factors(layer.units[-2:], units) for layer in flat]
    alike = None not in factors  # else napari leaves the units of all layers out
    ends = [
        float(layer.extent.world[1, -1] + layer.extent.step[-1] / 2)
        * (told[1] if alike and told else 1.0)
        for layer, told in zip(flat, factors, strict=True)
    ]
    return [end for end in ends if isfinite(end)]
