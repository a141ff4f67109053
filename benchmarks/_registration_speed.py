"""Seconds of one 600x400 pair on one core, candidates in turn."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from _checks import Check
from _registration_cases import Case, speed_case
from _registration_peers import PEERS
from _registration_runs import Outcome, run_ours, run_peer

ROUNDS = 5
MOST = 2.0  # seconds with the global start
SMALL = 0.3  # of the motion: where elastix finds the answer from the identity
START, VERDICT, AUTO = "global start", "global start and verdict", "all defaults (auto)"
IDENTITY, ELASTIX = "from the identity, small motion", "elastix MI, small motion"


def candidates(data: Path) -> dict[str, Callable[[], Outcome]]:
    """Return what is timed: this package, and elastix where it is installed.

    Parameters
    ----------
    data : Path
        Folder of the images.

    Returns
    -------
    dict
        By name, in the order of their turns.
    """
    large, small = speed_case(data), speed_case(data, SMALL)
    mutual = {"measure": "mutual"}

    def ours(case: Case, **options: object) -> Callable[[], Outcome]:
        return lambda: run_ours(case, options)

    found = {
        START: ours(large, **mutual, verdict=False),
        VERDICT: ours(large, **mutual),
        AUTO: ours(large),
        IDENTITY: ours(small, **mutual, verdict=False, search=False),
    }
    if find_spec("itk") is not None:
        found[ELASTIX] = lambda: run_peer(PEERS["elastix MI"], small)
    return found


def measure_speed(data: Path) -> list[Check]:
    """Time the candidates in turn, print medians and return the figures to reach.

    Parameters
    ----------
    data : Path
        Folder of the images.

    Returns
    -------
    list of Check
    """
    runs = candidates(data)
    outcomes: dict[str, list[Outcome]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            outcomes[name].append(run())
    print(f"\nseconds of a 600x400 pair, one thread, median of {ROUNDS} rounds in turn")
    seconds = {}
    for name, done in outcomes.items():
        seconds[name] = median(one.seconds for one in done)
        print(f"{name:36}{seconds[name]:9.2f} s{done[0].error:9.3f} px", flush=True)
    if ELASTIX not in seconds:
        print(f"{ELASTIX:36}{'-':>9}    (itk-elastix is not installed)")
    found = [
        Check.at_most("600x400 with the global start, s", MOST, seconds[START]),
        Check.at_most("the verdict beside it, s", MOST, seconds[VERDICT] - seconds[START]),
    ]
    if ELASTIX in seconds:
        name = "from the identity, against elastix's default, s"
        found.append(Check.at_most(name, seconds[ELASTIX], seconds[IDENTITY]))
    return found
