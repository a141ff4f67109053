"""The Middlebury scenes and the two ways to make a low-resolution target from them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from scipy.ndimage import distance_transform_edt

from napari_cosparse.core.reconstruction import SamplingOperator, degrade, sampling_operator

TEST = {"tsukuba": 16.0, "venus": 8.0, "teddy": 4.0, "cones": 4.0}
"""Test images and the value of one pixel of disparity in their files."""
VALIDATION = ("aloe", "books", "cloth1", "dolls", "laundry", "wood1")
VALIDATION_SCALE = 3.0


@dataclass(frozen=True, eq=False)
class Scene:
    """A guide and its disparity.

    Attributes
    ----------
    name : str
        Name of the scene.
    guide : ndarray, shape (N1, N2, 3), uint8
        Colour image.
    truth : ndarray, shape (N1, N2), float64
        Disparity without holes, in pixels.
    known : ndarray, shape (N1, N2), bool
        Where the original ground truth has a value.
    """

    name: str
    guide: NDArray[np.uint8]
    truth: NDArray[np.float64]
    known: NDArray[np.bool_]

    def crop(self, rows: slice, columns: slice) -> Scene:
        """Cut a window out of the scene.

        Parameters
        ----------
        rows, columns : slice
            The window, in pixels.

        Returns
        -------
        Scene
        """
        part = rows, columns
        return Scene(self.name, self.guide[part], self.truth[part], self.known[part])


@dataclass(frozen=True)
class Protocol:
    """How the target is made and where the result is scored.

    Attributes
    ----------
    name : {"paper", "network"}
        Its name on the command line.
    phase, blur : str
        As for `degrade`.
    everywhere : bool
        Whether all pixels are scored, or those with an original ground truth alone.
    summary : str
        One line for the head of a table.
    """

    name: str
    phase: Literal["centre", "corner"]
    blur: Literal["gaussian", "box", "bicubic", "none"]
    everywhere: bool
    summary: str

    def reduce(self, truth: NDArray[np.float64], factor: int) -> NDArray[np.float32]:
        """Make the low-resolution target, without noise.

        Parameters
        ----------
        truth : ndarray, shape (N1, N2)
            Disparity, in pixels.
        factor : int
            Distance of two samples, in pixels.

        Returns
        -------
        ndarray, shape (ceil(N1 / d), ceil(N2 / d)), float32
            Disparity, in pixels of the full size.
        """
        return degrade(truth, factor, phase=self.phase, blur=self.blur, noise=0.0)

    def sampling(
        self, guide: tuple[int, int], target: tuple[int, int], factor: int
    ) -> SamplingOperator:
        """Make the operator that `reduce` applies.

        Parameters
        ----------
        guide, target : tuple of int
            Shapes, in pixels.
        factor : int
            Distance of two samples, in pixels.

        Returns
        -------
        SamplingOperator
        """
        steps = float(factor), float(factor)
        return sampling_operator(guide, target, steps, phase=self.phase, blur=self.blur)

    def scored(self, scene: Scene) -> NDArray[np.bool_]:
        """Pixels whose error counts.

        Parameters
        ----------
        scene : Scene
            Gives the original ground truth.

        Returns
        -------
        ndarray, shape (N1, N2), bool
        """
        return np.ones_like(scene.known) if self.everywhere else scene.known


PROTOCOLS = {
    "paper": Protocol(
        name="paper",
        phase="corner",
        blur="gaussian",
        everywhere=True,
        summary="Gaussian (2d-1)x(2d-1), sigma d/3, samples at 0, d, 2d, ...; scored on all "
        "pixels of the hole-filled ground truth",
    ),
    "network": Protocol(
        name="network",
        phase="centre",
        blur="bicubic",
        everywhere=False,
        summary="antialiased bicubic reduction of the hole-filled ground truth; scored where "
        "the original ground truth is known",
    ),
}


def data_folder(given: Path | None = None) -> Path:
    """Folder of the real images: as given, or COSPARSE_DATA, or beside the checkout.

    Parameters
    ----------
    given : Path, optional
        Wins over the environment.

    Returns
    -------
    Path
    """
    beside = Path(__file__).parents[1] / "../shared/data"
    return given or Path(os.environ.get("COSPARSE_DATA", beside))


def read_test(data: Path, name: str) -> Scene:
    """Read a test scene with its hole-filled ground truth, cropped to that one's rows.

    Parameters
    ----------
    data : Path
        Folder of the images.
    name : str
        One of `TEST`.

    Returns
    -------
    Scene
    """
    folder = data / "middlebury/test" / name
    filled = loadmat(folder / "disparity_filled.mat")["img_double"].astype(np.float64)
    rows = len(filled)
    guide, disparity = _read(folder, "image")[:rows], _read(folder, "disparity")[:rows]
    return Scene(name, guide, filled / TEST[name], disparity > 0)


def read_validation(data: Path, name: str) -> Scene:
    """Read a validation scene; a hole takes the value of the nearest known pixel.

    Parameters
    ----------
    data : Path
        Folder of the images.
    name : str
        One of `VALIDATION`.

    Returns
    -------
    Scene
    """
    folder = data / "middlebury/validation" / name
    disparity = _read(folder, "disparity")
    known = disparity > 0
    nearest = distance_transform_edt(~known, return_distances=False, return_indices=True)
    truth = disparity[tuple(nearest)] / VALIDATION_SCALE
    return Scene(name, _read(folder, "image"), truth, known)


def _read(folder: Path, stem: str) -> NDArray[np.uint8]:
    """Read the one image of that stem."""
    (path,) = folder.glob(f"{stem}.p*")
    return np.asarray(iio.imread(path))
