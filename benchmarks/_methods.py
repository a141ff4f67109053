"""Every method of the table as one function of a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from _middlebury import Protocol, Scene
from _peers import PEERS, Plane, enlarge_bicubic, enlarge_nearest

import napari_cosparse.tiles  # noqa: F401 - dask's import is no part of a method's time
from napari_cosparse import OperatorPair, upsample
from napari_cosparse.core.operators import first_differences, join, random_frame

DEFAULT = "intensity-depth (shipped)"
FIRST = "first differences"
UNGUIDED = "unguided"
BICUBIC = "bicubic"
OPENCV = "OpenCV "
SCHEDULE = "5x5, the paper's schedule"
SHIPPED = (
    "intensity-depth",
    "intensity-depth-3x3",
    "intensity-depth-5x5",
    "differences",
    "random-frame",
)


@dataclass(frozen=True, eq=False)
class Case:
    """A scene at a factor under a protocol.

    Attributes
    ----------
    scene : Scene
        Guide and truth.
    protocol : Protocol
        How the samples were made.
    factor : int
        Distance of two samples, in pixels.
    samples : ndarray, shape (m1, m2), float32
        The low-resolution target, in disparity pixels.
    """

    scene: Scene
    protocol: Protocol
    factor: int
    samples: Plane

    @classmethod
    def make(cls, scene: Scene, protocol: Protocol, factor: int) -> Case:
        """Reduce a scene.

        Parameters
        ----------
        scene : Scene
            Guide and truth.
        protocol : Protocol
            How to reduce.
        factor : int
            Distance of two samples, in pixels.

        Returns
        -------
        Case
        """
        return cls(scene, protocol, factor, protocol.reduce(scene.truth, factor))

    def enlarge(self, how: Callable[..., Plane]) -> Plane:
        """Interpolate the samples.

        Parameters
        ----------
        how : callable
            `enlarge_nearest` or `enlarge_bicubic`.

        Returns
        -------
        ndarray, shape (N1, N2), float32
        """
        return how(self.samples, self.scene.truth.shape, self.factor, self.protocol)


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes
    ----------
    name : str
        As printed.
    run : callable
        Makes the high-resolution image of a case.
    repeats : int
        Runs of which the median time counts.
    """

    name: str
    run: Callable[[Case], Plane]
    repeats: int = 1


def all_methods(pairs: Mapping[str, OperatorPair], parameters: Mapping[str, Any]) -> list[Method]:
    """All rows, in the order of the table.

    Parameters
    ----------
    pairs : mapping
        The operators of `SHIPPED`, by name.
    parameters : mapping
        Of the peers, see `read_parameters`.

    Returns
    -------
    list of Method
    """
    neighbours = join(*first_differences((1,)))
    ours = pairs["intensity-depth"]
    unlearned = without_learning(ours)
    return [
        Method(BICUBIC, lambda case: case.enlarge(enlarge_bicubic)),  # first: others relate to it
        Method("nearest", lambda case: case.enlarge(enlarge_nearest)),
        *(Method(OPENCV + name, partial(_filter, name, parameters)) for name in PEERS),
        Method(FIRST, partial(_solve, neighbours, {})),
        Method("differences 1, 2, 4, 8", partial(_solve, pairs["differences"], {})),
        Method(UNGUIDED, partial(_solve, ours, {"guided": False})),
        Method(SCHEDULE, partial(_solve, pairs["intensity-depth-5x5"], {"solver": "cg"})),
        Method("5x5, our solver", partial(_solve, pairs["intensity-depth-5x5"], {})),
        Method("3x3", partial(_solve, pairs["intensity-depth-3x3"], {})),
        Method("3x3 random frame", partial(_solve, pairs["random-frame"], {})),
        Method("shipped, but a random frame", partial(_solve, unlearned, {})),
        Method(DEFAULT, partial(_solve, ours, {}), repeats=3),
    ]


def without_learning(pair: OperatorPair) -> OperatorPair:
    """Put a random frame in the place of a bank's learned atoms: what learning buys.

    Parameters
    ----------
    pair : OperatorPair
        A bank of square atoms and differences.

    Returns
    -------
    OperatorPair
        The same with as many random atoms of the same side and weight.
    """
    groups = []
    for group in pair.groups:
        if (square := group.side_and_dilation) is not None and group.dense:
            (frame,) = random_frame(square[0], len(group.coefficients_u)).groups
            group = replace(frame, weight=group.weight)
        groups.append(group)
    return join(*groups)


def _filter(name: str, parameters: Mapping[str, Any], case: Case) -> Plane:
    """Enlarge bicubically, then filter."""
    settings = parameters[case.protocol.name][str(case.factor)][name]
    return PEERS[name].run(case.scene.guide, case.enlarge(enlarge_bicubic), settings)


def _solve(pair: OperatorPair, settings: dict[str, Any], case: Case) -> Plane:
    """Upsample with this package in one thread; the samples are exact."""
    protocol = case.protocol
    place: dict[str, Any] = {"phase": protocol.phase, "blur": protocol.blur, "factor": case.factor}
    guide = case.scene.guide
    result = upsample(case.samples, guide, pair, noise=0.0, threads=1, **place, **settings)
    return np.asarray(result.image)
