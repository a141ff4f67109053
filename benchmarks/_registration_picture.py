"""The success map as a picture, as in the paper's figure: white = small error, black = large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from _registration_cases import MAP_ANGLE, MAP_X
from _registration_runs import Outcome

SMALLEST, LARGEST = 1.0, 50.0  # the paper's limits of the mixed error


def draw_map(path: Path, rows: Mapping[str, Sequence[Outcome]], count: int) -> None:
    """Draw the mixed error of every method over translation and rotation.

    Parameters
    ----------
    path : Path
        Picture to write.
    rows : mapping
        Outcomes by method, row by row.
    count : int
        Grid points on each axis; methods with other numbers of outcomes are left out.
    """
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    maps = {name: row for name, row in rows.items() if len(row) == count**2}
    figure = Figure(figsize=(3.2 * len(maps), 3.4), layout="constrained")
    axes = figure.subplots(1, len(maps), sharey=True, squeeze=False)[0]
    norm = LogNorm(SMALLEST, LARGEST, clip=True)
    extent = (-MAP_X, MAP_X, -MAP_ANGLE, MAP_ANGLE)
    for axis, (name, outcomes) in zip(axes, maps.items(), strict=True):
        finite = [one.mixed if np.isfinite(one.error) else LARGEST for one in outcomes]
        errors = np.reshape(finite, (count, count))
        shown = axis.imshow(
            errors, cmap="gray_r", norm=norm, extent=extent, origin="lower", aspect="auto"
        )
        good = np.mean([one.error < 1 for one in outcomes])
        axis.set_title(f"{name}\n{good:.0%} under 1 px", fontsize=9)
        axis.set_xlabel("translation in x, px")
    axes[0].set_ylabel("rotation, degrees")
    figure.colorbar(shown, ax=list(axes), label="mixed error")
    figure.savefig(path, dpi=150)
