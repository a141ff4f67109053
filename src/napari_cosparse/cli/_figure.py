"""The demo's figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from napari_cosparse.io import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORST = 0.05  # of the depth's range: errors beyond are all drawn alike


def draw(
    path: Path,
    scene: Scene,
    low: NDArray[np.float32],
    results: dict[str, NDArray[np.float32]],
    scores: dict[str, dict[str, float]],
) -> None:
    """Draw guide, depth, input and each result with its error as a PNG file.

    Parameters
    ----------
    path : Path
        The file.
    scene : Scene
        Guide and exact depth, in metres.
    low : ndarray, shape (m1, m2)
        Coarse depth, in metres.
    results : dict
        Depth by method, in metres.
    scores : dict
        ``rmse`` (metres) and ``bad`` (share) by method.
    """
    truth = scene.depth
    limits = {"vmin": float(truth.min()), "vmax": float(truth.max()), "cmap": "viridis"}
    figure = Figure(figsize=(4 * len(results), 9.6), layout="constrained")
    axes = figure.subplots(3, len(results), squeeze=False)
    _show(axes[0, 0], scene.guide, "guide")
    _show(axes[0, 1], truth, "exact depth", **limits)
    _show(axes[0, 2], low, "coarse depth", **limits)
    for spare in axes[0, 3:]:
        spare.axis("off")
    for column, (name, image) in enumerate(results.items()):
        rmse, bad = 1000 * scores[name]["rmse"], scores[name]["bad"]
        _show(axes[1, column], image, f"{name}\nRMSE {rmse:.1f} mm, {bad:.1%} bad", **limits)
        error = np.abs(image - truth)
        _show(axes[2, column], error, "error", cmap="magma", vmin=0, vmax=WORST * np.ptp(truth))
    figure.savefig(path, dpi=90, metadata={"Software": None})


def _show(axes: Axes, image: NDArray[Any], title: str, **options: Any) -> None:  # noqa: ANN401
    """Show one image without ticks."""
    axes.imshow(image, interpolation="nearest", **options)
    axes.set_title(title)
    axes.axis("off")
