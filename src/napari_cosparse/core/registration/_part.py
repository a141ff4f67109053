"""J, MU and MV of some blocks of pixels, and their derivatives for who asks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from napari_cosparse.core.types import Plane

from ._measures import Vector
from ._warped import Warped


@dataclass(frozen=True)
class Part:
    """J, MU and MV of some blocks.

    Attributes
    ----------
    values : ndarray, shape (3,)
        J, MU and MV.
    weight : float
        Sum of the pixels' weights.
    warped : Warped
        The moving image there.
    logarithms : ndarray, shape (3, centres)
        What each centre adds to the values, before its weight.
    responses : ndarray, shape (k, centres)
        sqrt(nu) b: of the moving image.
    divisors : tuple of ndarray, shape (k, centres)
        1 + nu (a^2 + b^2), and 1 + nu b^2.
    back : ndarray, shape (pixels, k)
        Adjoint of the responses, times what the derivatives have in common.
    """

    values: Vector
    weight: float
    warped: Warped
    logarithms: Plane
    responses: Plane
    divisors: tuple[Plane, Plane]
    back: Plane

    def slopes(self, factors: Vector, *, each: bool = False) -> Vector:
        """Differentiate weighted sums of the values with respect to [A b] of the motion.

        Parameters
        ----------
        factors : ndarray, shape (n, 3)
            Weights of J, MU and MV.
        each : bool
            For each block alone.

        Returns
        -------
        ndarray, shape (n, 2, 3) or (blocks, n, 2, 3)
        """
        size = max(float(np.abs(factors).max()), 1e-300)  # keeps single precision in its range
        scaled = (factors / size).astype(self.logarithms.dtype)
        centres = blocks_first(scaled @ self.logarithms, self.warped.weight.shape)
        pixels = np.stack([self._pulled(*row[[0, 2]]) for row in scaled])
        through_weight = self.warped.weight_moments(centres, each=each)
        return size * (through_weight + self.warped.moments(pixels, each=each))

    def each(self) -> tuple[Vector, Vector]:
        """Sum over each block alone.

        Returns
        -------
        values : ndarray, shape (blocks, 3)
            J, MU and MV.
        weights : ndarray, shape (blocks,)
            Of its pixels.
        """
        weight = self.warped.weight.astype(np.float64)
        centres = blocks_first(self.logarithms, weight.shape)
        return np.einsum("nbij,bij->bn", centres, weight), weight.sum((1, 2))

    def _pulled(self, joint: np.floating, alone: np.floating) -> Plane:
        """Differentiate joint J + alone MV with respect to the moving image's pixels."""
        shape = self.warped.values.shape
        if not (joint or alone):
            return np.zeros(shape, self.responses.dtype)
        both, own = self.divisors
        pull = joint / both
        if alone:
            pull += alone / own
        pull *= self.responses
        pull *= blocks_last(self.warped.weight).reshape(-1)
        return spread(self.back @ pull, shape).transpose(2, 0, 1)


def patches(blocks: Plane, radius: int) -> Plane:
    """Patches at the centres of blocks.

    Parameters
    ----------
    blocks : ndarray, shape (blocks, s, s)
        Pixels.
    radius : int
        Reach of a patch, in pixels.

    Returns
    -------
    ndarray, shape (pixels, centres)
        One per column; blocks vary fastest.
    """
    width, side = 2 * radius + 1, blocks.shape[1] - 2 * radius
    planes = blocks_last(blocks)
    out = np.empty((width * width, side, side, len(blocks)), blocks.dtype)
    for tap in range(width * width):
        row, column = divmod(tap, width)
        out[tap] = planes[row : row + side, column : column + side]
    return out.reshape(width * width, -1)


def spread(columns: Plane, shape: tuple[int, ...]) -> Plane:
    """Adjoint of `patches`: add each patch to the pixels that it was taken from.

    Parameters
    ----------
    columns : ndarray, shape (pixels, centres)
        As from `patches`.
    shape : tuple of int
        (blocks, s, s)

    Returns
    -------
    ndarray, shape (s, s, blocks)
    """
    width = round(len(columns) ** 0.5)
    side = shape[1] - width + 1
    taps = columns.reshape(width, width, side, side, shape[0])
    # first along the rows of all patches at once, then down the columns: fewer and longer sums
    lines = np.zeros((width, side, shape[2], shape[0]), columns.dtype)
    out = np.zeros((*shape[1:], shape[0]), columns.dtype)
    for column in range(width):
        part = lines[:, :, column : column + side]
        part += taps[:, column]  # unlike lines[...] += ..., this copies nothing back
    for row in range(width):
        part = out[row : row + side]
        part += lines[row]
    return out


def blocks_last(blocks: Plane) -> Plane:
    """Put the same place of all blocks in a row: long runs in memory.

    Parameters
    ----------
    blocks : ndarray, shape (blocks, s, s)
        Pixels.

    Returns
    -------
    ndarray, shape (s, s, blocks)
    """
    return np.ascontiguousarray(blocks.transpose(1, 2, 0))


def blocks_first(planes: Plane, shape: tuple[int, ...]) -> Plane:
    """Undo `blocks_last` for several quantities.

    Parameters
    ----------
    planes : ndarray, shape (n, pixels)
        Blocks vary fastest.
    shape : tuple of int
        (blocks, s, s)

    Returns
    -------
    ndarray, shape (n, blocks, s, s)
        A view.
    """
    return planes.reshape(-1, *shape[1:], shape[0]).transpose(0, 3, 1, 2)
