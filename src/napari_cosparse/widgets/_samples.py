"""Sample data for napari's File > Open Sample."""

import numpy as np
from numpy.typing import NDArray

from napari_cosparse import io
from napari_cosparse.core.reconstruction import degrade
from napari_cosparse.layers import LayerData

FACTOR = 4


def textured_scene() -> list[LayerData]:
    """Make a scene by code: guide, true depth and low-resolution depth in metres.

    Returns
    -------
    list of (ndarray, dict, str)
        Layer data that lie on one another.
    """
    scene = io.make_scene()
    return scene_layers(scene.guide, scene.depth, "depth")


def motorcycle() -> list[LayerData]:
    """Fetch the Motorcycle scene of the Middlebury 2014 stereo benchmark.

    Returns
    -------
    list of (ndarray, dict, str)
        Layer data: left image and disparity in pixels, NaN where it is not known.

    Raises
    ------
    InputError
        scikit-image is missing or cannot download the scene; napari shows the message.
    """
    view = io.motorcycle()
    return scene_layers(view.guide, view.disparity, "disparity")


def scene_layers(
    guide: NDArray[np.uint8], truth: NDArray[np.float32], quantity: str
) -> list[LayerData]:
    """Make the layers of a scene: truth (hidden), low resolution and guide.

    Parameters
    ----------
    guide : ndarray, shape (H, W, 3), uint8
        Colour image.
    truth : ndarray, shape (H, W), float32
        What upsampling should find; NaN where it is not known.
    quantity : str
        Name of what `truth` measures.

    Returns
    -------
    list of (ndarray, dict, str)
        Layer data in guide pixels. A coarse pixel is the mean of `FACTOR` x `FACTOR` fine ones, so
        its centre lies in the middle of them.
    """
    coarse = degrade(truth, FACTOR)
    limits = (float(np.nanmin(truth)), float(np.nanmax(truth)))
    looks = {"colormap": "viridis", "contrast_limits": limits}
    centre = (FACTOR - 1) / 2
    placed = {"scale": (FACTOR, FACTOR), "translate": (centre, centre), "opacity": 0.7}
    return [
        (truth, {"name": f"true {quantity}", "visible": False, **looks}, "image"),
        (guide, {"name": "guide", "rgb": True}, "image"),
        (coarse, {"name": f"low-resolution {quantity}", **placed, **looks}, "image"),
    ]


def displaced_scene() -> list[LayerData]:
    """Make a scene by code whose depth is turned and shifted against the guide.

    Returns
    -------
    list of (ndarray, dict, str)
        Layer data: the guide in micrometres, and a depth image of another pixel size that lies
        up to tens of pixels off.
    """
    scene = io.make_scene()
    place = {"scale": (0.5, 0.5), "units": "um"}
    inner = scene.depth[24:-24, 32:-32]
    limits = (float(np.nanmin(inner)), float(np.nanmax(inner)))
    # Its true place is (12, 16) um without rotation.
    wrong = {"scale": (500, 500), "translate": (18e3, 9e3), "rotate": 7, "units": "nm"}
    looks = {"colormap": "viridis", "contrast_limits": limits, "opacity": 0.7}
    return [
        (scene.guide, {"name": "photo", "rgb": True, **place}, "image"),
        (inner, {"name": "depth", **wrong, **looks}, "image"),
    ]
