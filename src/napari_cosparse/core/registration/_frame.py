"""Normalised coordinates, in which turning, shearing and shifting weigh alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """Centres of both images and the length that is one.

    A pixel p of the fixed image is x = (p - centre_fixed) / radius, the moving image is sampled at
    centre_moving + radius * tau x.

    Attributes
    ----------
    shape_fixed, shape_moving : tuple of int
        Sizes of the images, in pixels.
    """

    shape_fixed: tuple[int, int]
    shape_moving: tuple[int, int]

    @property
    def radius(self) -> float:
        """Half the larger side of the fixed image, in pixels: the unit of length."""
        return max(max(self.shape_fixed) - 1, 1) / 2

    @property
    def centre_fixed(self) -> NDArray[np.float64]:
        """Centre of the fixed image, in pixels."""
        return (np.array(self.shape_fixed, float) - 1) / 2

    @property
    def centre_moving(self) -> NDArray[np.float64]:
        """Centre of the moving image, in pixels."""
        return (np.array(self.shape_moving, float) - 1) / 2

    @property
    def mean_square(self) -> float:
        """Mean squared normalised coordinate, per axis: the m of the displacement metric P."""
        sides = np.array(self.shape_fixed, float) / self.radius
        return float((sides**2).mean() / 12)

    def to_pixels(self, tau: Matrix) -> Matrix:
        """Matrix from fixed pixels to moving pixels that belongs to a group element.

        Parameters
        ----------
        tau : ndarray, shape (3, 3)
            Acts on normalised (row, column, 1).

        Returns
        -------
        ndarray, shape (3, 3)
            Acts on pixel (row, column, 1).
        """
        matrix: Matrix = _placed(self.centre_moving, self.radius) @ tau @ _inverse(self)
        return matrix

    def from_pixels(self, matrix: Matrix) -> Matrix:
        """Group element that belongs to a matrix from fixed pixels to moving pixels.

        Parameters
        ----------
        matrix : ndarray, shape (3, 3)
            Acts on pixel (row, column, 1).

        Returns
        -------
        ndarray, shape (3, 3)
            Acts on normalised (row, column, 1).
        """
        back = np.linalg.inv(_placed(self.centre_moving, self.radius))
        tau: Matrix = back @ matrix @ _placed(self.centre_fixed, self.radius)
        tau[2] = 0, 0, 1
        return tau

    @property
    def corners(self) -> NDArray[np.float64]:
        """Corner pixels of the fixed image, normalised and homogeneous, shape (3, 4)."""
        rows, columns = (size - 1 for size in self.shape_fixed)
        pixels = np.array([[0, 0, rows, rows], [0, columns, 0, columns], [1, 1, 1, 1]], float)
        return np.asarray(_inverse(self) @ pixels)

    def swapped(self) -> Frame:
        """Frame of the same pair with fixed and moving exchanged."""
        return Frame(self.shape_moving, self.shape_fixed)


def _placed(centre: NDArray[np.float64], radius: float) -> Matrix:
    return np.array([[radius, 0, centre[0]], [0, radius, centre[1]], [0, 0, 1]])


def _inverse(frame: Frame) -> Matrix:
    return np.asarray(np.linalg.inv(_placed(frame.centre_fixed, frame.radius)))


def corner_motion(first: Matrix, second: Matrix, shape: tuple[int, int]) -> float:
    """Mean distance of the images of a rectangle's four corners under two matrices.

    Parameters
    ----------
    first, second : ndarray, shape (3, 3)
        Matrices that act on pixel (row, column, 1).
    shape : tuple of int
        Rows and columns of the rectangle, in pixels.

    Returns
    -------
    float
        In pixels of the image that the matrices lead to.
    """
    rows, columns = shape[0] - 1, shape[1] - 1
    corners = np.array([[0, 0, rows, rows], [0, columns, 0, columns], [1, 1, 1, 1]], float)
    return float(np.hypot(*((first - second) @ corners)[:2]).mean())
