"""Transforms as ITK's text files (``.tfm``), as SimpleITK, elastix and ANTs read them.

ITK's transform for resampling maps physical fixed (x, y) to physical moving (x, y), with x along
columns. Physical positions are pixels times pixel size: both images have their origin at the first
pixel's centre and no turned axes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, sin

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.errors import InputError

from ._transform_record import Pair, Transform, pixel_matrix, world_matrix

HEADER = "#Insight Transform File V1.0"
SWAP = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]])

Numbers = list[float]
Parts = tuple[NDArray[np.float64], Numbers]


def encode_itk(transform: Transform) -> str:
    """Write a transform as an ITK affine transform.

    Parameters
    ----------
    transform : Transform
        What is written.

    Returns
    -------
    str
        Numbers in it come back to the last bit.
    """
    matrix = SWAP @ world_matrix(transform) @ SWAP
    parameters = [*matrix[:2, :2].ravel(), *matrix[:2, 2]]
    numbers = " ".join(repr(float(value)) for value in parameters)
    return (
        f"{HEADER}\n#Transform 0\nTransform: AffineTransform_double_2_2\n"
        f"Parameters: {numbers}\nFixedParameters: 0 0\n"
    )


def decode_itk(text: str, size_fixed: Pair, size_moving: Pair) -> Transform:
    """Read a single linear ITK transform of the plane.

    Parameters
    ----------
    text : str
        Content of a ``.tfm`` or ``.txt`` file of ITK.
    size_fixed, size_moving : tuple of float
        Height and width of a pixel.

    Returns
    -------
    Transform
        Acts on pixels.

    Raises
    ------
    InputError
        If it is no such text, or a composite, deformable or three-dimensional transform.
    """
    kind, parameters, fixed = _entries(text)
    linear, shift = _linear(kind, parameters)
    if len(fixed) not in (0, 2):
        raise InputError(
            f"has {len(fixed)} fixed parameters; a transform of two dimensions has the two "
            "coordinates of its centre, or none"
        )
    centre = np.array(fixed if len(fixed) else [0.0, 0.0])
    matrix = np.eye(3)
    matrix[:2, :2] = linear
    matrix[:2, 2] = shift + centre - linear @ centre
    found = pixel_matrix(SWAP @ matrix @ SWAP, size_fixed, size_moving)
    return Transform(found, pixel_size_fixed=size_fixed, pixel_size_moving=size_moving)


def _entries(text: str) -> tuple[str, Numbers, Numbers]:
    """Read name, parameters and fixed parameters of the only transform."""
    lines = [line.strip() for line in text.splitlines()]
    if not lines or not lines[0].startswith("#Insight Transform File"):
        raise InputError(f'does not begin with "{HEADER}"')
    entries = [line.partition(":") for line in lines if line and not line.startswith("#")]
    kinds = [value.strip() for key, _, value in entries if key == "Transform"]
    if len(kinds) != 1 or kinds[0].startswith("Composite"):
        raise InputError(
            f"holds {len(kinds)} transforms ({', '.join(kinds) or 'none'}); a single one is read. "
            "Multiply composite transforms into one affine transform first"
        )
    values = {key: value.split() for key, _, value in entries if key != "Transform"}
    try:
        numbers = {key: [float(word) for word in words] for key, words in values.items()}
    except ValueError as error:
        raise InputError(f"has parameters that are no numbers ({error})") from error
    return kinds[0], numbers.get("Parameters", []), numbers.get("FixedParameters", [])


def _linear(kind: str, parameters: Numbers) -> Parts:
    """Split a transform's parameters into its linear part and its shift."""
    name, _, sizes = kind.partition("_")
    if name not in _KINDS or not sizes.endswith("2_2"):
        raise InputError(
            f"holds a {kind}; read are {', '.join(_KINDS)} of the plane (..._2_2). Convert it to "
            "an affine transform first"
        )
    count, parts = _KINDS[name]
    if len(parameters) != count:
        raise InputError(f"holds a {kind} with {len(parameters)} parameters instead of {count}")
    return parts(parameters)


def _affine(p: Numbers) -> Parts:
    return np.reshape(p[:4], (2, 2)), p[4:]


def _rigid(p: Numbers) -> Parts:
    return _turn(p[0]), p[1:]


def _similarity(p: Numbers) -> Parts:
    return p[0] * _turn(p[1]), p[2:]


def _translation(p: Numbers) -> Parts:
    return np.eye(2), p


def _turn(angle: float) -> NDArray[np.float64]:
    return np.array([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]])


_KINDS: dict[str, tuple[int, Callable[[Numbers], Parts]]] = {
    "AffineTransform": (6, _affine),
    "MatrixOffsetTransformBase": (6, _affine),
    "Euler2DTransform": (3, _rigid),
    "Rigid2DTransform": (3, _rigid),
    "Similarity2DTransform": (4, _similarity),
    "TranslationTransform": (2, _translation),
    "IdentityTransform": (0, lambda p: _translation([0.0, 0.0, *p])),
}
