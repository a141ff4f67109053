"""The pair of images as the solvers see it: levels, frame, group, operators."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.core.geometry import MatrixGroup, matrix_group
from napari_cosparse.core.mapping import Map
from napari_cosparse.core.operators import OperatorPair

from ._both import BothCost
from ._cost import CoSparsityCost, Cost
from ._cost_nmi import InformationCost
from ._frame import Frame, Matrix
from ._mutual import NU, swapped_pair
from ._newton import CAP, State, refine
from ._pyramid import Level, depth, pyramid
from ._sides import Side
from ._start import LARGEST


@dataclass(frozen=True)
class Scene:
    """Both images at all levels.

    Attributes
    ----------
    fixed, moving : tuple of Level
        Finest first.
    frame : Frame
        Centres and unit of length.
    group : MatrixGroup
        Motions that are allowed.
    pair : OperatorPair
        U for the fixed image, V for the moving one.
    seed : int
        For the choice of pixels.
    map_ : Map
        Applies a function to tiles.
    gradient_only : bool
        Walk along the Riemannian gradient, as the paper does.
    """

    fixed: tuple[Level, ...]
    moving: tuple[Level, ...]
    frame: Frame
    group: MatrixGroup
    pair: OperatorPair
    seed: int = 0
    map_: Map = map
    gradient_only: bool = False
    _costs: dict[tuple[int, str, int, float, bool], Cost] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def basis(self) -> NDArray[np.float64]:
        """Basis of the group's algebra, shape (d, 3, 3)."""
        return self.group.basis

    @property
    def start_level(self) -> int:
        """Level on which a global start is searched."""
        return self.level_within(LARGEST)

    def level_within(self, side: int) -> int:
        """Finest level whose images are not larger than a limit; the coarsest if none is.

        Parameters
        ----------
        side : int
            Largest side, in pixels of the level.

        Returns
        -------
        int
        """
        sizes = [max(*f.image.shape, *m.image.shape) for f, m in self._levels]
        return next((i for i, size in enumerate(sizes) if size <= side), len(sizes) - 1)

    @property
    def _levels(self) -> list[tuple[Level, Level]]:
        return list(zip(self.fixed, self.moving, strict=True))

    def cost(
        self,
        level: int,
        measure: str,
        pixels: int,
        *,
        nu: float = NU,
        between: bool = False,
    ) -> Cost:
        """Cost of a motion at one level.

        Parameters
        ----------
        level : int
            0 is the finest.
        measure : {"both", "mutual", "coupled", "nmi"}
            Which measure.
        pixels : int
            Number of pixels that suffices.
        nu : float
            Parameter of the sparsity.
        between : bool
            Read both images between their pixels; see `choose_samples`.

        Returns
        -------
        Cost
            The same object for the same arguments.
        """
        key = level, measure, pixels, nu, between
        if key not in self._costs:
            self._costs[key] = self._cost(*key)
        return self._costs[key]

    def _cost(self, level: int, measure: str, pixels: int, nu: float, between: bool) -> Cost:
        if measure == "both":
            names = ("mutual", "nmi")
            return BothCost(*(self._cost(level, name, pixels, nu, between) for name in names))
        levels, frame, basis = self._levels[level], self.frame, self.basis
        if measure == "nmi":
            return InformationCost(levels, frame, basis, pixels, self.seed, between=between)
        return CoSparsityCost(
            levels,
            frame,
            basis,
            self.pair,
            measure,
            pixels,
            self.seed,
            self.map_,
            nu=nu,
            between=between,
        )

    def walk(
        self,
        cost: Cost,
        tau: Matrix,
        iterations: int,
        tolerance: float,
        bend: NDArray[np.float64] | None = None,
        reach: float = CAP,
    ) -> Generator[State, None, State]:
        """Refine a motion with the scene's solver.

        Parameters
        ----------
        cost : Cost
            One level's cost.
        tau : ndarray, shape (3, 3)
            Where to start.
        iterations : int
            Most accepted steps.
        tolerance : float
            Shortest step, in pixels of the level.
        bend : ndarray, shape (d, d), optional
            Second derivatives there, where they are known.
        reach : float
            How far the first step is tried, in pixels of the level.

        Returns
        -------
        generator
            Yields `State` and returns the last.
        """
        return refine(
            cost,
            tau,
            self.group.exp,
            iterations,
            tolerance,
            gradient_only=self.gradient_only,
            bend=bend,
            reach=reach,
        )

    def swapped(self, *, operators: bool = True) -> Scene:
        """Exchange the fixed and the moving image.

        Parameters
        ----------
        operators : bool
            Exchange the operators as well.

        Returns
        -------
        Scene
        """
        pair = swapped_pair(self.pair) if operators else self.pair
        frame = self.frame.swapped()
        return replace(
            self,
            fixed=self.moving,
            moving=self.fixed,
            frame=frame,
            group=matrix_group(self.group.name, frame.mean_square),
            pair=pair,
        )

    def mirrored(self) -> Scene:
        """Reverse the columns of the moving image.

        Returns
        -------
        Scene
        """
        levels = tuple(
            Level(
                np.ascontiguousarray(level.image[:, ::-1]),
                np.ascontiguousarray(level.usable[:, ::-1]),
                level.scale,
            )
            for level in self.moving
        )
        return replace(self, moving=levels)


def make_scene(
    fixed: Side,
    moving: Side,
    group: str,
    pair: OperatorPair,
    seed: int = 0,
    map_: Map = map,
    *,
    gradient_only: bool = False,
) -> Scene:
    """Build the pyramids of two images.

    Parameters
    ----------
    fixed, moving : Side
        Images of one pixel size.
    group : str
        Name of the group.
    pair : OperatorPair
        Operators.
    seed : int
        For the choice of pixels.
    map_ : Map
        Applies a function to tiles.
    gradient_only : bool
        Walk along the Riemannian gradient.

    Returns
    -------
    Scene
    """
    frame = Frame(_size(fixed), _size(moving))
    levels = depth(frame.shape_fixed, frame.shape_moving)
    return Scene(
        tuple(pyramid(fixed, levels, map_)),
        tuple(pyramid(moving, levels, map_)),
        frame,
        matrix_group(group, frame.mean_square),
        pair,
        seed,
        map_,
        gradient_only,
    )


def _size(side: Side) -> tuple[int, int]:
    rows, columns = side.image.shape
    return rows, columns
