"""What upsampling is compared with: interpolation, and OpenCV's guided filters.

The filters smooth the bicubically enlarged target with the guide. Their parameters lie in
``peers.json`` for each protocol and factor; ``python benchmarks/upsampling.py --tune`` chooses
them again, by the validation images alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from _middlebury import Protocol
from numpy.typing import NDArray

from napari_cosparse.core.reconstruction import bicubic

PARAMETERS = Path(__file__).with_name("peers.json")
Plane = NDArray[np.float32]
Parameters = Mapping[str, float]


def enlarge_nearest(
    samples: Plane, shape: tuple[int, int], factor: int, protocol: Protocol
) -> Plane:
    """Give each pixel the value of the sample nearest to it.

    Parameters
    ----------
    samples : ndarray, shape (m1, m2), float32
        Any unit.
    shape : tuple of int
        Size of the guide (N1, N2), in pixels.
    factor : int
        Distance of two samples, in pixels.
    protocol : Protocol
        Says where the samples lie.

    Returns
    -------
    ndarray, shape (N1, N2), float32
    """
    operator = protocol.sampling(shape, samples.shape, factor)
    rows, columns = (
        np.clip(
            np.floor((np.arange(axis.size) - axis.origin) / axis.factor + 0.5).astype(int),
            0,
            axis.samples - 1,
        )
        for axis in (operator.rows, operator.columns)
    )
    return samples[np.ix_(rows, columns)]


def enlarge_bicubic(
    samples: Plane, shape: tuple[int, int], factor: int, protocol: Protocol
) -> Plane:
    """Interpolate the samples cubically at their true positions.

    Parameters
    ----------
    samples : ndarray, shape (m1, m2), float32
        Any unit.
    shape : tuple of int
        Size of the guide (N1, N2), in pixels.
    factor : int
        Distance of two samples, in pixels.
    protocol : Protocol
        Says where the samples lie.

    Returns
    -------
    ndarray, shape (N1, N2), float32
    """
    return bicubic(samples, protocol.sampling(shape, samples.shape, factor))


def joint_bilateral(guide: NDArray[np.uint8], image: Plane, settings: Parameters) -> Plane:
    """Filter with OpenCV's jointBilateralFilter.

    Parameters
    ----------
    guide : ndarray, shape (N1, N2, 3), uint8
        Colour image.
    image : ndarray, shape (N1, N2), float32
        Enlarged target.
    settings : mapping
        ``sigma_color`` in grey levels (summed over the channels), ``sigma_space`` in pixels.

    Returns
    -------
    ndarray, shape (N1, N2), float32
    """
    import cv2  # the extra "benchmark"

    colour, space = settings["sigma_color"], settings["sigma_space"]
    joint = guide.astype(np.float32)  # OpenCV wants both of one type
    return np.asarray(cv2.ximgproc.jointBilateralFilter(joint, image, -1, colour, space))


def guided_filter(guide: NDArray[np.uint8], image: Plane, settings: Parameters) -> Plane:
    """Filter with OpenCV's guidedFilter.

    Parameters
    ----------
    guide : ndarray, shape (N1, N2, 3), uint8
        Colour image.
    image : ndarray, shape (N1, N2), float32
        Enlarged target.
    settings : mapping
        ``radius`` in pixels, ``eps`` in squared grey levels.

    Returns
    -------
    ndarray, shape (N1, N2), float32
    """
    import cv2  # the extra "benchmark"

    radius, eps = int(settings["radius"]), settings["eps"]
    return np.asarray(cv2.ximgproc.guidedFilter(guide, image, radius, eps))


def fast_global_smoother(guide: NDArray[np.uint8], image: Plane, settings: Parameters) -> Plane:
    """Filter with OpenCV's fastGlobalSmootherFilter.

    Parameters
    ----------
    guide : ndarray, shape (N1, N2, 3), uint8
        Colour image.
    image : ndarray, shape (N1, N2), float32
        Enlarged target.
    settings : mapping
        ``strength``, no unit (OpenCV's lambda), ``sigma_color`` in grey levels.

    Returns
    -------
    ndarray, shape (N1, N2), float32
    """
    import cv2  # the extra "benchmark"

    strength, sigma = settings["strength"], settings["sigma_color"]
    return np.asarray(cv2.ximgproc.fastGlobalSmootherFilter(guide, image, strength, sigma))


@dataclass(frozen=True)
class Peer:
    """A filter and the grid among which its parameters are chosen.

    Attributes
    ----------
    run : callable
        Filters ``(guide, image, settings)``.
    grid : mapping
        Values of each parameter; those named in `scaled` are multiplied by the factor.
    scaled : tuple of str
        Parameters that are lengths.
    """

    run: Callable[[NDArray[np.uint8], Plane, Parameters], Plane]
    grid: Mapping[str, tuple[float, ...]]
    scaled: tuple[str, ...] = ()

    def candidates(self, factor: int) -> list[dict[str, float]]:
        """All parameters of the grid at a factor.

        Parameters
        ----------
        factor : int
            Distance of two samples, in pixels.

        Returns
        -------
        list of dict
        """
        lines = (
            [(name, value * (factor if name in self.scaled else 1)) for value in values]
            for name, values in self.grid.items()
        )
        return [dict(choice) for choice in product(*lines)]


PEERS = {
    "joint bilateral": Peer(
        joint_bilateral,
        {"sigma_color": (5, 10, 15, 20, 30), "sigma_space": (0.25, 0.5, 0.75, 1, 1.5)},
        ("sigma_space",),
    ),
    "guided filter": Peer(
        guided_filter,
        {"radius": (1, 2, 3, 4, 6, 8), "eps": (0.03, 0.1, 0.3, 1, 3, 10, 30, 100)},
    ),
    "fast global smoother": Peer(
        fast_global_smoother,
        {"strength": (0.1, 0.3, 1, 3, 10, 30, 100, 300), "sigma_color": (1, 2, 3, 4, 6, 8, 12)},
    ),
}


def read_parameters(path: Path = PARAMETERS) -> dict[str, Any]:
    """Read the chosen parameters.

    Parameters
    ----------
    path : Path
        A file that ``--tune`` wrote.

    Returns
    -------
    dict
        Settings by protocol, factor (as text) and peer.
    """
    chosen: dict[str, Any] = json.loads(path.read_text())
    return chosen
