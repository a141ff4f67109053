"""Where an image is flat the solver ends its stages: what is left to gain is rounding."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse.core.descent import Stop
from napari_cosparse.core.progress import drain
from napari_cosparse.core.reconstruction import (
    Settings,
    _graduated,
    degrade,
    guide_planes,
    guide_range,
    measure,
    upsample_steps,
)
from napari_cosparse.io import load_operators

ROWS, COLUMNS = np.mgrid[:64, :64] / 64
FLAT = {
    "ramp": 1 + 0.03 * COLUMNS + 0.01 * ROWS,
    "hill": 1 + 0.05 * np.exp(-8 * ((COLUMNS - 0.5) ** 2 + (ROWS - 0.5) ** 2)),
    "wave": 1 + 0.02 * np.sin(3 * COLUMNS) * np.cos(2 * ROWS),
}
PAIR = load_operators("intensity-depth")


@pytest.mark.parametrize("name", FLAT)
def test_flat_part_of_an_image_takes_few_evaluations(name, monkeypatch):
    """Left of an edge that makes the range, as a block of a large image is solved."""
    image = np.hstack([FLAT[name], np.where(COLUMNS > 0.5, 0.0, 5.0)])
    guide = 100 * image + 10 * np.random.default_rng(0).random(image.shape)
    low, settings = degrade(image, 4), Settings(factor=(4, 4), noise=0)
    span = guide_range(guide_planes(guide), map)
    whole = measure(low, span, PAIR, settings, (4.0, 4.0), map)

    def solve():
        steps = upsample_steps(low[:, :16], guide[:, :64], PAIR, settings, whole=whole)
        return drain(steps)

    found = solve()
    assert found.stop is Stop.CHANGE_SMALL
    monkeypatch.setattr(_graduated, "NOTHING", -np.inf)
    patient = solve()
    assert found.evaluations < patient.evaluations / 3
    assert np.abs(found.image - patient.image).max() < 1e-5 * 5
