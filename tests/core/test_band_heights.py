"""The contract's tolerance for other tile sizes, where it is hardest to keep: ragged edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from napari_cosparse import load_operators
from napari_cosparse.core.ranges import robust_range
from napari_cosparse.core.reconstruction import _prior, degrade, upsample

SHARE, NEAR, RMS = 0.99, 1e-5, 1e-4  # contract, "Tolerances"


def noise(rng, shape, width):
    """Smooth noise of deviation 1."""
    values = gaussian_filter(rng.standard_normal(shape), width)
    return values / values.std()


def ragged_scene(shape, seed):
    """Slanted planes with ragged edges, and a textured guide that shows the same edges."""
    rng = np.random.default_rng(seed)
    rows, columns = np.indices(shape, dtype=float)
    depth, guide = 50 + 0.02 * rows, np.full(shape, 0.5)
    for _ in range(14):
        middle, radius = rng.uniform(0, shape), rng.uniform(0.08, 0.3) * min(shape)
        edge = 6 * noise(rng, shape, 10) + 1.5 * noise(rng, shape, 1.2)
        inside = np.hypot(rows - middle[0], columns - middle[1]) + edge < radius
        height, down, right = rng.uniform(20, 220), *rng.uniform(-0.1, 0.1, 2)
        depth = np.where(inside, height + down * rows + right * columns, depth)
        guide = np.where(inside, rng.uniform(), guide)
    return depth, guide + 0.05 * noise(rng, shape, 0.8)


@pytest.fixture(scope="module")
def scene():
    depth, guide = ragged_scene((200, 240), 0)
    return degrade(depth, 8), guide, load_operators("intensity-depth")


@pytest.fixture(scope="module")
def usual(scene):
    return upsample(*scene, noise=0)


@pytest.mark.parametrize("height", [16, 128])
def test_result_does_not_depend_on_the_height_of_the_bands(scene, usual, monkeypatch, height):
    monkeypatch.setattr(_prior, "BAND_ROWS", height)
    other = upsample(*scene, noise=0)
    apart = np.abs(other.image - usual.image) / robust_range(scene[0])[1]
    assert np.quantile(apart, SHARE) < NEAR
    assert np.sqrt(np.mean(apart**2)) < RMS
    assert other.costs == pytest.approx(usual.costs, rel=0.01)
