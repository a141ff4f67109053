"""Run this package and its peers on cases, and keep the peers' figures in a file."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from _machine import describe
from _registration_cases import Case
from _registration_motion import Matrix, residual
from _registration_peers import PEERS, Peer, versions

STORE = Path(__file__).with_name("registration_peers.json")
OURS, OURS_IDENTITY = "napari-cosparse", "napari-cosparse, from the identity"
FAILED = 9999.0  # px: a peer that gave up, as JSON has no infinity


@dataclass(frozen=True)
class Outcome:
    """What one program made of one case.

    Attributes
    ----------
    case, modality, kind : str
        Of the case.
    tolerance : float
        Largest error that is right, in px.
    error : float
        Corner (or landmark) error in px; infinite where nothing is right.
    seconds : float
        Time of the run.
    left : tuple of float
        Remaining x, y (px) and rotation (degrees); NaN without truth.
    trusted : bool or None
        What the program says; None if it says nothing.
    because : str
        And why.
    measure : str
        The one that it believes.
    """

    case: str
    modality: str
    kind: str
    tolerance: float
    error: float
    seconds: float
    left: tuple[float, float, float] = (np.nan, np.nan, np.nan)
    trusted: bool | None = None
    because: str = ""
    measure: str = ""

    @property
    def right(self) -> bool:
        """Whether the error is within the tolerance."""
        return self.error <= self.tolerance

    @property
    def mixed(self) -> float:
        """The paper's combined error."""
        return float(np.linalg.norm(self.left))


def outcome(case: Case, matrix: Matrix, seconds: float) -> Outcome:
    """Score a matrix.

    Parameters
    ----------
    case : Case
        What was run.
    matrix : ndarray, shape (3, 3)
        The answer.
    seconds : float
        Its time.

    Returns
    -------
    Outcome
    """
    left = (np.nan,) * 3
    if case.truth is not None:
        left = residual(matrix, case.truth, case.fixed.shape)
    error = case.error(matrix)
    return Outcome(case.name, case.modality, case.kind, case.tolerance, error, seconds, left)


def run_ours(case: Case, options: Mapping[str, Any]) -> Outcome:
    """Register a case with this package.

    Parameters
    ----------
    case : Case
        What to run.
    options : mapping
        For `register`, instead of its defaults.

    Returns
    -------
    Outcome
    """
    from napari_cosparse import register

    began = time.perf_counter()
    found = register(
        case.fixed,
        case.moving,
        group=case.group,
        mask_fixed=case.mask_fixed,
        mask_moving=case.mask_moving,
        threads=1,
        **options,
    )
    seconds = time.perf_counter() - began
    return replace(
        outcome(case, found.matrix, seconds),
        trusted=found.trusted if options.get("verdict", True) else None,
        because=found.because,
        measure=found.measure,
    )


def run_peer(peer: Peer, case: Case) -> Outcome:
    """Register a case with a peer; one that gives up is infinitely wrong."""
    began = time.perf_counter()
    try:
        matrix = peer(case.fixed, case.moving, case.group, case.mask_fixed, case.mask_moving)
    except RuntimeError:  # ITK: all samples map outside the moving image, for example
        missed = outcome(case, np.eye(3), time.perf_counter() - began)
        return replace(missed, error=float("inf"))
    return outcome(case, matrix, time.perf_counter() - began)


class Store:
    """The peers' figures by peer, part and case, in a JSON file.

    Parameters
    ----------
    path : Path
        The file; absent means empty.
    """

    def __init__(self, path: Path = STORE) -> None:
        self.path = path
        self.content: dict[str, Any] = {"made": {}, "figures": {}}
        if path.exists():
            self.content = json.loads(path.read_text())

    def outcomes(self, peer: str, part: str, cases: Iterable[Case]) -> list[Outcome]:
        """Return what is known of a peer on cases; fewer where some were not run.

        Parameters
        ----------
        peer, part : str
            Whose figures.
        cases : iterable of Case
            Of that part.

        Returns
        -------
        list of Outcome
        """
        known: Mapping[str, list[float]] = self.content["figures"].get(peer, {}).get(part, {})
        found = []
        for case in cases:
            if case.name not in known:
                continue
            error, seconds, *left = known[case.name]
            error = float("inf") if error >= FAILED else error
            found.append(
                Outcome(
                    case.name,
                    case.modality,
                    case.kind,
                    case.tolerance,
                    error,
                    seconds,
                    tuple(left),
                )
            )
        return found

    def refresh(self, peers: Iterable[str], part: str, cases: Iterable[Case]) -> None:
        """Run peers on cases and write the figures after each case.

        Parameters
        ----------
        peers : iterable of str
            Names in `PEERS`.
        part : str
            Where to file them.
        cases : iterable of Case
            What to run.
        """
        names = list(peers)
        for case in cases:
            for name in names:
                done = run_peer(PEERS[name], case)
                figures = self.content["figures"].setdefault(name, {}).setdefault(part, {})
                error = min(done.error, FAILED)
                left = [0.0 if np.isnan(value) else value for value in done.left]
                figures[case.name] = [round(value, 3) for value in (error, done.seconds, *left)]
        self.content["made"][part] = {
            "date": datetime.now(UTC).date().isoformat(),
            "processor": describe()["processor"],
            **versions(),
        }
        self.path.write_text(_dumps(self.content))


def _dumps(content: dict[str, Any]) -> str:
    """JSON with one case a line."""
    text = json.dumps(content, indent=1)
    return re.sub(r"\[[^\[\]]*\]", lambda part: " ".join(part.group().split()), text) + "\n"
