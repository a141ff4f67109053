"""A small scene for the tests of upsampling: a disc and a bar before a slanted wall."""

from __future__ import annotations

import numpy as np

from napari_cosparse.core.operators import bank, random_frame
from napari_cosparse.core.reconstruction import bicubic, degrade, sampling_operator, upsample

BANK = bank(random_frame())
SHAPE = 64, 72


def make_depth(shape=SHAPE):
    """Piecewise constant and slanted: a disc and a thin bar before a wall, values 1 to 3."""
    rows, columns = np.indices(shape)
    depth = 1 + 0.004 * columns
    depth[np.hypot(rows - 26, columns - 30) < 15] = 3
    depth[50:53, 8:60] = 2.2
    return depth


def make_guide(depth, noise=1.0, seed=0):
    """A gray image of a scene: other values, the same edges, and noise."""
    return 40 * depth + np.random.default_rng(seed).normal(0, noise, depth.shape)


DEPTH = make_depth()
GUIDE = make_guide(DEPTH)
TARGET = degrade(DEPTH, 4)
LEVELS = np.rint(degrade(DEPTH, 4) * 50).astype(np.uint8)  # 50..150


def run(target=TARGET, guide=GUIDE, **keywords):
    """Upsample with the bank of a random frame."""
    return upsample(target, guide, BANK, **keywords)


def rmse(image, truth=DEPTH):
    """Root mean square error."""
    return float(np.sqrt(np.mean((image - truth) ** 2)))


def run_bicubic(target, factor=4.0):
    """Interpolate a target of the scene."""
    return bicubic(target, sampling_operator(SHAPE, target.shape, (factor, factor)))


def holed(value, target=TARGET):
    """Put a block and a scatter of unknown samples into a target."""
    out = target.astype(np.float32)
    out[5:8, 6:10] = value
    out[12, 3] = out[2, 15] = value
    return out
