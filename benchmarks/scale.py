"""Seconds and memory by the size of the image, in memory and in blocks, in one and two threads.

Generated scenes, upsampled 4 times with the default bank; every run in a process of its own, whose
peak resident memory above that of the imports and inputs is measured. "blocks" are as large as a
budget of 1 GB allows, which is one block up to 4 megapixels: there "pieces", blocks of 512 pixels,
show what cutting does. Beside them bicubic, and cost and gradient with all patches in one matrix
(im2col), which runs out of memory first.

The exit code is 1 if a figure to reach is missed:

- two threads at least 1.8 times as fast as one at 4 megapixels;
- at most 80 bytes per pixel of the result in memory, from 4 megapixels on;
- seconds per megapixel from 4 megapixels on flat within 10 %;
- 64 megapixels in blocks below 2 GB; RMSE in blocks within 1 % of that in memory, in pieces too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from _checks import Check, report
from _machine import summary

FACTOR = 4
SIDES = {1: 1024, 4: 2048, 16: 4096, 64: 8192}
DRAWN = 2048  # side of the scene: drawing a larger one takes longer than solving it
SCALED = 4  # megapixels at which threads are compared
LEAST_SPEEDUP, MOST_BYTES, MOST_SPREAD, MOST_MEMORY = 1.8, 80, 1.1, 2000
BUDGET = "1GB"
PIECE = 512  # pixels: side of a piece
MOST_OFF = 0.01  # of the RMSE


def memory(kind: str) -> float:
    """Resident memory now (VmRSS) or at most (VmHWM), in MB."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(t.split()[1]) for t in text.splitlines() if t.startswith(kind)) / 1024


def child(method: str, folder: Path, threads: int) -> dict[str, float]:
    """Run one method in this process."""
    import zarr

    import napari_cosparse as nc
    from napari_cosparse.core.reconstruction import bicubic, sampling_operator

    target, guide, depth = (
        zarr.open_array(folder / f"{n}.zarr", mode="r") for n in ("target", "guide", "depth")
    )
    loaded = method != "blocks"
    images = (target[:], guide[:]) if loaded else (target, guide)
    nc.upsample(np.eye(8), np.eye(16), "intensity-depth", threads=threads)  # all imports
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before, start = memory("VmRSS"), perf_counter()
    if method == "memory":
        image = nc.upsample(*images, threads=threads, noise=0).image
    elif method == "bicubic":
        image = bicubic(images[0], sampling_operator(depth.shape, target.shape, (FACTOR, FACTOR)))
    elif method == "im2col":
        return {**_im2col(images[1]), "megabytes": memory("VmHWM") - before}
    else:
        out = folder / "out.zarr"
        shutil.rmtree(out, ignore_errors=True)
        size: dict[str, Any] = {"memory": BUDGET} if method == "blocks" else {"block": PIECE}
        nc.upsample_to_store(*images, out, **size, threads=threads, noise=0)
        image = None
    seconds, peak = perf_counter() - start, memory("VmHWM") - before
    image = zarr.open_array(folder / "out.zarr")[:] if image is None else image
    return {
        "seconds": seconds,
        "megabytes": peak,
        "rmse": float(np.sqrt(np.mean((image - depth[:]) ** 2))),
    }


def _im2col(guide: np.ndarray[Any, Any]) -> dict[str, float]:
    """Cost and gradient once: the whole solve needs some 50 of them."""
    from speed import WholeImage

    from napari_cosparse.core.operators import random_frame

    gray = guide.mean(2, dtype=np.float32) / 255
    start = perf_counter()
    WholeImage(random_frame(), gray).evaluate(gray, 0.01)
    return {"seconds": perf_counter() - start}


def make_inputs(folder: Path, side: int) -> None:
    """Write a scene as Zarr arrays; large ones are one scene and its mirror images."""
    import zarr

    from napari_cosparse import degrade, make_scene

    drawn = min(side, DRAWN)
    scene = make_scene((drawn, drawn), 0)
    more = ((0, side - drawn), (0, side - drawn))
    depth = np.pad(scene.depth, more, mode="symmetric")
    guide = np.pad(scene.guide, (*more, (0, 0)), mode="symmetric")
    images = {"guide": guide, "depth": depth, "target": degrade(depth, FACTOR)}
    for name, image in images.items():
        chunks = tuple(min(n, 1024) for n in image.shape)
        array = zarr.create_array(
            folder / f"{name}.zarr", shape=image.shape, chunks=chunks, dtype=image.dtype
        )
        array[:] = image


