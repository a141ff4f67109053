"""What a run into a store says of itself: notes for the result, and the checksum of the job."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from napari_cosparse import __version__
from napari_cosparse.core.operators import OperatorPair

from ._work import Work


def notes_of(work: Work) -> dict[str, Any]:
    """Describe a run.

    Parameters
    ----------
    work : Work
        The run, its blocks chosen.

    Returns
    -------
    dict
        JSON values.
    """
    return {
        "program": "napari-cosparse",
        "version": __version__,
        "parameters": work.settings.as_json()
        | {"factor": list(work.factor), "origin": list(work.origin)},
        "plan": {
            "rows": [[s.core.start, s.core.stop] for s in work.plan_made.rows],
            "columns": [[s.core.start, s.core.stop] for s in work.plan_made.columns],
            "halo": work.plan_made.halo,
            "fade": work.plan_made.fade,
            "chunk": list(work.plan_made.chunk),
        },
        "memory": work.memory,
        "axes": [list(part) for part in work.axes],
    }


def fingerprint(work: Work, digests: list[str]) -> str:
    """Checksum of inputs, operators and all that changes the result.

    Parameters
    ----------
    work : Work
        The run, its blocks chosen.
    digests : list of str
        Checksums of the planes.

    Returns
    -------
    str
        Hexadecimal.
    """
    notes = {key: value for key, value in notes_of(work).items() if key != "memory"}
    content = [digests, notes, str(work.dtype), _checksum(work.operators)]
    if work.settings.weights is not None:
        content.append(hashlib.blake2b(work.settings.weights.tobytes()).hexdigest())
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()


def _checksum(pair: OperatorPair) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for group in pair.groups:
        for part in (group.offsets, group.coefficients_u, group.coefficients_v):
            digest.update(np.ascontiguousarray(part).tobytes())
        digest.update(repr(group.weight).encode())
    return digest.hexdigest()
