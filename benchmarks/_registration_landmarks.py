"""Pairs of images as they come, related by landmarks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from _registration_images import Pair, gray, to_rows
from _registration_motion import Matrix
from numpy.typing import NDArray
from scipy.io import loadmat
from scipy.ndimage import binary_erosion, binary_fill_holes, binary_opening, label

LANDMARKS = (
    "depth_optical_do6",
    "sar_optical_so1",
    "rgb_nir_vn_20",
    "rgb_nir_vn_25",
    "retina_24",
    "retina_93",
    "mr_pet_1",
    "mr_pet_5",
    "spect_ct_1",
    "spect_ct_5",
    "t1_t2_10",
)
RIM = {"retina_24": (25, 25), "retina_93": (6, 25)}
"""Luminance of the field of view's rim, fixed and moving."""
RIM_WIDTH = 8  # pixels that the masks lose at the rim


@cache
def landmarks(data: Path, name: str) -> Pair:
    """Two images as they come, related by landmarks.

    Parameters
    ----------
    data : Path
        Folder of the images.
    name : str
        Of the file, without its ending.

    Returns
    -------
    Pair
        Retina pairs have masks of their field of view.
    """
    content = loadmat(data / f"landmarks/{name}.mat")
    fixed, moving = content["I_fix"], content["I_move"]
    truth = np.linalg.inv(from_matlab(content["T"]))
    marks = content["Landmarks"][0, 0]
    points, moved = (marks[key].astype(float)[:, ::-1] - 1 for key in ("LMfix", "LMmov"))
    rims = RIM.get(name)
    masks = (None, None) if rims is None else tuple(map(_field, (fixed, moving), rims))
    modality = MODALITY[name.rpartition("_")[0]]
    return Pair(f"landmarks {name}", modality, fixed, moving, truth, *masks, points, moved)


MODALITY = {
    "depth_optical": "depth/optical",
    "mr_pet": "mr/pet",
    "retina": "retina",
    "rgb_nir_vn": "nir",
    "sar_optical": "sar",
    "spect_ct": "spect/ct",
    "t1_t2": "t1_t2",
}


def from_matlab(matrix: Matrix) -> Matrix:
    """Convert MATLAB's ``[x y 1] @ T`` from 1-based x, y to ``T (row, column, 1)``.

    Parameters
    ----------
    matrix : ndarray, shape (3, 3)
        For row vectors from the right, columns before rows, first pixel at 1.

    Returns
    -------
    ndarray, shape (3, 3), float64
        For column vectors from the left, rows before columns, first pixel at 0.
    """
    one = np.array([[1.0, 0, 1], [0, 1, 1], [0, 0, 1]])
    return to_rows(np.linalg.inv(one) @ matrix.T @ one)


def _field(image: NDArray[Any], rim: float) -> NDArray[np.bool_]:
    """Field of view of a fundus camera: the largest bright region, without its rim."""
    bright = binary_opening(binary_fill_holes(gray(image) > rim), np.ones((7, 7)))
    regions, _ = label(bright)
    largest = np.argmax(np.bincount(regions.ravel())[1:]) + 1
    filled = binary_fill_holes(regions == largest)
    return np.asarray(binary_erosion(filled, iterations=RIM_WIDTH, border_value=0))
