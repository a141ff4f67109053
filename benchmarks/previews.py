"""How far a preview of the upsampling panel lies from what the run gives there.

A generated scene of 512 x 640 pixels, targets at factors 2 to 16, straight and turned by 58
degrees, without noise and with 2 % of the range; previews of the middle on fast and slow machines
(from 176 down to 96 guide pixels a side are computed). Printed are the pixels shown, the RMS of the
difference, and what 99 % of the pixels stay below, both in percent of the range. The exit code is
1 if an RMS is not below .9 %. Ten minutes on two cores; no window is opened.
"""

from __future__ import annotations

import os
import sys
from itertools import product

import numpy as np
from _checks import Check, report
from napari.layers import Image
from numpy.typing import NDArray

from napari_cosparse import make_scene
from napari_cosparse.core.progress import drain
from napari_cosparse.core.reconstruction import Settings, place
from napari_cosparse.widgets._job import Pair, pair_up, placed, upsampling
from napari_cosparse.widgets._pace import LEAST
from napari_cosparse.widgets._preview import part_to_preview
from napari_cosparse.widgets._preview_axis import LONGEST
from napari_cosparse.widgets._preview_job import previewing

SCENE = make_scene((512, 640))
FACTORS, DEGREES, NOISES = (2, 4, 8, 16), (0, 58), (0.0, 0.02)
SIDES = LONGEST, (LONGEST + LEAST) // 2, LEAST
MOST = 0.9  # percent of the range, RMS
OPERATORS = "intensity-depth"


def lay(factor: int, degrees: float, noise: float) -> tuple[Pair, float]:
    """Turn a target about the middle of the scene; a pair of layers, and the target's range."""
    angle, shape = np.deg2rad(degrees), np.array(SCENE.depth.shape)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix, samples = np.eye(3), shape // factor
    matrix[:2, :2] = factor * turn  # target pixel to guide pixel
    matrix[:2, 2] = (shape - 1) / 2 - matrix[:2, :2] @ (samples - 1) / 2
    settings = Settings(transform=np.linalg.inv(matrix))
    coverage, phi = place(tuple(shape), tuple(samples), settings)
    low = np.where(phi.inside, phi.forward(SCENE.depth[coverage.window]), np.nan)
    span = float(np.ptp(np.nanquantile(low, (0.01, 0.99))))
    low += noise * span * np.random.default_rng(0).standard_normal(low.shape)
    target = Image(low.astype(np.float32), affine=matrix, contrast_limits=(0, 9), name="low")
    return pair_up(target, Image(SCENE.guide, rgb=True, name="guide"), positions=True), span


def differences(pair: Pair) -> list[NDArray[np.float64]]:
    """Subtract the run from previews of each side."""
    settings, found = placed(pair, Settings()), []
    (whole,) = drain(upsampling(pair, OPERATORS, settings)()).known
    corners = [[0, 0], np.subtract(SCENE.depth.shape, 1)]
    for side in SIDES:
        part = part_to_preview(pair, settings, corners, side)
        steps = previewing(pair, OPERATORS, settings, lambda _, part=part: part, ((), ()))
        (made,) = drain(steps()).known
        found.append(np.subtract(made.image, whole.image[part.shown], dtype=np.float64))
    return found


def main() -> int:
    """Compare, print, check."""
    checks = []
    for factor, degrees, noise in product(FACTORS, DEGREES, NOISES):
        pair, span = lay(factor, degrees, noise)
        for side, difference in zip(SIDES, differences(pair), strict=True):
            percent = 100 * np.abs(difference) / span
            rms, most = np.sqrt(np.mean(percent**2)), np.quantile(percent, 0.99)
            name = f"factor {factor}, {degrees} degrees, noise {noise:.0%}, {side} computed"
            print(f"{name}: {len(percent)} shown, 99 % below {most:.2f} %", flush=True)
            checks.append(Check.at_most(name, MOST, float(rms)))
    return 0 if report(checks) else 1


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.exit(main())
