"""A matrix in words: how far it turns, scales, shears and shifts an image."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, degrees, sqrt

import numpy as np
from numpy.typing import ArrayLike

from napari_cosparse.core.errors import InputError

from ._matrix import as_motion


@dataclass(frozen=True)
class Motion:
    """What an affine motion does to an image.

    Attributes
    ----------
    rotation : float
        Angle in degrees, from the row axis towards the column axis positive: anticlockwise on a
        screen whose rows run down. In (-180, 180]. It belongs to the nearest rotation.
    scale : float
        Square root of the ratio of areas, moving pixel per fixed pixel.
    stretch : float
        Largest over smallest scale of any direction; 1 without shear.
    shift : tuple of float
        Where the centre of the fixed image lands, less the centre of the moving image:
        (row, column) in moving pixels.
    mirrored : bool
        Whether the determinant is negative; the rotation is then the one after a column flip.
    """

    rotation: float
    scale: float
    stretch: float
    shift: tuple[float, float]
    mirrored: bool

    def __str__(self) -> str:
        """One line for people."""
        words = f"rotation {self.rotation:+.3f} deg, shift ({self.shift[0]:+.2f}, "
        words += f"{self.shift[1]:+.2f}) px, scale {self.scale:.4f}"
        if self.stretch > 1 + 5e-5:
            words += f", stretch {self.stretch:.4f}"
        return words + (", mirrored" if self.mirrored else "")


def motion_of(
    matrix: ArrayLike, fixed_shape: tuple[int, int], moving_shape: tuple[int, int]
) -> Motion:
    """Take a registration matrix apart.

    Parameters
    ----------
    matrix : array_like, shape (3, 3)
        Maps fixed pixel (row, column, 1) to moving pixel (row, column, 1).
    fixed_shape, moving_shape : tuple of int
        Sizes of the images, in pixels.

    Returns
    -------
    Motion
        The parts.

    Raises
    ------
    InputError
        If the matrix is no affine motion or singular.
    """
    motion = as_motion(matrix)
    linear = motion[:2, :2]
    determinant = float(np.linalg.det(linear))
    if determinant == 0:
        raise InputError(f"matrix {motion.tolist()} is singular")
    if determinant < 0:
        linear = linear @ np.diag((1.0, -1.0))
    sizes = np.linalg.svd(linear, compute_uv=False)
    centres = [(np.array(shape[:2], float) - 1) / 2 for shape in (fixed_shape, moving_shape)]
    down, right = (float(s) for s in motion[:2, :2] @ centres[0] + motion[:2, 2] - centres[1])
    return Motion(
        rotation=degrees(atan2(linear[1, 0] - linear[0, 1], linear[0, 0] + linear[1, 1])),
        scale=sqrt(abs(determinant)),
        stretch=float(sizes[0] / sizes[1]),
        shift=(down, right),
        mirrored=determinant < 0,
    )
