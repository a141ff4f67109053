"""``napari-cosparse demo``: a scene of its own, learned operators, a comparison, a registration."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from napari_cosparse.core.errors import InputError
from napari_cosparse.io import encode, write_bytes, write_pixels, write_together

from ._demo_files import RECORD, open_folder
from ._demo_register import Placed, place
from ._demo_run import BAD, TRAINING_SCENES, Demo, compute, score
from ._record import write_record
from ._terminal import number, say, table


def run(arguments: Namespace) -> None:
    """Run the demo and write its files.

    Parameters
    ----------
    arguments : Namespace
        Of the command line.

    Raises
    ------
    InputError
        If the folder cannot be used or a number is out of bounds; nothing is written then.
    OSError
        If the disk refuses; nothing is left then.
    """
    _check(arguments)
    with open_folder(arguments.out) as folder:
        demo = compute(tuple(arguments.shape), arguments.factor, arguments.seed)
        placed = place(demo.scene, arguments.seed)
        scores = {name: score(image, demo.scene.depth) for name, image in demo.results.items()}
        plot = partial(_plot, demo=demo, scores=scores) if find_spec("matplotlib") else None
        record = _record(arguments, demo, placed, scores)
        write_together(_writers(folder, demo, placed, record, plot))
    _summarise(arguments, scores, placed, drawn=plot is not None)
    if arguments.view:
        _view(demo, arguments.factor)


def _check(arguments: Namespace) -> None:
    """Refuse what would fail after the work."""
    if arguments.factor < 2:
        raise InputError(f"factor {arguments.factor} leaves nothing to do; give 2 or more")
    if min(arguments.shape) < 8 * arguments.factor:
        height, width = arguments.shape
        raise InputError(
            f"scene of {height} x {width} at factor {arguments.factor} leaves less than 8 samples "
            f"along a side; give --shape of at least {8 * arguments.factor}"
        )
    if arguments.view and not find_spec("napari"):
        raise InputError('--view needs napari; pip install "napari-cosparse[all]"')


def _record(
    arguments: Namespace, demo: Demo, placed: Placed, scores: dict[str, dict[str, float]]
) -> dict[str, Any]:
    """Return parameters and results."""
    return {
        "parameters": {
            "shape": arguments.shape,
            "factor": arguments.factor,
            "seed": arguments.seed,
            "learning": demo.pair.metadata,
        },
        "result": {
            "scores": scores,
            "depth_range": float(np.ptp(demo.scene.depth)),
            "runs": demo.runs,
            "diagnostics": demo.learned.diagnostics.summary(),
            "registration": placed.record(),
        },
    }


def _writers(
    folder: Path,
    demo: Demo,
    placed: Placed,
    record: dict[str, Any],
    plot: Any,  # noqa: ANN401
) -> list[Any]:
    """Return each file with the function that writes it."""
    images: dict[str, Any] = {
        "guide": demo.scene.guide,
        "depth": demo.scene.depth,
        "low": demo.low,
        **demo.results,
        "fixed": placed.fixed,
        "moving": placed.moving,
    }
    writers = [
        (folder / f"{name}.tif", partial(write_pixels, image=image))
        for name, image in images.items()
    ]
    writers.append((folder / "learned.npz", partial(write_bytes, content=encode(demo.pair))))
    writers += [
        (folder / f"{name}.png", partial(write_pixels, image=picture))
        for name, picture in placed.pictures().items()
    ]
    if plot is not None:
        writers.append((folder / "comparison.png", plot))
    writers.append((folder / RECORD, partial(write_record, command="demo", content=record)))
    return writers


def _plot(path: Path, demo: Demo, scores: dict[str, dict[str, float]]) -> None:
    """Draw the figure; matplotlib is loaded only here."""
    from ._figure import draw

    draw(path, demo.scene, demo.low, demo.results, scores)


def _summarise(
    arguments: Namespace, scores: dict[str, dict[str, float]], placed: Placed, *, drawn: bool
) -> None:
    """Print the table and what to do next."""
    folder: Path = arguments.out
    size = " x ".join(map(str, arguments.shape))
    say(
        f"scene of {size} pixels, depth {arguments.factor} times coarser, "
        f"operators learned from {TRAINING_SCENES} other scenes"
    )
    heads = ("method", "RMSE in mm", f"pixels off by > {BAD:.0%} of the range")
    rows = [(n, number(1000 * s["rmse"]), f"{s['bad']:.2%}") for n, s in scores.items()]
    table([heads, *rows])
    placed.summarise()
    say(f"wrote {folder}: images, learned.npz, {RECORD}{', comparison.png' * drawn}, "
        f"{', '.join(f'{name}.png' for name in placed.pictures())}")  # fmt: skip
    if not drawn:
        say('no figure without matplotlib: pip install "napari-cosparse[plot]"')
    say(f"the same by hand: napari-cosparse upsample {folder / 'low.tif'} "
        f"{folder / 'guide.tif'} -o result.tif")  # fmt: skip
    say(f"and: napari-cosparse register {folder / 'fixed.tif'} {folder / 'moving.tif'} "
        "-o transform.json")  # fmt: skip


def _view(demo: Demo, factor: int) -> None:
    """Open napari on guide, exact depth, input and results."""
    from napari_cosparse.widgets._view import show_layers

    truth = demo.scene.depth
    looks = {"colormap": "viridis", "contrast_limits": [float(truth.min()), float(truth.max())]}
    place = {"scale": [factor] * 2, "translate": [(factor - 1) / 2] * 2}
    layers: list[tuple[Any, dict[str, Any], str]] = [
        (demo.scene.guide, {"name": "guide", "rgb": True}, "image"),
        (demo.low, {**looks, **place, "name": "coarse depth"}, "image"),
    ]
    for name, image in {"exact depth": truth, **demo.results}.items():
        layers.append((image, {**looks, "name": name}, "image"))
    show_layers(layers)
