"""Choose the parameters of the peers by the validation images."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from _middlebury import PROTOCOLS, Protocol, Scene
from _peers import PARAMETERS, PEERS, Peer, Plane, enlarge_bicubic


def tune(scenes: Iterable[Scene], factors: Iterable[int], path: Path = PARAMETERS) -> None:
    """Choose all parameters for both protocols and write them.

    Parameters
    ----------
    scenes : iterable of Scene
        Validation images.
    factors : iterable of int
        Distances of two samples, in pixels.
    path : Path
        File to write.
    """
    scenes, factors = list(scenes), list(factors)
    chosen: dict[str, Any] = {}
    for name, protocol in PROTOCOLS.items():
        chosen[name] = {}
        for factor in factors:
            chosen[name][str(factor)] = best = {}
            starts = [_enlarge(scene, protocol, factor) for scene in scenes]
            for peer_name, peer in PEERS.items():
                best[peer_name] = choose(peer, scenes, starts, protocol, factor)
                ratio = relative_error(peer, best[peer_name], scenes, starts, protocol)
                print(f"{name} x{factor} {peer_name}: {best[peer_name]} ({ratio:.3f} of bicubic)")
    path.write_text(json.dumps(chosen, indent=2) + "\n")


def choose(
    peer: Peer, scenes: list[Scene], starts: list[Plane], protocol: Protocol, factor: int
) -> dict[str, float]:
    """Candidate of a peer's grid with the smallest error.

    Parameters
    ----------
    peer : Peer
        Filter and grid.
    scenes : list of Scene
        Validation images.
    starts : list of ndarray, shape (N1, N2)
        Their enlarged targets.
    protocol : Protocol
        Says which pixels count.
    factor : int
        Distance of two samples, in pixels.

    Returns
    -------
    dict
        Settings of the peer.
    """
    return min(
        peer.candidates(factor),
        key=lambda settings: relative_error(peer, settings, scenes, starts, protocol),
    )


def relative_error(
    peer: Peer,
    settings: dict[str, float],
    scenes: list[Scene],
    starts: list[Plane],
    protocol: Protocol,
) -> float:
    """Geometric mean over the scenes of a peer's RMSE, relative to bicubic.

    Parameters
    ----------
    peer : Peer
        Filter.
    settings : dict
        Its parameters.
    scenes : list of Scene
        Validation images.
    starts : list of ndarray, shape (N1, N2)
        Their enlarged targets.
    protocol : Protocol
        Says which pixels count.

    Returns
    -------
    float
    """
    logs = []
    for scene, start in zip(scenes, starts, strict=True):
        scored = protocol.scored(scene)
        errors = [
            np.square((image - scene.truth)[scored]).mean()
            for image in (peer.run(scene.guide, start, settings), start)
        ]
        logs.append(0.5 * np.log(errors[0] / errors[1]))
    return float(np.exp(np.mean(logs)))


def _enlarge(scene: Scene, protocol: Protocol, factor: int) -> Plane:
    shape = scene.truth.shape
    return enlarge_bicubic(protocol.reduce(scene.truth, factor), shape, factor, protocol)
