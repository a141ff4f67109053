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
    return _known_before(work) | {
        "plan": {
            "rows": [[s.core.start, s.core.stop] for s in work.plan_made.rows],
            "columns": [[s.core.start, s.core.stop] for s in work.plan_made.columns],
            "halo": work.plan_made.halo,
            "fade": work.plan_made.fade,
            "chunk": list(work.plan_made.chunk),
        },
        "memory": work.memory,
    }


def _known_before(work: Work) -> dict[str, Any]:
    """Describe what is known of a run before its blocks are chosen."""
    return {
        "program": "napari-cosparse",
        "version": __version__,
        "parameters": work.settings.as_json()
        | {"factor": list(work.factor), "origin": list(work.origin)},
        "axes": [list(part) for part in work.axes],
    }


def outline(work: Work) -> str:
    """Checksum of a job that reads no image and knows no blocks: jobs may be others all the same.

    Parameters
    ----------
    work : Work
        The run, its axes described.

    Returns
    -------
    str
        Hexadecimal.
    """
    images = [
        (list(map(int, image.array.shape)), str(image.dtype), image.colour, image.first)
        for image in (work.target, work.guide)
    ]
    return _of_json([images, _known_before(work), *_used(work)])


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
    return _of_json([digests, notes, *_used(work)])


def _used(work: Work) -> list[str]:
    """Type of the result, and checksums of what is used beside the images."""
    used = [str(work.dtype), _checksum(work.operators)]
    if work.settings.weights is not None:
        used.append(hashlib.blake2b(work.settings.weights.tobytes()).hexdigest())
    return used


def _of_json(content: list[Any]) -> str:
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()


def _checksum(pair: OperatorPair) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for group in pair.groups:
        for part in (group.offsets, group.coefficients_u, group.coefficients_v):
            digest.update(np.ascontiguousarray(part).tobytes())
        digest.update(repr(group.weight).encode())
    return digest.hexdigest()
