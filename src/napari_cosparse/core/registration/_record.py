"""What a registration records of its inputs and settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._fine import Fine
from ._pixel import axes_of, is_general, sides_of
from ._scene import Scene
from ._settings import RegisterSettings
from ._working import Source

PLAIN = ("group", "measure", "solver", "verdict", "allow_reflection", "seed", "search")


def record(
    settings: RegisterSettings, sources: tuple[Source, Source], scene: Scene, fine: Fine
) -> dict[str, Any]:
    """Fields of a `Registration` that say what was registered, and how.

    Parameters
    ----------
    settings : RegisterSettings
        As given.
    sources : tuple of Source
        Fixed and moving image.
    scene : Scene
        The pair on the working grid.
    fine : Fine
        How far it was refined.

    Returns
    -------
    dict
        Shapes, pixel sizes and the parameters as JSON values.
    """
    return {
        "fixed_shape": sources[0].shape,
        "moving_shape": sources[1].shape,
        "pixel_size_fixed": _pair(sources[0]),
        "pixel_size_moving": _pair(sources[1]),
        "parameters": _parameters(settings, scene, fine),
    }


def _pair(source: Source) -> tuple[float, float]:
    rows, columns = sides_of(axes_of(source.pixel_size, source.name))
    return float(rows), float(columns)


def _parameters(settings: RegisterSettings, scene: Scene, fine: Fine) -> dict[str, Any]:
    out: dict[str, Any] = {name: getattr(settings, name) for name in PLAIN}
    out["max_rotation"] = settings.max_rotation
    out["max_scale"] = settings.max_scale
    out["invalid"] = [None if v is None else float(v) for v in settings.invalid]
    out["region"] = None if settings.region is None else [int(v) for v in settings.region]
    out["initial"] = None if settings.initial is None else settings.initial.tolist()
    out["points"] = (
        None if settings.points is None else [points.tolist() for points in settings.points]
    )
    sizes = settings.pixel_size_fixed, settings.pixel_size_moving
    out["pixel_axes"] = [
        np.asarray(size, np.float64).tolist() if is_general(size) else None for size in sizes
    ]
    out["masked"] = [settings.mask_fixed is not None, settings.mask_moving is not None]
    out["levels"] = len(scene.fixed)
    out["working_shapes"] = [list(scene.frame.shape_fixed), list(scene.frame.shape_moving)]
    out["finest_step"], out["windows"] = fine.step, fine.windows
    out["operators"] = dict(scene.pair.metadata).get("name")
    return out
