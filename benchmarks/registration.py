"""Accuracy, trust and time of registration against peers and the paper's printed figures.

Every case comes from a seed (``_registration_cases.py``, ``_registration_mix.py``); errors are
mean distances of the four corners of the fixed image (of the landmarks where a pair has them), in
moving pixels. The peers' figures lie in ``registration_peers.json`` with the versions that made
them; ``--peers run`` makes them again and needs the extra ``registration-peers``. All programs run
with one thread. The exit code is 1 if a figure to reach is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import _registration_cases as sets
import _registration_mix as mixed
from _checks import Check, report
from _machine import summary
from _middlebury import data_folder
from _registration_cases import Case
from _registration_picture import draw_map
from _registration_report import by_modality, checks, table, table3
from _registration_runs import OURS, OURS_IDENTITY, Outcome, Store, run_ours
from _registration_speed import measure_speed
from threadpoolctl import threadpool_limits

FAST = {"measure": "both", "verdict": False}  # the first step of the default
IDENTITY = {**FAST, "search": False}
DEFAULT: dict[str, Any] = {}
SLOW_PEERS = ("ANTs MI", "greedy NMI", "greedy NCC")
ELASTIX = ("elastix MI", "elastix NMI", "elastix NMI tuned")
EVERY = (*ELASTIX, "elastix MI tuned", "SimpleITK Mattes", *SLOW_PEERS)
QUICK = 5  # every so many cases


def map_cases(data: Path, count: int) -> Iterable[Case]:
    """Cases of the success map, row by row."""
    return (case for _, _, case in sets.success_map(data, count))


PARTS: dict[str, tuple[str, Callable[[Path], Iterable[Case]], dict[str, Any], Sequence[str]]] = {
    "table3": (
        "Table 3, from the identity and with the global start",
        sets.table3,
        {OURS_IDENTITY: IDENTITY, OURS: FAST},
        EVERY,
    ),
    "map": (
        "success map on Art: x -40..40 px, rotation -20..20 degrees",
        partial(map_cases, count=9),
        {OURS: FAST, OURS_IDENTITY: IDENTITY},
        ELASTIX[:2],
    ),
    "rigid": (
        "30 rigid cases on Art, Books, Dolls: 25 px, 15 degrees",
        sets.rigid,
        {OURS: DEFAULT},
        EVERY,
    ),
    "nir": (
        "20 RGB/NIR cases: 30 px, 20 degrees",
        sets.nir_rigid,
        {OURS: FAST},
        (*ELASTIX, "SimpleITK Mattes", "ANTs MI", "greedy NMI"),
    ),
    "affine": (
        "similarity and affine cases, 20 each of RGB/NIR and depth",
        sets.wider,
        {OURS: FAST},
        ("elastix MI", "SimpleITK Mattes", "greedy NMI"),
    ),
    "landmarks": (
        "landmark pairs as they come (errors at the landmarks)",
        sets.landmark_cases,
        {OURS: DEFAULT},
        EVERY,
    ),
    "functional": (
        "29 functional and SHG cases: 6 %, 15 degrees",
        sets.functional,
        {OURS: DEFAULT},
        EVERY,
    ),
    "mix": (
        "96 genuine pairs of many modalities",
        mixed.genuine,
        {OURS: DEFAULT},
        ("elastix MI", "elastix NMI tuned"),
    ),
    "trust": (
        "200 mixed cases, 104 of which must not be trusted",
        mixed.mix,
        {OURS: DEFAULT},
        (),
    ),
}
"""By name: title, cases, options of our rows, peers that are run."""
DETAILED = ("affine", "landmarks", "functional", "mix", "trust")


def run_part(part: str, options: argparse.Namespace) -> list[Check]:
    """Run one part, print its table and return its figures to reach.

    Parameters
    ----------
    part : str
        A key of `PARTS`.
    options : Namespace
        The command line.

    Returns
    -------
    list of Check
    """
    title, make, ours, known = PARTS[part]
    count = 17 if options.fine else 9
    cases = list(map_cases(options.data, count) if part == "map" else make(options.data))
    cases = cases[::QUICK] if options.quick else cases
    peers = [name for name in known if options.match(name)]
    store = Store()
    if options.peers == ["run"]:
        store.refresh(peers, part, cases)
        return []
    rows: dict[str, list[Outcome]] = {}
    for name, chosen in ours.items():
        rows[name] = [_run(case, chosen, options) for case in cases]
    for name in peers:
        rows[name] = store.outcomes(name, part, cases)
    table(title, rows)
    if part == "table3":
        table3(rows)
    if part in DETAILED:
        by_modality(rows[OURS])
    if part == "map" and options.picture:
        draw_map(options.picture, rows, count)
    return checks(part, rows)


def _run(case: Case, chosen: dict[str, Any], options: argparse.Namespace) -> Outcome:
    """Register a case once; note it where the result is wrong or wrongly judged."""
    key = (case.name, repr(chosen))  # the mix is part of the trust cases
    if key in options.done:
        return options.done[key]
    found = options.done[key] = run_ours(case, chosen)
    good = found.right == bool(found.trusted) if found.trusted is not None else found.right
    if options.failures and not (good and (found.right or found.kind != "genuine")):
        with options.failures.open("a") as file:
            file.write(
                f"{found.case}: {found.kind}, error {found.error:.2f} px of {found.tolerance:g}, "
                f"{found.measure}, trusted {found.trusted}: {found.because} {chosen}\n"
            )
    return found


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
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--part", nargs="+", choices=(*PARTS, "speed", "all"), default=["all"], metavar="PART"
    )
    parser.add_argument(
        "--peers",
        default="all",
        help="names, with commas; none; run: make their figures again, and nothing else",
    )
    parser.add_argument("--quick", action="store_true", help=f"every {QUICK}th case")
    parser.add_argument("--fine", action="store_true", help="success map of 17 x 17 cases")
    parser.add_argument("--picture", type=Path, metavar="PNG", help="draw the success map")
    parser.add_argument("--failures", type=Path, metavar="FILE", help="append what fails there")
    parser.add_argument("--data", type=Path, help="folder of the images (or COSPARSE_DATA)")
    options = parser.parse_args(arguments)
    options.data = data_folder(options.data)
    if not (options.data / "middlebury").is_dir():
        parser.error(f"no images in {options.data}: give --data or set COSPARSE_DATA")
    names = options.peers.split(",")
    options.match = lambda name: (
        names in (["all"], ["run"]) or any(text and text in name for text in names)
    )
    options.peers = names
    options.done = {}
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command line.

    Returns
    -------
    int
        Exit code: 1 if a figure is missed.
    """
    options = parse(arguments)
    print(summary())
    print(
        "one thread; right: within 3 px, 5 px where the truth is rough; wrong: trusted and off by"
    )
    print("more than 5 px, or no answer exists; s: mean seconds of a case")
    parts = [*PARTS, "speed"] if "all" in options.part else options.part
    found: list[Check] = []
    with threadpool_limits(1):
        for part in parts:
            found += measure_speed(options.data) if part == "speed" else run_part(part, options)
    return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
