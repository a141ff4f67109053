"""Accuracy and time of guided upsampling against peers, controls and printed figures.

Prints, for Tsukuba, Venus, Teddy and Cones, RMSE in disparity pixels, bad pixels (error above
1 px) in percent, the geometric means of both relative to bicubic (bad pixels count as at least
0.01 %) and the mean seconds per image: one BLAS thread, one dask thread; the median of 3 runs for
the shipped default, one run for the others. The samples have no noise (``noise=0``). The last
table compares the shipped default with the figures to reach; the exit code is 1 if one fails.

OpenCV's filters smooth the bicubically enlarged target with the guide; their parameters lie in
``peers.json`` and are chosen by ``--tune`` on the validation images alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from _checks import all_checks, report
from _machine import describe, summary
from _methods import BICUBIC, SCHEDULE, SHIPPED, Case, Method, all_methods
from _middlebury import (
    PROTOCOLS,
    TEST,
    VALIDATION,
    Scene,
    data_folder,
    read_test,
    read_validation,
)
from _peers import read_parameters
from _table import Row, head, line, measure, printed_rows
from _tune import tune
from threadpoolctl import threadpool_limits

from napari_cosparse import load_operators

FACTORS = (2, 4, 8)
QUICK = "tsukuba"


def measure_all(
    scenes: Sequence[Scene],
    methods: Sequence[Method],
    protocols: Sequence[str],
    factors: Sequence[int],
) -> list[Row]:
    """Measure every method in every case and print the tables as they grow.

    Parameters
    ----------
    scenes : sequence of Scene
        Columns.
    methods : sequence of Method
        Rows.
    protocols : sequence of str
        Names of the protocols: one table for each, and for each factor.
    factors : sequence of int
        Distances of two samples, in pixels.

    Returns
    -------
    list of Row
        Without the printed ones.
    """
    rows: list[Row] = []
    for name in protocols:
        for factor in factors:
            rows.extend(table(scenes, methods, name, factor))
    return rows


def table(
    scenes: Sequence[Scene], methods: Sequence[Method], protocol: str, factor: int
) -> Iterator[Row]:
    """Measure and print one table, row by row.

    Parameters
    ----------
    scenes : sequence of Scene
        Columns.
    methods : sequence of Method
        Rows.
    protocol : str
        Name of the protocol.
    factor : int
        Distance of two samples, in pixels.

    Yields
    ------
    Row
    """
    images = [scene.name for scene in scenes]
    print(f"\nx{factor}, protocol {protocol}: {PROTOCOLS[protocol].summary}")
    print(head(images))
    cases = [Case.make(scene, PROTOCOLS[protocol], factor) for scene in scenes]
    bicubic: Row | None = None
    for method in methods:
        scores = {case.scene.name: measure(method, case) for case in cases}
        row = Row(protocol, factor, method.name, scores)
        bicubic = row if method.name == BICUBIC else bicubic
        print(line(row, bicubic), flush=True)
        yield row
    for printed in printed_rows(protocol, factor, images):
        # the paper's figures are those of another ground truth: no ratio to our bicubic
        print(line(printed, bicubic if protocol == "network" else None))


def save(path: Path, rows: Sequence[Row], failed: Sequence[str]) -> None:
    """Write all figures as JSON.

    Parameters
    ----------
    path : Path
        File to write.
    rows : sequence of Row
        What was measured.
    failed : sequence of str
        Names of the checks that do not hold.
    """
    content = {
        "machine": describe(),
        "peers": read_parameters(),
        "rows": [asdict(row) for row in rows],
        "failed": list(failed),
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line.

    Parameters
    ----------
    arguments : sequence of str or None
        Those of the process if None.

    Returns
    -------
    Namespace
    """
    text = __doc__ or ""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument(
        "--factors", type=int, nargs="+", choices=FACTORS, default=list(FACTORS), metavar="D"
    )
    parser.add_argument("--protocol", choices=(*PROTOCOLS, "both"), default="both")
    parser.add_argument(
        "--methods", nargs="+", metavar="TEXT", help="only rows whose name has one of these in it"
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK} only, and not the slow paper's schedule"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument(
        "--tune", action="store_true", help="choose the peers' parameters again and write them"
    )
    parser.add_argument("--data", type=Path, help="folder of the images (or COSPARSE_DATA)")
    options = parser.parse_args(arguments)
    options.data = data_folder(options.data)
    if not (options.data / "middlebury").is_dir():
        parser.error(f"no images in {options.data}: give --data or set COSPARSE_DATA")
    if find_spec("cv2") is None:
        parser.error("OpenCV is not installed: pip install -e '.[benchmark]'")
    return options


def select(methods: Sequence[Method], options: argparse.Namespace) -> list[Method]:
    """Rows that the options ask for; bicubic always, as the others relate to it.

    Parameters
    ----------
    methods : sequence of Method
        All rows.
    options : Namespace
        ``methods`` and ``quick``.

    Returns
    -------
    list of Method
    """
    wanted = options.methods or [""]
    return [
        method
        for method in methods
        if method.name == BICUBIC
        or (
            (any(text in method.name for text in wanted))
            and not (options.quick and method.name == SCHEDULE)
        )
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command line.

    Returns
    -------
    int
        Exit code: 1 if a figure is not reached.
    """
    options = parse(arguments)
    with threadpool_limits(1):
        one_opencv_thread()
        if options.tune:
            tune([read_validation(options.data, name) for name in VALIDATION], FACTORS)
            return 0
        print(summary())
        print("one BLAS thread, one dask thread; seconds: median of 3 for the shipped default, one")
        print("run for the others; RMSE and bad pixels of bicubic: geometric means of the ratios")
        images = (QUICK,) if options.quick else TEST
        scenes = [read_test(options.data, name) for name in images]
        methods = all_methods({name: load_operators(name) for name in SHIPPED}, read_parameters())
        protocols = tuple(PROTOCOLS) if options.protocol == "both" else (options.protocol,)
        rows = measure_all(scenes, select(methods, options), protocols, options.factors)
    checks = all_checks(rows)
    fine = report(checks)
    if options.json:
        save(options.json, rows, [check.name for check in checks if not check.ok])
    return 0 if fine else 1


def one_opencv_thread() -> None:
    """Keep OpenCV to one thread, as the others are."""
    import cv2  # the extra "benchmark"

    cv2.setNumThreads(1)


if __name__ == "__main__":
    sys.exit(main())
