"""Time of the learning against pymanopt's conjugate gradients on the same problem.

Both minimise the same cost from the same start on the same manifold with one BLAS thread. The
manifold of zero-mean unit rows is pymanopt's own `Oblique` in an orthonormal basis of the
zero-mean vectors. pymanopt gets the cost twice: in plain NumPy, as its user would write it, and
as this package's own objective. Every call is counted by a wrapper. The time of a run ends when
it first meets the cost that ours has after a given number of iterations.

Run ``python benchmarks/learning.py --help`` for the options.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import imageio.v3 as iio
import numpy as np
import pymanopt
from numpy.typing import NDArray
from pymanopt.manifolds import Oblique, Product
from pymanopt.optimizers import ConjugateGradient
from threadpoolctl import threadpool_limits

from napari_cosparse.core.descent import iterate
from napari_cosparse.core.geometry import ZeroMeanSpheres
from napari_cosparse.core.operators._objective import LearningCost
from napari_cosparse.core.operators._penalties import complement_basis
from napari_cosparse.core.operators._sample import as_pairs, sample_patches
from napari_cosparse.core.operators._settings import Settings
from napari_cosparse.core.progress import drain

NU, KAPPA, MU = 400.0, (5.0, 22.0), (1e2, 2.5e4)
SCENES = ("baby1", "bowling1", "moebius", "reindeer", "sawtooth")
Matrix = NDArray[np.float64]
Patches = tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass
class Run:
    """Seconds and calls at each new lowest cost; `limit` ends a run that does not get there."""

    target: float
    limit: float
    started: float = field(default_factory=perf_counter)
    calls: int = 0
    best: float = float("inf")
    seconds: float = 0.0

    def note(self, value: float) -> None:
        """Remember a cost; end the run if it is low enough or time is up."""
        self.seconds = perf_counter() - self.started
        self.best = min(self.best, value)
        if value <= self.target or self.seconds > self.limit:
            raise StopIteration

    @property
    def reached(self) -> bool:
        """Whether the target was met."""
        return self.best <= self.target


class PlainCost:
    """The learning cost as a pymanopt user would write it: whole matrices, float64."""

    def __init__(self, patches: Patches) -> None:
        self.patches = [np.asarray(part, np.float64) for part in patches]
        self.bases = [complement_basis(len(part)) for part in patches]

    def value(self, operators: list[Matrix]) -> float:
        """Cost of both operators."""
        responses = [w @ s for w, s in zip(operators, self.patches, strict=True)]
        total = np.log(1 + NU * (responses[0] ** 2 + responses[1] ** 2)).sum()
        total /= self.patches[0].shape[1]
        for w, basis, kappa, mu in zip(operators, self.bases, KAPPA, MU, strict=True):
            k, n = w.shape
            gram = w @ w.T
            np.fill_diagonal(gram, 0)
            sign, logdet = np.linalg.slogdet(basis.T @ w.T @ w @ basis / k)
            if sign <= 0 or np.abs(gram).max() >= 1:
                return float("inf")
            total -= kappa * logdet / ((n - 1) * np.log(n - 1))
            total -= mu * 2 / (k * k - k) * np.log(1 - gram**2).sum()
        return float(total)

    def gradient(self, operators: list[Matrix]) -> list[Matrix]:
        """Gradient by each operator."""
        responses = [w @ s for w, s in zip(operators, self.patches, strict=True)]
        ratio = 1 + NU * (responses[0] ** 2 + responses[1] ** 2)
        gradients = []
        for w, s, x, basis, kappa, mu in zip(
            operators, self.patches, responses, self.bases, KAPPA, MU, strict=True
        ):
            k, n = w.shape
            gram = w @ w.T
            np.fill_diagonal(gram, 0)
            reduced = w @ basis
            gradient = 2 * NU / s.shape[1] * (x / ratio) @ s.T
            rank = reduced @ np.linalg.inv(reduced.T @ reduced) @ basis.T
            gradient -= 2 * kappa / ((n - 1) * np.log(n - 1)) * rank
            gradient += mu * 8 / (k * k - k) * (gram / (1 - gram**2)) @ w
            gradients.append(gradient)
        return gradients


class OurCost:
    """Our objective, for operators in a list."""

    def __init__(self, patches: Patches, atoms: int) -> None:
        self.cost = LearningCost(*patches, atoms=atoms, nu=NU, kappa=KAPPA, mu=MU)

    def value(self, operators: list[Matrix]) -> float:
        """Cost of both operators."""
        return self.cost.value(np.concatenate(operators, axis=1))

    def gradient(self, operators: list[Matrix]) -> list[Matrix]:
        """Gradient by each operator."""
        return list(np.split(self.cost.gradient(np.concatenate(operators, axis=1)), 2, axis=1))


def by_ours(patches: Patches, start: Matrix, iterations: int) -> list[tuple[float, float, int]]:
    """Cost, seconds and calls after each of our iterations."""
    columns = (len(patches[0]), len(patches[1]))
    began = perf_counter()
    cost = LearningCost(*patches, atoms=len(start), nu=NU, kappa=KAPPA, mu=MU)
    path = []
    for record in iterate(ZeroMeanSpheres(columns), cost, start):
        path.append((record.value, perf_counter() - began, record.evaluations))
        if record.index == iterations or record.stop is not None:
            break
    return path


def by_pymanopt(
    make_cost: Callable[[], PlainCost | OurCost], start: Matrix, bases: list[Matrix], run: Run
) -> Run:
    """Let pymanopt minimise the cost until the run's target or limit."""
    k, edge = len(start), len(bases[0])
    manifold = Product([Oblique(basis.shape[1], k) for basis in bases])
    parts = np.split(start, [edge], axis=1)
    point = [basis.T @ part.T for basis, part in zip(bases, parts, strict=True)]
    run.started = perf_counter()
    cost = make_cost()

    def operators(points: tuple[Matrix, ...]) -> list[Matrix]:
        return [(basis @ x).T for basis, x in zip(bases, points, strict=True)]

    @pymanopt.function.numpy(manifold)
    def value(*points: Matrix) -> float:
        run.calls += 1
        result = cost.value(operators(points))
        run.note(result)
        return result

    @pymanopt.function.numpy(manifold)
    def gradient(*points: Matrix) -> list[Matrix]:
        run.calls += 1
        gradients = cost.gradient(operators(points))
        return [(g @ basis).T for g, basis in zip(gradients, bases, strict=True)]

    problem = pymanopt.Problem(manifold, value, euclidean_gradient=gradient)
    solver = ConjugateGradient(max_iterations=10**6, max_time=run.limit, verbosity=0)
    with suppress(StopIteration):
        solver.run(problem, initial_point=point)
    return run


