"""Speed of the global operator and of a whole upsampling on this machine.

In one run, the candidates taking turns, medians of several rounds (of the ratios, too):

- the machine's rate for a large float32 matrix product (sgemm), one BLAS thread;
- cost and gradient, and the gradient alone, of 50 coupled 5x5 atoms on 1024x1024 pixels, in GF/s
  (one analysis and one adjoint: 4 x 50 x 25 operations a pixel) and as a share of sgemm, against
  the same in plain NumPy: all patches of the image in one matrix (im2col) and two products;
- seconds of a 450x375 upsampling by 4 with the default bank in one and in two dask threads.

The exit code is 1 if a figure to reach is missed. OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE have to
be unset, since they change what the machine can do.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from time import perf_counter
from unittest import mock

import numpy as np
from _checks import Check, report
from _machine import summary
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from napari_cosparse import degrade, load_operators, make_scene, upsample
from napari_cosparse.core.borders import fold, pad
from napari_cosparse.core.operators import OperatorPair, random_frame
from napari_cosparse.core.reconstruction import _band, _prior

UNWANTED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
SIDE, ATOMS = 5, 50
EPS = 0.01
LEAST_SHARE = 0.45
MOST_SECONDS = 3.0
SCENE = (375, 450)
WHOLE = "whole-image im2col, cost and gradient"
Plane = NDArray[np.float32]


class WholeImage:
    """Cost and gradient of a plain pair with all patches of an image in one matrix.

    Parameters
    ----------
    pair : OperatorPair
        One group of square atoms.
    guide : ndarray, shape (h, w), float32
        Guide in units of the target.
    """

    def __init__(self, pair: OperatorPair, guide: Plane) -> None:
        (group,) = pair.groups
        self.radius, self.side = group.radius, 2 * group.radius + 1
        self.atoms = group.coefficients_v.astype(np.float32)
        self.guide_term = (group.coefficients_u.astype(np.float32) @ self._columns(guide)) ** 2

    def evaluate(self, image: Plane, eps: float) -> tuple[float, Plane]:
        """Cost and gradient at an image, as `Prior.evaluate`.

        Parameters
        ----------
        image : ndarray, shape (h, w), float32
            Target in units of its range.
        eps : float
            Smoothing, same unit.

        Returns
        -------
        cost : float
        gradient : ndarray, shape (h, w), float32
        """
        x = self.atoms @ self._columns(image)
        scale = self.guide_term + x**2 + np.float32(eps**2)
        cost = float(np.log(scale).sum(dtype=np.float64))
        patches = (2 * self.atoms.T) @ (x / scale)
        height, width = image.shape
        total = np.zeros((height + 2 * self.radius, width + 2 * self.radius), np.float32)
        for tap, plane in enumerate(patches.reshape(-1, height, width)):
            down, right = divmod(tap, self.side)
            total[down : down + height, right : right + width] += plane
        return cost, fold(total, self.radius)

    def _columns(self, image: Plane) -> Plane:
        """All patches as columns, shape (side**2, h * w)."""
        view = np.lib.stride_tricks.sliding_window_view(
            pad(image, self.radius), (self.side, self.side)
        )
        return view.transpose(2, 3, 0, 1).reshape(self.side**2, -1)


def take_turns(
    candidates: Mapping[str, Callable[[], object]], rounds: int
) -> dict[str, NDArray[np.float64]]:
    """Seconds of each candidate; they take turns, after one round that does not count.

    Parameters
    ----------
    candidates : mapping
        Functions by name.
    rounds : int
        How often each runs.

    Returns
    -------
    dict
        Arrays of shape (rounds,) by name, in seconds: ratios of one round are of one moment.
    """
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds + 1):
        for name, run in candidates.items():
            began = perf_counter()
            run()
            times[name].append(perf_counter() - began)
    return {name: np.array(seconds[1:]) for name, seconds in times.items()}


def operator_speed(pixels: int, rounds: int, gemm: int = 2048) -> list[Check]:
    """Print the speed of the operator beside the machine's.

    Parameters
    ----------
    pixels : int
        Side of the image, in pixels.
    rounds : int
        Runs of each candidate.
    gemm : int
        Side of the matrices of the large product.

    Returns
    -------
    list of Check
        The gradient's share of sgemm.
    """
    rng = np.random.default_rng(0)
    square = rng.standard_normal((2, gemm, gemm), np.float32)
    image, guide = rng.standard_normal((2, pixels, pixels), np.float32)
    pair = random_frame(SIDE, ATOMS)
    ours = _prior.Prior(pair, image.shape, guide[None], map)
    whole = WholeImage(pair, guide)
    seconds = take_turns(
        {
            "sgemm": partial(np.matmul, *square),
            "cost and gradient": partial(ours.evaluate, image, EPS),
            "gradient": partial(_without_cost(pair, image, guide).evaluate, image, EPS),
            WHOLE: partial(whole.evaluate, image, EPS),
        },
        rounds,
    )
    work = dict.fromkeys(seconds, 4 * ATOMS * SIDE**2 * pixels**2) | {"sgemm": 2 * gemm**3}
    rates = {name: work[name] / times / 1e9 for name, times in seconds.items()}
    print(
        f"\n{ATOMS} atoms {SIDE}x{SIDE} on {pixels}x{pixels}, float32, medians of {rounds} rounds"
    )
    print(f"{'':40}{'ms':>8}{'GF/s':>8}{'of sgemm':>10}")
    for name, rate in rates.items():
        share = median(rate / rates["sgemm"])
        print(f"{name:40}{1e3 * median(seconds[name]):8.1f}{median(rate):8.1f}{share:10.0%}")
    ratio = median(seconds[WHOLE] / seconds["cost and gradient"])
    print(f"tiles against whole image: {ratio:.1f} times as fast")
    share = median(rates["gradient"] / rates["sgemm"])
    return [Check.at_least("gradient, share of sgemm", LEAST_SHARE, share)]


def _without_cost(pair: OperatorPair, image: Plane, guide: Plane) -> _prior.Prior:
    """Prior that writes its calls down without the logarithms, and does not again."""
    prior = _prior.Prior(pair, image.shape, guide[None], map)
    with mock.patch.object(_band, "add_logarithms", _no_logarithms):
        prior.evaluate(image, EPS)
    return prior


def _no_logarithms(_program: object, _values: Plane, _sums: object) -> None:
    """Stand in for the logarithms."""


def upsampling_speed(shape: tuple[int, int], rounds: int, pair: OperatorPair) -> list[Check]:
    """Print the seconds of an upsampling by 4 in one and two threads.

    Parameters
    ----------
    shape : tuple of int
        Size of the guide, in pixels.
    rounds : int
        Runs with each number of threads.
    pair : OperatorPair
        The default bank.

    Returns
    -------
    list of Check
        The seconds in one thread.
    """
    scene = make_scene(shape)
    target = degrade(scene.depth, 4)
    run = partial(upsample, target, scene.guide, pair, factor=4, noise=0.0)
    one, two = take_turns(
        {"one": partial(run, threads=1), "two": partial(run, threads=2)}, rounds
    ).values()
    size = f"{shape[1]}x{shape[0]}"
    print(f"\n{size} colour guide, x4, default bank, samples without noise, medians of {rounds}")
    print(f"one dask thread {median(one):.2f} s, two {median(two):.2f} s", end=": ")
    print(f"{median(one / two):.2f} times as fast")
    return [Check.below(f"{size} x4, seconds in one thread", MOST_SECONDS, median(one))]


def main() -> int:
    """Run the benchmark.

    Returns
    -------
    int
        Exit code: 1 if a figure is missed, 2 if the environment is not fit.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pixels", type=int, default=1024, help="side of the operator's image")
    parser.add_argument("--rounds", type=int, default=7, help="runs of each candidate")
    parser.add_argument("--operators", default="intensity-depth", help="name or file of the bank")
    options = parser.parse_args()
    if found := [f"{name}={os.environ[name]}" for name in UNWANTED if name in os.environ]:
        parser.error(f"{', '.join(found)} changes the speed of the BLAS: unset it")
    print(summary())
    print(f"one BLAS thread, {os.cpu_count()} cores seen; the operator runs in one thread")
    with threadpool_limits(1):
        checks = operator_speed(options.pixels, options.rounds)
        rounds = min(options.rounds, 3)
        checks += upsampling_speed(SCENE, rounds, load_operators(options.operators))
    return 0 if report(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
