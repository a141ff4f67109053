"""Cases of the registration benchmark: two images and the matrix that is to be found.

Protocol: the moving image of a registered pair is moved about its centre by cubic interpolation;
then both images are cut to one window in which the moved image has no pixel from outside, so that
no border gives the answer away. Every case comes from a seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _registration_images import (
    BRAINS,
    NIR_AFFINE,
    NIR_TEST,
    VALIDATION,
    Pair,
    brain,
    depth,
    gray,
    nir,
    shg,
)
from _registration_landmarks import LANDMARKS, landmarks
from _registration_motion import (
    Box,
    Matrix,
    central,
    corner_error,
    corners,
    crop,
    cropped,
    motion,
    move,
    point_error,
    window,
)
from numpy.typing import NDArray

TABLE3 = ((0, 0, 10), (-5, -5, 0), (10, 0, 5), (-5, -5, 5))
"""The paper's deregistrations: x and y in pixels, rotation in degrees."""
TABLE3_PAIRS = ("art", "oldbuilding", "mountain")
MAP_X, MAP_ANGLE, MAP_SIZE = 40, 20, (216, 290)
RIGID = ("art", "books", "dolls")
GROUPS = {"mr/pet": "SE", "spect/ct": "SE"}
"""Of the landmark pairs; A for the others."""
SAME = 1.0  # px: corner error of pairs that are on one grid
SHARE, TURN = 0.06, 15.0  # motions of the mixed modalities: of the larger side, degrees


@dataclass(frozen=True, eq=False)
class Case:
    """Two images and what is right.

    Attributes
    ----------
    name, modality : str
        Of the case, and of the two sensors.
    fixed, moving : ndarray, shape (H, W[, 3])
        The images.
    truth : ndarray, shape (3, 3), or None
        Fixed pixel (row, column, 1) -> moving pixel; None where nothing is right.
    tolerance : float
        Largest error that is right, in moving pixels.
    mask_fixed, mask_moving : ndarray of bool or None
        True = use.
    group : str
        Group to search.
    kind : str
        "genuine", or why no answer may be trusted.
    points : ndarray, shape (n, 2), or None
        Where the error is taken: fixed landmarks; the corners if None.
    """

    name: str
    modality: str
    fixed: NDArray[Any]
    moving: NDArray[Any]
    truth: Matrix | None
    tolerance: float = 3.0
    mask_fixed: NDArray[np.bool_] | None = None
    mask_moving: NDArray[np.bool_] | None = None
    group: str = "SE"
    kind: str = "genuine"
    points: NDArray[np.float64] | None = None

    def error(self, matrix: Matrix) -> float:
        """Mean distance to the truth at the corners or landmarks, px; infinite without truth."""
        if self.truth is None:
            return float("inf")
        points = corners(self.fixed.shape) if self.points is None else self.points
        return point_error(matrix, self.truth, points)

    def right(self, matrix: Matrix) -> bool:
        """Whether the error is within the tolerance."""
        return self.error(matrix) <= self.tolerance


def deregister(
    pair: Pair,
    matrix: Matrix,
    label: str = "",
    *,
    group: str = "SE",
    size: tuple[int, int] | None = None,
) -> Case:
    """Move the moving image of a pair and cut both.

    Parameters
    ----------
    pair : Pair
        Registered, on one grid; otherwise the moving image alone is cut.
    matrix : ndarray, shape (3, 3)
        Pixel of the moving image -> pixel after the motion.
    label : str
        For the name.
    group : str
        Group to search.
    size : tuple of int, optional
        Central window to cut; the largest if None.

    Returns
    -------
    Case
    """
    source = np.linalg.inv(matrix)
    box = window(pair.moving.shape, source) if size is None else central(pair.moving.shape, size)
    shapes = pair.fixed.shape[:2], pair.moving.shape[:2]
    same = shapes[0] == shapes[1] and corner_error(pair.truth, np.eye(3), shapes[0]) < SAME
    kept: Box = box if same else (0, 0, *pair.fixed.shape[:2])
    seen = pair.mask_moving
    if seen is not None:
        seen = crop(move(seen, matrix, order=1) > 1 - 1e-6, box)
    return Case(
        f"{pair.name} {label}".strip(),
        pair.modality,
        crop(pair.fixed, kept),
        crop(move(gray(pair.moving), matrix), box),
        cropped(matrix @ pair.truth, kept, box),
        pair.tolerance,
        None if pair.mask_fixed is None else crop(pair.mask_fixed, kept),
        seen,
        group,
    )


def as_it_comes(pair: Pair, group: str = "SE") -> Case:
    """Make a case of a pair that is not registered."""
    return Case(
        pair.name,
        pair.modality,
        pair.fixed,
        pair.moving,
        pair.truth,
        pair.tolerance,
        pair.mask_fixed,
        pair.mask_moving,
        group,
        points=pair.points,
    )


def random_motion(
    shape: tuple[int, ...], rng: np.random.Generator, shift: float, angle: float
) -> Matrix:
    """Draw a rotation about the centre and a shift, uniform up to limits in degrees and px."""
    rows, columns = rng.uniform(-shift, shift, 2)
    return motion(shape, rng.uniform(-angle, angle), (rows, columns))


def random_scale(shape: tuple[int, ...], rng: np.random.Generator) -> Matrix:
    """Draw a similarity: scale .8-1.25, up to 15 degrees and 20 px."""
    scale = np.exp(rng.uniform(np.log(0.8), np.log(1.25)))
    rows, columns = rng.uniform(-20, 20, 2)
    return motion(shape, rng.uniform(-15, 15), (rows, columns), scale * np.eye(2))


