"""Upsampled images that lie in a Zarr store as layers, and what the store says of its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ._destination import Destination
from ._record import METADATA_KEY, make_record
from ._world import is_physical, world_matrix
from ._write import LayerData, limits_of

STRAIGHT = 1e-9  # of the largest entry: what counts as no rotation or shear


class Told(Protocol):
    """What a run into a store tells of itself, as `napari_cosparse.Stored` does."""

    @property
    def path(self) -> Any:  # noqa: ANN401 text or a path
        """The store."""

    @property
    def parameters(self) -> dict[str, Any]:
        """All settings, JSON values."""

    @property
    def blocks(self) -> int:
        """Number of blocks."""

    @property
    def misfit(self) -> float:
        """Largest distance from the samples."""

    @property
    def disagreement(self) -> tuple[float, float]:
        """How neighbouring blocks differed."""

    @property
    def blank(self) -> tuple[tuple[int, ...], ...]:
        """Planes of which nothing is known."""


def stored_data(levels: Sequence[Any], stored: Told, where: Destination) -> LayerData:
    """Show a store, without reading more of it than its coarsest level.

    Parameters
    ----------
    levels : sequence of array-like, shape (..., H, W)
        Arrays of the store, the finest first.
    stored : Stored
        What the run returned.
    where : Destination
        What `destination` noted before the run.

    Returns
    -------
    tuple of (array or list, dict, str)
        Layer data on the guide's grid.
    """
    looks = where.looks or {"contrast_limits": limits_of(np.asarray(levels[-1]))}
    record = make_record(
        "upsample",
        stored.parameters,
        where.inputs,
        store=str(stored.path),
        blocks=stored.blocks,
        misfit=float(stored.misfit),
        disagreement=list(stored.disagreement),
        blank=[list(place) for place in stored.blank],
    )
    many = len(levels) > 1
    state = {
        "name": where.name,
        "rgb": False,
        "multiscale": many,
        **where.placement,
        **looks,
        "metadata": {METADATA_KEY: record},
    }
    return list(levels) if many else levels[0], state, "image"


def store_place(where: Destination) -> dict[str, Any]:
    """Say where a result lies, in the words of OME-Zarr.

    Parameters
    ----------
    where : Destination
        What `destination` noted.

    Returns
    -------
    dict
        Pixel size, units and position of rows and columns, keywords of `upsample_to_store`. Where
        the result is turned, sheared or mirrored, which OME-Zarr cannot say, no position, and
        nothing if the axes that are mixed then have different units.
    """
    state: Mapping[str, Any] = where.placement
    world = world_matrix(dict(state))
    plane = world[-3:-1, -3:-1]
    told = {
        "pixel_size": tuple(np.linalg.norm(plane, axis=0).tolist()),
        "units": tuple(str(unit) if is_physical(unit) else None for unit in state["units"][-2:]),
    }
    if is_straight(plane):
        return told | {"position": tuple(world[-3:-1, -1].tolist())}
    return told if len(set(told["units"])) == 1 else {}


def is_straight(plane: NDArray[np.float64]) -> bool:
    """Say whether rows and columns run along the axes of the world.

    Parameters
    ----------
    plane : ndarray, shape (2, 2)
        Maps steps of a pixel to the world.

    Returns
    -------
    bool
        False where they are turned, sheared or mirrored.
    """
    size = np.diag(plane)
    return bool((size > 0).all() and np.abs(plane - np.diag(size)).max() <= STRAIGHT * size.max())
