"""A transform at hand: between which layers, where it comes from, what was made with it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from napari.layers import Image, Layer

from napari_cosparse.io import plain
from napari_cosparse.layers import Grid, Motion, grid_of, motion_of

TOLD = (
    *("trusted", "because", "measure", "group", "overlap", "margin", "agreement"),
    *("cost_before", "cost_after", "inverse_consistency", "predicted_error"),
)


def told_by(outcome: Any) -> dict[str, Any]:  # noqa: ANN401 a Registration
    """Say what is kept of a registration beside its matrix.

    Parameters
    ----------
    outcome : Registration
        What the core returned.

    Returns
    -------
    dict
        JSON values.
    """
    return {**{name: plain(getattr(outcome, name)) for name in TOLD}, "stop": str(outcome.stop)}


@dataclass(frozen=True, eq=False)
class Found:
    """A transform between the pixels of two layers, wherever these lie now.

    Attributes
    ----------
    fixed, moving : napari.layers.Image
        The layers.
    grids : tuple of Grid
        Their finest levels, as they lay when the transform was found.
    matrix : ndarray, shape (3, 3)
        Fixed pixel to moving pixel.
    record : dict
        Provenance.
    outcome : Registration or None
        What the core returned; None for a transform from elsewhere.
    asked : str
        Script of the run that found it; empty for a transform from elsewhere.
    settings : dict or None
        Of the run that was cancelled, if one gave it.
    moved, others : list of napari.layers.Layer
        What was made with it: the moving layer in its new place, maybe resampled too, and all
        else. Some may have been deleted since.
    """

    fixed: Image
    moving: Image
    grids: tuple[Grid, Grid]
    matrix: Any
    record: dict[str, Any]
    outcome: Any = None
    asked: str = ""
    settings: dict[str, Any] | None = None
    moved: list[Layer] = field(default_factory=list)
    others: list[Layer] = field(default_factory=list)

    @property
    def fixed_grid(self) -> Grid:
        """The fixed layer's pixels as they lie now."""
        return grid_of(self.fixed)

    @property
    def flipped(self) -> bool:
        """Whether an axis of one of the layers runs backwards in the world: negative scale."""
        ours, theirs = (np.linalg.det(grid.matrix[:2, :2]) for grid in self.grids)
        return bool(ours * theirs < 0)

    @property
    def trusted(self) -> bool:
        """False where somebody has judged it and does not trust it."""
        return bool(self.record.get("trusted", True))

    def motion(self, layer: Layer) -> Motion:
        """Find what brings a layer onto the fixed one.

        Parameters
        ----------
        layer : napari.layers.Layer
            The moving layer, which may have been dragged since, or one that belongs to it as it
            lay when the transform was found.

        Returns
        -------
        Motion
        """
        moving = grid_of(self.moving) if layer is self.moving else self.grids[1]
        return motion_of(self.fixed_grid, moving, self.matrix)

    @property
    def layers(self) -> list[Layer]:
        """All that was made with it."""
        return [*self.moved, *self.others]
