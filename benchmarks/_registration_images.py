"""Registered pairs of real images of two modalities, small enough to register often."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from _registration_motion import Matrix, crop, motion, resample, window
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import binary_erosion

LARGEST = 800  # pixels: a larger image is halved, both of the pair
GRAY = (0.299, 0.587, 0.114)
VALIDATION = ("aloe", "books", "dolls", "laundry", "cloth1", "wood1")
NIR_TEST = ("0007", "0008", "0009")
NIR_AFFINE = ("oldbuilding_0001", "mountain_0001", "street_0003", "indoor_0001", "indoor_0010")
THERMAL = ("00006", "04269", "05105", "07365")
BRAINS = {
    "ct_mri": ("2004", "28005", "33018"),
    "pet_mri": ("25015", "25042", "25067"),
    "spect_mri": ("10007", "10043", "18009"),
}
LEFT_BY_AFFINE = {
    "oldbuilding_0001": (0.308, -0.030, -0.073),
    "mountain_0001": (0.034, 0.018, -0.001),
    "street_0003": (0.429, 0.055, -0.048),
    "indoor_0001": (0.515, -0.091, -0.055),
    "indoor_0010": (0.251, -0.216, 0.050),
}
"""What the known affine leaves: x, y in px at our size, and degrees; corner error up to .56 px.

