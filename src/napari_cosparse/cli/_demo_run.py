"""What the demo computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from napari_cosparse.api import Learned, degrade, learn_operators, make_scene, upsample
from napari_cosparse.core.operators import OperatorPair, bank
from napari_cosparse.core.reconstruction import bicubic, sampling_operator
from napari_cosparse.io import Scene

from ._terminal import bar

Plane = NDArray[np.float32]

SHIPPED = "intensity-depth"
BAD = 0.01  # of the depth's range: a pixel further off than that is bad
TRAINING_SHAPE, TRAINING_SCENES = (192, 256), 3


@dataclass(frozen=True, eq=False)
class Demo:
    """Everything that the demo made.

    Attributes
    ----------
    scene : Scene
        Guide and exact depth in metres.
    low : ndarray, shape (ceil(H / d), ceil(W / d)), float32
        The coarse depth, in metres.
    results : dict
        The depth on the guide's grid by each method, in metres.
    learned : Learned
        What was learned from other scenes.
    pair : OperatorPair
        The learned pair with differences, as it was used.
    runs : dict
        Parameters and numbers of the upsampling runs.
    """

    scene: Scene
    low: Plane
    results: dict[str, Plane]
    learned: Learned
    pair: OperatorPair
    runs: dict[str, Any]


def compute(shape: tuple[int, int], factor: int, seed: int) -> Demo:
    """Make the scene, learn from others, and upsample in four ways.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of the scene.
    factor : int
        Pixels per sample of the coarse depth.
    seed : int
        Seed of the scene; the next ones are those of the scenes to learn from.

    Returns
    -------
    Demo
        Everything that was made.
    """
    scene = make_scene(shape, seed)
    low = degrade(scene.depth, factor)
    others = [make_scene(TRAINING_SHAPE, seed + 1 + i) for i in range(TRAINING_SCENES)]
    with bar() as report:
        learned = learn_operators(
            [(other.guide, other.depth) for other in others],
            side=3,
            samples=8000,
            iterations=150,
            seed=seed,
            report=report,
        )
    pair = _named(bank(learned.pair), seed)
    results = {"nearest": nearest(low, shape, factor)}
    results["bicubic"] = bicubic(low, sampling_operator(shape, low.shape, (factor, factor)))
    runs: dict[str, Any] = {}
    for name, operators in ((SHIPPED, SHIPPED), ("learned-here", pair)):
        with bar() as report:
            result = upsample(low, scene.guide, operators, factor=factor, noise=0, report=report)
        results[name] = result.image
        runs[name] = {
            "parameters": result.parameters,
            "misfit": result.misfit,
            "stop": str(result.stop),
            "evaluations": result.evaluations,
        }
    return Demo(scene, low, results, learned, pair, runs)


def _named(pair: OperatorPair, seed: int) -> OperatorPair:
    """Say in the metadata where the pair comes from."""
    training = [
        {"scene": "napari_cosparse.make_scene", "shape": TRAINING_SHAPE, "seed": seed + 1 + index}
        for index in range(TRAINING_SCENES)
    ]
    names = {"name": "demo", "modalities": ["intensity", "depth"]}
    return OperatorPair(pair.groups, {**names, **pair.metadata, "training": training})


def nearest(low: Plane, shape: tuple[int, int], factor: int) -> Plane:
    """Give each pixel the sample whose place is nearest.

    Parameters
    ----------
    low : ndarray, shape (m1, m2)
        Samples, each amid its factor x factor pixels.
    shape : tuple of int
        Rows and columns of the result.
    factor : int
        Pixels per sample.

    Returns
    -------
    ndarray, shape (N1, N2)
        In the unit of `low`.
    """
    rows, columns = (np.arange(size) // factor for size in shape)
    return low[np.ix_(rows, columns)]


def score(image: Plane, truth: Plane) -> dict[str, float]:
    """Compare a result with the truth.

    Parameters
    ----------
    image, truth : ndarray, shape (N1, N2)
        In one unit.

    Returns
    -------
    dict
        ``rmse`` in that unit, ``bad`` the share of pixels off by more than 1 % of the range.
    """
    off = np.abs(image.astype(np.float64) - truth)
    return {
        "rmse": float(np.sqrt((off**2).mean())),
        "bad": float((off > BAD * np.ptp(truth)).mean()),
    }
