"""The option --transform of ``napari-cosparse upsample``."""

from __future__ import annotations

from argparse import Namespace

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.api import load_transform
from napari_cosparse.core.errors import InputError

IN_LENGTHS = (".txt", ".csv", ".tfm")
Shape = tuple[int, ...]


def read_option(arguments: Namespace, target: Shape, guide: Shape) -> NDArray[np.float64] | None:
    """Read where the guide's pixels lie in the target.

    Parameters
    ----------
    arguments : Namespace
        Of the command line.
    target, guide : tuple of int
        Rows and columns of the images.

    Returns
    -------
    ndarray, shape (3, 3), or None
        Guide pixel to target pixel; None if the option is not given.

    Raises
    ------
    InputError
        If the file holds no transform or one of other images, the registration is not trusted, or
        another option says the same.
    """
    path = arguments.transform
    if path is None:
        return None
    if arguments.factor is not None or arguments.phase is not None:
        raise InputError("--transform says where every sample lies; leave --factor and --phase out")
    if path.suffix.lower() != ".json":
        lengths = path.suffix.lower() in IN_LENGTHS
        raise InputError(
            f"{path} is {'in physical units' if lengths else 'no transform'}; give the .json that "
            "`napari-cosparse register` writes, which is in pixels"
        )
    transform = load_transform(path)
    if not transform.trusted:
        raise InputError(
            f"{path} is not trusted: {transform.because}. Register again with a better start, or "
            'set "trusted" to true in the file if you have looked at it'
        )
    if (transform.fixed_shape, transform.moving_shape) == (target, guide) != (guide, target):
        raise InputError(
            f"{path} maps the target to the guide; register the other way round: "
            f"napari-cosparse register {arguments.guide} {arguments.target}"
        )
    for name, shape, given in (
        ("guide", guide, transform.fixed_shape),
        ("target", target, transform.moving_shape),
    ):
        if given is not None and given != shape:
            raise InputError(
                f"{name} has {shape[0]} x {shape[1]} pixels, but {path} is for {given[0]} x "
                f"{given[1]}; give the images that were registered"
            )
    return transform.matrix