Median over six registrations of the undone pair by the peers (elastix MI and NMI, SimpleITK, ANTs,
greedy NMI and NCC, see `_registration_peers.py`), which agree to about .1 px; this package had no
part in it. The truth of these pairs is corrected by it.
"""
TOLERANCE = {"nir": 3.0, "depth": 3.0, "t1_t2": 3.0, "t1_pd": 3.0, "retina": 3.0, "cells": 3.0}
"""Largest corner error that is right, px, by modality; 5 px where the truth itself is rough."""
ROUGH = 5.0


@dataclass(frozen=True, eq=False)
class Pair:
    """Two images of one scene and the matrix between them.

    Attributes
    ----------
    name, modality : str
        Of the scene, and of the two sensors.
    fixed, moving : ndarray, shape (H, W[, 3])
        The images.
    truth : ndarray, shape (3, 3)
        Fixed pixel (row, column, 1) -> moving pixel; projective for some landmark pairs.
    mask_fixed, mask_moving : ndarray of bool or None
        True = use.
    points : ndarray, shape (n, 2), or None
        Fixed landmarks: where the error is taken, instead of the corners.
    moved : ndarray, shape (n, 2), or None
        The same landmarks in the moving image.
    """

    name: str
    modality: str
    fixed: NDArray[Any]
    moving: NDArray[Any]
    truth: Matrix
    mask_fixed: NDArray[np.bool_] | None = None
    mask_moving: NDArray[np.bool_] | None = None
    points: NDArray[np.float64] | None = None
    moved: NDArray[np.float64] | None = None

    @property
    def tolerance(self) -> float:
        """Largest error that is right, in pixels."""
        return TOLERANCE.get(self.modality, ROUGH)


def gray(image: NDArray[Any]) -> NDArray[np.float32]:
    """Return the luminance of an image as float32."""
    if image.ndim == 2:
        return image.astype(np.float32)
    return (image[..., :3].astype(np.float64) @ np.array(GRAY)).astype(np.float32)


def read(path: Path) -> NDArray[Any]:
    """Read an image; palettes become gray."""
    with Image.open(path) as image:
        return np.asarray(image.convert("L") if image.mode == "P" else image)


def halve(image: NDArray[Any]) -> NDArray[Any]:
    """Return the means of 2x2 pixels where a side is larger than `LARGEST`."""
    if max(image.shape[:2]) <= LARGEST:
        return image
    rows, columns = image.shape[0] // 2 * 2, image.shape[1] // 2 * 2
    even = image[:rows, :columns].astype(np.float32)
    blocks = even.reshape(rows // 2, 2, columns // 2, 2, *image.shape[2:])
    return np.asarray(blocks.mean(axis=(1, 3), dtype=np.float32))


def _same_grid(
    name: str,
    modality: str,
    fixed: NDArray[Any],
    moving: NDArray[Any],
    known: NDArray[np.bool_] | None = None,
) -> Pair:
    return Pair(name, modality, halve(fixed), halve(moving), np.eye(3), mask_moving=known)


@cache
def nir(data: Path, name: str) -> Pair:
    """RGB and near infrared; the known affine of some is undone on the RGB grid.

    Parameters
    ----------
    data : Path
        Folder of the images.
    name : str
        One of `NIR_TEST` or `NIR_AFFINE`.

    Returns
    -------
    Pair
    """
    folder = data / "rgb_nir" / ("registered" if name.isdigit() else "known_affine")
    colour = read(folder / f"{name}_rgb.jpg")
    infrared = gray(read(folder / f"{name}_nir.jpg"))
    if name.isdigit():
        return _same_grid(f"nir {name}", "nir", colour, infrared)
    affine = to_rows(np.vstack([np.load(folder / f"{name}_nir.npy"), [0, 0, 1]]))
    box = window(colour.shape, affine)
    infrared = crop(resample(infrared, affine, colour.shape[:2]), box)
    pair = _same_grid(f"nir {name}", "nir", crop(colour, box), infrared)
    x, y, angle = LEFT_BY_AFFINE[name]
    return replace(pair, truth=motion(pair.fixed.shape, angle, (y, x)))


@cache
def depth(data: Path, name: str) -> Pair:
    """Intensity and disparity of a Middlebury scene.

    Parameters
    ----------
    data : Path
        Folder of the images.
    name : str
        "art" or one of `VALIDATION`.

    Returns
    -------
    Pair
        Holes of the disparity are filled with the farther of the next values in their row: they
        are background that the other camera did not see.
    """
    folder = data / "middlebury" / ("registration" if name == "art" else "validation") / name
    disparity = _background(read(folder / "disparity.png"))
    return _same_grid(f"depth {name}", "depth", read(folder / "image.png"), disparity)


@cache
def holes(data: Path, name: str) -> Pair:
    """Colour and depth of a real sensor, "desk" or "redwood"; holes are masked."""
    folder = data / "rgbd_holes"
    (colour,), (far,) = folder.glob(f"{name}_color.*"), folder.glob(f"{name}_depth.*")
    distance = read(far).astype(np.float32)
    known = binary_erosion(distance > 0, np.ones((3, 3)), border_value=1)
    filled = -_background(-distance)  # the farther is the larger here
    return _same_grid(f"sensor depth {name}", "sensor depth", read(colour), filled, known)


@cache
def thermal(data: Path, name: str) -> Pair:
    """Visible and thermal image of a road, registered to 1-3 px."""
    images = (read(data / f"thermal/{kind}_{name}.jpg") for kind in ("visible", "thermal"))
    return _same_grid(f"thermal {name}", "thermal", *images)


@cache
def brain(data: Path, kind: str, name: str) -> Pair:
    """MR (fixed) and CT, PET or SPECT (moving), registered to 1-6 px.

    Parameters
    ----------
    data : Path
        Folder of the images.
    kind : str
        A key of `BRAINS`.
    name : str
        One of its values.

    Returns
    -------
    Pair
    """
    folder = data / "brain_functional" / kind
    other = kind.partition("_")[0]
    images = (read(folder / f"{sensor}_{name}.png") for sensor in ("mri", other))
    return _same_grid(f"mri/{other} {name}", kind, *images)


@cache
def t1_pd(data: Path, name: str) -> Pair:
    """T1 and proton density of one slice.

    Parameters
    ----------
    data : Path
        Folder of the images.
    name : {"Border20", "Shifted13x17y", "R10X13Y17"}
        The second image: on the same grid, shifted, or turned about its centre and shifted.

    Returns
    -------
    Pair
    """
    folder = data / "brain_t1_pd"
    first = read(folder / "BrainT1SliceBorder20.png")
    second = read(folder / f"BrainProtonDensitySlice{name}.png")
    angle, *shift = PD_MOTION[name]
    truth = motion(first.shape, angle, (shift[0], shift[1]))
    return Pair(f"t1/pd {name}", "t1_pd", first, second, truth)


PD_MOTION = {
    "Border20": (0.0, 0.0, 0.0),
    "Shifted13x17y": (0.0, 17.0, 13.0),
    "R10X13Y17": (-10.0, 15.92, 13.09),
}
"""Degrees, rows and columns; the last found by correlating the image with the unmoved one: it was
not turned about the centre of the array."""


@cache
def shg(data: Path, name: str) -> Pair:
    """Second-harmonic image and H&E of a tissue core, registered by hand."""
    folder = data / "microscopy/shg_he"
    fixed, moving = (read(folder / f"{name}_{kind}.tif") for kind in ("shg_512_adjusted", "truth"))
    return _same_grid(f"shg/he {name}", "shg", fixed, moving)


@cache
def cells(data: Path, fixed: str, moving: str) -> Pair:
    """Two of "phase_contrast", "dapi" and "map2" of one field."""
    images = (read(data / f"microscopy/{name}.png") for name in (fixed, moving))
    return _same_grid(f"{fixed}/{moving}", "cells", *images)


def to_rows(matrix: Matrix) -> Matrix:
    """Swap x and y."""
    order = [1, 0, 2]
    return np.asarray(matrix[np.ix_(order, order)], np.float64)


def _background(image: NDArray[Any]) -> NDArray[np.float32]:
    """Fill zeros with the smaller of the next values to the left and right (or the one)."""
    values = np.where(image == 0, np.nan, image.astype(np.float32))
    left, right = _carry(values), _carry(values[:, ::-1])[:, ::-1]
    filled = np.fmin(left, right)
    return np.nan_to_num(np.fmin(filled, _carry(filled.T).T), nan=float(np.nanmin(values)))


def _carry(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Carry the last known value of a row to the right."""
    known = ~np.isnan(values)
    last = np.maximum.accumulate(np.where(known, np.arange(values.shape[1]), 0), axis=1)
    return np.asarray(np.take_along_axis(values, last, axis=1))
