"""Two hundred mixed cases for ``measure="auto"`` and for trust.

`GENUINE` says how many of each modality have an answer (96); `BAD` how many must not be trusted
(104). No case pairs the heads of two patients: such an answer would be neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import numpy as np
from _registration_cases import (
    Case,
    as_it_comes,
    deregister,
    mixed_motion,
    random_affine,
    random_scale,
    repeated,
)
from _registration_images import (
    BRAINS,
    NIR_AFFINE,
    NIR_TEST,
    THERMAL,
    Pair,
    brain,
    cells,
    depth,
    gray,
    holes,
    nir,
    shg,
    t1_pd,
    thermal,
)
from _registration_landmarks import landmarks
from _registration_motion import crop, translation
from scipy.ndimage import gaussian_filter

DEPTH = ("art", "books", "dolls", "laundry", "aloe", "wood1")
GENUINE = {
    "nir": 20,
    "depth": 12,
    "sensor depth": 4,
    "thermal": 12,
    "ct_mri": 9,
    "t1_t2": 3,
    "t1_pd": 4,
    "sar": 2,
    "depth/optical": 2,
    "retina": 2,
    "pet_mri": 6,
    "mr/pet": 4,
    "spect_mri": 3,
    "spect/ct": 3,
    "shg": 6,
    "cells": 4,
}
BAD = {
    "unrelated": 44,
    "mirrored": 20,
    "noise": 16,
    "constant": 6,
    "disjoint": 9,
    "tiny overlap": 9,
}


def mix(data: Path) -> Iterator[Case]:
    """All two hundred: `genuine`, then `bad`."""
    yield from genuine(data)
    yield from bad(data)


def genuine(data: Path) -> Iterator[Case]:
    """Cases with an answer, as counted in `GENUINE`."""
    yield from _outdoor(data)
    yield from _medical(data)
    yield from _microscopy(data)


def bad(data: Path) -> Iterator[Case]:
    """Cases that must not be trusted, as counted in `BAD`."""
    yield from _unrelated(data)
    yield from _mirrored(data)
    yield from _noise(data)
    yield from _constant(data)
    yield from _disjoint(data)
    yield from _tiny(data)


def _outdoor(data: Path) -> Iterator[Case]:
    for name in (*NIR_TEST, *NIR_AFFINE):
        yield from repeated(nir(data, name), 60, 2)
    for number, pair in enumerate((nir(data, "0008"), nir(data, "street_0003"))):
        rng = np.random.default_rng([61, number])
        group, draw = (("similarity", random_scale), ("A", random_affine))[number]
        yield deregister(pair, draw(pair.moving.shape, rng), f"{group} seed 61", group=group)
    for name in ("rgb_nir_vn_20", "rgb_nir_vn_25"):
        yield as_it_comes(landmarks(data, name), "A")
    for name in DEPTH:
        yield from repeated(depth(data, name), 60, 2)
    for name in ("desk", "redwood"):
        yield from repeated(holes(data, name), 60, 2)
    for name in THERMAL:
        yield from repeated(thermal(data, name), 60, 3)
    for name in ("sar_optical_so1", "depth_optical_do6"):
        yield as_it_comes(landmarks(data, name), "A")
        yield from repeated(landmarks(data, name), 60, 1, "A")


def _medical(data: Path) -> Iterator[Case]:
    for kind, counts in (("ct_mri", (3, 3, 3)), ("pet_mri", (2, 2, 2)), ("spect_mri", (1, 1, 1))):
        for name, count in zip(BRAINS[kind], counts, strict=True):
            yield from repeated(brain(data, kind, name), 60, count)
    yield as_it_comes(landmarks(data, "t1_t2_10"), "A")
    yield from repeated(landmarks(data, "t1_t2_10"), 60, 2, "A")
    yield from repeated(t1_pd(data, "Border20"), 60, 2)
    yield as_it_comes(t1_pd(data, "Shifted13x17y"))
    yield as_it_comes(t1_pd(data, "R10X13Y17"))
    for name in ("retina_24", "retina_93"):
        yield as_it_comes(landmarks(data, name), "A")
    for name, count in (("mr_pet_1", 1), ("mr_pet_5", 1), ("spect_ct_1", 1), ("spect_ct_5", 0)):
        yield as_it_comes(landmarks(data, name))
        yield from repeated(landmarks(data, name), 60, count)


def _microscopy(data: Path) -> Iterator[Case]:
    for name in ("1B_A1", "1B_J3"):
        yield from repeated(shg(data, name), 60, 3)
    for fixed, moving in (("dapi", "map2"), ("phase_contrast", "map2")):
        yield from repeated(cells(data, fixed, moving), 60, 2)


def _scenes(data: Path) -> list[Pair]:
    """Return registered pairs of sensors that see scenes, and of microscopes."""
    return [
        *(nir(data, name) for name in (*NIR_TEST, *NIR_AFFINE)),
        *(depth(data, name) for name in DEPTH),
        *(thermal(data, name) for name in THERMAL),
        shg(data, "1B_A1"),
        cells(data, "phase_contrast", "map2"),
    ]


def _unrelated(data: Path) -> Iterator[Case]:
    """Two scenes: 24 of the same two sensors, 20 of any two."""
    families = [
        [nir(data, name) for name in (*NIR_TEST, *NIR_AFFINE)],
        [depth(data, name) for name in DEPTH],
        [thermal(data, name) for name in THERMAL],
    ]
    for family, count in zip(families, (10, 8, 6), strict=True):
        yield from _strangers(family, count, len(family[0].name))
    others = [brain(data, "ct_mri", "2004"), brain(data, "pet_mri", "25042"), shg(data, "1B_J3")]
    optical = landmarks(data, "sar_optical_so1")
    yield from _strangers([*_scenes(data), *others, optical], 20, 99)


def _strangers(pairs: list[Pair], count: int, seed: int) -> Iterator[Case]:
    rng = np.random.default_rng([62, seed])
    for number in range(count):
        one, other = (pairs[index] for index in rng.permutation(len(pairs))[:2])
        moved = deregister(other, mixed_motion(other, rng))
        name = f"unrelated {number}: {one.name} / {other.name}"
        yield Case(name, "unrelated", one.fixed, moved.moving, None, kind="unrelated")


def _mirrored(data: Path) -> Iterator[Case]:
    """Reverse the columns (or rows) of moving images."""
    pairs = _scenes(data)
    for number, pair in enumerate(pairs):
        rng = np.random.default_rng([63, number])
        case = deregister(pair, mixed_motion(pair, rng), "mirrored")
        axis = 1 if number % 4 else 0
        yield replace(case, moving=np.flip(case.moving, axis), truth=None, kind="mirrored")


def _noise(data: Path) -> Iterator[Case]:
    """Noise against noise 8, noise against an image 8; white and smooth."""
    images = list(islice(cycle(_scenes(data)[::3]), 8))
    for number in range(16):
        rng = np.random.default_rng([64, number])
        blur = (0.0, 2.0, 6.0)[number % 3]
        noise = [gaussian_filter(rng.normal(size=(300, 400)), blur) for _ in range(2)]
        fixed, moving, name = noise[0], noise[1], "noise"
        if number >= 8:
            pair = images[number - 8]
            fixed, name = pair.fixed, pair.name
            if number % 2:
                fixed, moving, name = noise[0], gray(pair.moving), f"{pair.name} moving"
        label = f"noise {number}: blur {blur:g} / {name}"
        yield Case(label, "noise", fixed, moving, None, kind="noise")


def _constant(data: Path) -> Iterator[Case]:
    for number, pair in enumerate((nir(data, "0008"), depth(data, "dolls"))):
        flat = np.full(pair.fixed.shape[:2], 7.0 * number, np.float32)
        for label, fixed, moving in (
            ("fixed", flat, pair.moving),
            ("moving", pair.fixed, flat),
            ("both", flat, flat),
        ):
            name = f"constant {label} {pair.name}"
            yield Case(name, "constant", fixed, moving, None, kind="constant")


def _disjoint(data: Path) -> Iterator[Case]:
    """Left and right parts of one scene that share nothing."""
    for pair in _scenes(data)[::2][:9]:
        columns = pair.fixed.shape[1]
        fixed = pair.fixed[:, : int(0.48 * columns)]
        moving = pair.moving[:, int(0.52 * columns) :]
        yield Case(f"disjoint {pair.name}", "disjoint", fixed, moving, None, kind="disjoint")


def _tiny(data: Path) -> Iterator[Case]:
    """Two windows of one scene that share 8-20 % of their columns; the truth is known."""
    for number, pair in enumerate(_scenes(data)[1::2][:9]):
        rows, columns = pair.fixed.shape[:2]
        share = 0.08 + 0.015 * number
        wide = int(columns / (2 - share))
        first = columns - wide
        yield Case(
            f"tiny overlap {share:.1%} {pair.name}",
            pair.modality,
            crop(pair.fixed, (0, 0, rows, wide)),
            crop(pair.moving, (0, first, rows, columns)),
            translation(0, -first),
            pair.tolerance,
            kind="tiny overlap",
        )