def measure(method: str, folder: Path, threads: int, copies: int = 1) -> dict[str, float]:
    """Run one method in a process of its own, or in several at the same time: the slowest."""
    words = [sys.executable, __file__, "--child", method, str(folder), str(threads)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    runs = [
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)  # noqa: S603
        for _ in range(copies)
    ]
    texts = [run.communicate()[0] for run in runs]
    if any(run.returncode for run in runs):
        raise SystemExit(f"{method} with {threads} threads failed")
    found: list[dict[str, float]] = [json.loads(text) for text in texts]
    return max(found, key=lambda row: row["seconds"])


def scaling(folder: Path, repeats: int) -> dict[tuple[str, int], dict[str, float]]:
    """One thread, two threads, two processes at once, and blocks, in turn: the medians.

    Two processes that share nothing show what the machine itself can gain from a second core.
    """
    rows: dict[tuple[str, int], list[dict[str, float]]] = {}
    for _ in range(repeats):
        for method, threads in (("memory", 1), ("memory", 2), ("apart", 2), ("blocks", 2)):
            words = ("memory", folder, 1, 2) if method == "apart" else (method, folder, threads)
            rows.setdefault((method, threads), []).append(measure(*words))
    return {
        kind: {key: float(np.median([row[key] for row in found])) for key in found[0]}
        for kind, found in rows.items()
    }


def run_all(
    sizes: list[int], threads: list[int], in_memory: int, repeats: int
) -> dict[tuple[int, str, int], dict[str, float]]:
    """Measure everything and print it line by line."""
    print(f"{'MP':>4} {'method':8} {'threads':>7} {'s/MP':>8} {'MB':>8} {'B/pixel':>8} {'RMSE':>8}")
    figures = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_inputs(folder, SIDES[size])
            methods = [("bicubic", 1), *((m, n) for m in ("memory", "blocks") for n in threads)]
            if size <= 4:
                methods.insert(1, ("im2col", 1))
                methods.append(("pieces", 2))
            known = scaling(folder, repeats) if size == SCALED else {}
            methods += [kind for kind in known if kind not in methods]
            for method, count in methods:
                if method == "memory" and size > in_memory:
                    continue
                found = known.get((method, count)) or measure(method, folder, count)
                figures[size, method, count] = found
                pixels = SIDES[size] ** 2
                print(
                    f"{size:4} {method:8} {count:7} {found['seconds'] / pixels * 1e6:8.3f} "
                    f"{found['megabytes']:8.0f} {found['megabytes'] * 2**20 / pixels:8.1f} "
                    f"{found.get('rmse', float('nan')):8.4f}",
                    flush=True,
                )
    return figures


def checks(figures: dict[tuple[int, str, int], dict[str, float]]) -> list[Check]:
    """Compare with the figures to reach."""
    found = []
    for (size, method, threads), row in figures.items():
        if method == "memory" and threads == 2:
            if size == SCALED:
                one = figures[size, method, 1]["seconds"]
                gain = one / row["seconds"]
                apart = 2 * one / figures[size, "apart", 2]["seconds"]
                name = f"4 MP, two threads against one (two processes: {apart:.2f})"
                found.append(Check(name, LEAST_SPEEDUP, gain, gain >= LEAST_SPEEDUP, ">="))
            if size >= 4:
                share = row["megabytes"] * 2**20 / SIDES[size] ** 2
                found.append(Check.at_most(f"{size} MP, bytes per pixel", MOST_BYTES, share))
            found += [
                _compare(f"{size} MP, RMSE in {cut} / in memory, off 1", cuts["rmse"], row["rmse"])
                for cut in ("blocks", "pieces")
                if (cuts := figures.get((size, cut, 2)))
            ]
        if (size, method, threads) == (64, "blocks", 2):
            found.append(Check.at_most("64 MP in blocks, MB", MOST_MEMORY, row["megabytes"]))
    rates = [
        row["seconds"] / SIDES[size] ** 2
        for (size, method, threads), row in figures.items()
        if method == "blocks" and threads == 2 and size >= 4
    ]
    if len(rates) > 1:
        spread = max(rates) / min(rates)
        name = "seconds per pixel from 4 MP on, most / least"
        found.append(Check.at_most(name, MOST_SPREAD, spread))
    return found


def _compare(name: str, ours: float, theirs: float) -> Check:
    """Both ways: blocks that are better by more are as far from the whole."""
    return Check.at_most(name, MOST_OFF, abs(ours / theirs - 1))


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--threads", type=int, nargs="+", choices=(1, 2), default=[1, 2])
    parser.add_argument("--in-memory", type=int, default=64, help="largest size solved as a whole")
    parser.add_argument("--repeats", type=int, default=3, help="of the comparison of threads")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.child:
        method, folder, threads = words.child
        print(json.dumps(child(method, Path(folder), int(threads))))
        return 0
    print(summary())
    return (
        0
        if report(checks(run_all(words.sizes, words.threads, words.in_memory, words.repeats)))
        else 1
    )


if __name__ == "__main__":
    sys.exit(main())