def random_affine(shape: tuple[int, ...], rng: np.random.Generator) -> Matrix:
    """Draw an affine motion: the four entries change by up to .12, up to 20 px."""
    rows, columns = rng.uniform(-20, 20, 2)
    return motion(shape, 0.0, (rows, columns), np.eye(2) + rng.uniform(-0.12, 0.12, (2, 2)))


def mixed_motion(pair: Pair, rng: np.random.Generator) -> Matrix:
    """Draw a motion of up to 6 % of the larger side and 15 degrees."""
    return random_motion(pair.moving.shape, rng, SHARE * max(pair.moving.shape[:2]), TURN)


def table3(data: Path) -> Iterator[Case]:
    """Twelve cells of the paper's table: four deregistrations of three pairs."""
    for name in TABLE3_PAIRS:
        pair = depth(data, name) if name == "art" else nir(data, f"{name}_0001")
        for x, y, angle in TABLE3:
            matrix = motion(pair.moving.shape, angle, (y, x))
            yield deregister(pair, matrix, f"({x}, {y}, {angle})")


def success_map(data: Path, count: int = 9) -> Iterator[tuple[int, int, Case]]:
    """Art over translation in x and rotation, as in the paper's figure.

    Parameters
    ----------
    data : Path
        Folder of the images.
    count : int
        Grid points on each axis.

    Yields
    ------
    tuple
        Index of the translation, index of the rotation, case.
    """
    pair = depth(data, "art")
    for row, angle in enumerate(np.linspace(-MAP_ANGLE, MAP_ANGLE, count)):
        for column, x in enumerate(np.linspace(-MAP_X, MAP_X, count)):
            matrix = motion(pair.moving.shape, angle, (0, x))
            label = f"x {x:g} turn {angle:g}"
            yield column, row, deregister(pair, matrix, label, size=MAP_SIZE)


def rigid(data: Path) -> Iterator[Case]:
    """Thirty cases on three scenes: up to 25 px and 15 degrees."""
    for number, name in enumerate(RIGID):
        pair = depth(data, name)
        for seed in range(10):
            rng = np.random.default_rng([30, number, seed])
            matrix = random_motion(pair.moving.shape, rng, 25, 15)
            yield deregister(pair, matrix, f"seed {seed}")


def nir_rigid(data: Path) -> Iterator[Case]:
    """Twenty RGB/NIR cases: up to 30 px and 20 degrees."""
    names = (*NIR_TEST, *NIR_AFFINE)
    for seed in range(20):
        pair = nir(data, names[seed % len(names)])
        rng = np.random.default_rng([20, seed])
        matrix = random_motion(pair.moving.shape, rng, 30, 20)
        yield deregister(pair, matrix, f"seed {seed}")


def wider(data: Path) -> Iterator[Case]:
    """Twenty similarity and twenty affine cases of RGB/NIR, and as many of depth."""
    pairs = {
        "nir": [nir(data, name) for name in (*NIR_TEST, *NIR_AFFINE)],
        "depth": [depth(data, name) for name in ("art", *VALIDATION[:4])],
    }
    for number, (group, draw) in enumerate((("similarity", random_scale), ("A", random_affine))):
        for modality in pairs:
            for seed in range(20):
                pair = pairs[modality][seed % len(pairs[modality])]
                rng = np.random.default_rng([40, number, len(modality), seed])
                matrix = draw(pair.moving.shape, rng)
                yield deregister(pair, matrix, f"{group} seed {seed}", group=group)


def landmark_cases(data: Path) -> Iterator[Case]:
    """Pairs as they come, with landmarks; retina with masks on both images."""
    for name in LANDMARKS:
        pair = landmarks(data, name)
        yield as_it_comes(pair, GROUPS.get(pair.modality, "A"))


def functional(data: Path) -> Iterator[Case]:
    """Twenty-nine hard cases: SHG/H&E 8, MR/PET 11, SPECT/MR 5, SPECT/CT 5."""
    for name in ("1B_A1", "1B_J3"):
        yield from repeated(shg(data, name), 50, 4)
    for name in BRAINS["pet_mri"]:
        yield from repeated(brain(data, "pet_mri", name), 51, 2)
    for name, count in zip(BRAINS["spect_mri"], (2, 2, 1), strict=True):
        yield from repeated(brain(data, "spect_mri", name), 52, count)
    for kind, counts in (("mr_pet", (2, 1)), ("spect_ct", (2, 1))):
        for number, count in zip((1, 5), counts, strict=True):
            pair = landmarks(data, f"{kind}_{number}")
            yield as_it_comes(pair)
            yield from repeated(pair, 53, count)


def repeated(pair: Pair, seed: int, count: int, group: str = "SE") -> Iterator[Case]:
    """Move one pair several times, by `mixed_motion` of a seed, the name and the number."""
    for number in range(count):
        rng = np.random.default_rng([seed, *pair.name.encode(), number])
        matrix = mixed_motion(pair, rng)
        yield deregister(pair, matrix, f"seed {seed}.{number}", group=group)


def speed_case(data: Path, share: float = 1.0) -> Case:
    """One RGB/NIR case of 600x400 pixels: a share of 20 px and 10 degrees."""
    pair = nir(data, "indoor_0010")
    matrix = motion(pair.moving.shape, 10 * share, (12 * share, -16 * share))
    return deregister(pair, matrix, f"600x400, {share:g} of the motion", size=(400, 600))