def read_pairs(folder: Path) -> list[tuple[Any, Any]]:
    """Training images of the paper, or generated scenes where they are not there."""
    if folder.is_dir():
        print(f"images: {', '.join(SCENES)} (Middlebury)")
        found = [
            {path.stem: iio.imread(path) for path in (folder / name).iterdir()} for name in SCENES
        ]
        return [(images["image"], images["disparity"]) for images in found]
    from napari_cosparse.io import make_scene  # only without the real images

    print(f"images: generated scenes (no real ones in {folder})")
    scenes = [make_scene(seed=seed) for seed in range(5)]
    return [(scene.guide, scene.depth) for scene in scenes]


def compare(patches: Patches, atoms: int, marks: list[int], repeats: int, limit: float) -> None:
    """Alternate the methods over several starts and print each run and the medians."""
    bases = [complement_basis(len(part)) for part in patches]
    space = ZeroMeanSpheres((len(patches[0]), len(patches[1])))
    rivals = {
        "pymanopt, plain NumPy": lambda: PlainCost(patches),
        "pymanopt, our objective": lambda: OurCost(patches, atoms),
    }
    ours: dict[int, list[float]] = {mark: [] for mark in marks}
    theirs: dict[tuple[str, int], list[Run]] = {(name, m): [] for name in rivals for m in marks}
    print(f"{'method':26}{'start':>6}{'to cost':>11}{'seconds':>9}{'calls':>7}  reached")
    for seed in range(repeats):
        start = space.random(atoms, np.random.default_rng(seed))
        path = by_ours(patches, start, max(marks))
        for mark in marks:
            cost, seconds, calls = path[min(mark, len(path) - 1)]
            ours[mark].append(seconds)
            print(f"{f'ours, {mark} iterations':26}{seed:6}{cost:11.3f}{seconds:9.2f}{calls:7}")
            for name, make_cost in rivals.items():
                run = by_pymanopt(make_cost, start, bases, Run(cost, limit))
                theirs[name, mark].append(run)
                note = "yes" if run.reached else f"no, best {run.best:.3f}"
                print(f"{name:26}{seed:6}{cost:11.3f}{run.seconds:9.2f}{run.calls:7}  {note}")
    summarise(ours, theirs)


def summarise(ours: dict[int, list[float]], theirs: dict[tuple[str, int], list[Run]]) -> None:
    print("\nmedians (a run that did not get there counts with the time it took)")
    for (name, mark), runs in theirs.items():
        own, other = median(ours[mark]), median(run.seconds for run in runs)
        missed = sum(not run.reached for run in runs)
        sign = ">" if missed else ""
        print(
            f"to the cost of our iteration {mark}: ours {own:.2f} s, {name} {sign}{other:.2f} s, "
            f"ratio {sign}{other / own:.1f}, not reached {missed} of {len(runs)}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=15_000, help="patch pairs")
    parser.add_argument("--side", type=int, default=5, help="side of the patches, pixels")
    parser.add_argument("--atoms", type=int, default=50, help="atoms of each operator")
    parser.add_argument("--iterations", type=int, nargs="+", default=[100, 300], help="ours")
    parser.add_argument("--repeats", type=int, default=3, help="starts")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each other run")
    parser.add_argument("--data", type=Path, help="folder of the images (or COSPARSE_DATA)")
    options = parser.parse_args()
    data = options.data or Path(os.environ.get("COSPARSE_DATA", "../shared/data"))
    pairs = as_pairs(read_pairs(data / "middlebury/train"), options.side)
    settings = Settings(
        options.side, options.atoms, options.samples, NU, KAPPA, MU,
        thresholds=(0.01, 0.003), symmetries=False, invalid=(None, 0), iterations=1, seed=0,
    )  # fmt: skip
    streams = [np.random.default_rng(number) for number in range(len(pairs))]
    patches, _ = drain(sample_patches(pairs, settings, streams))
    versions = f"NumPy {np.__version__}, pymanopt {pymanopt.__version__}"
    print(f"{platform.processor() or platform.machine()}, one BLAS thread, {versions}")
    print(f"{patches[0].shape[1]} patch pairs of side {options.side}, {options.atoms} atoms")
    with threadpool_limits(1, user_api="blas"):
        compare(patches, options.atoms, options.iterations, options.repeats, options.limit)


if __name__ == "__main__":
    main()
