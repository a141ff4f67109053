"""Which part a preview computes, and that it is the part of the run's result."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from napari_cosparse.core.progress import drain
from napari_cosparse.core.reconstruction import Settings, degrade, place, upsample_steps
from napari_cosparse.io import load_operators, make_scene
from napari_cosparse.widgets._plane import begin
from napari_cosparse.widgets._preview import AROUND, FEWEST, LONGEST, part_to_preview


def pair_of(guide, target):
    """Two shapes as a pair of layers has them."""
    return SimpleNamespace(
        guide_grid=SimpleNamespace(shape=guide), target_grid=SimpleNamespace(shape=target)
    )


@given(
    factor=st.floats(1, 300),
    start=st.floats(-3, 0),
    low=st.floats(0, 2000),
    length=st.floats(2, 3000),
)
def test_samples_of_a_part_lie_on_its_pixels(factor, start, low, length):
    """None lies beside them, where it would cost the solver its direct way."""
    guide, target = (3000, 3000), (int(3000 / factor) + 3,) * 2
    settings = Settings(factor=(factor,) * 2, origin=(start * factor,) * 2)
    corners = [[low] * 2, [low + length] * 2]
    part = part_to_preview(pair_of(guide, target), settings, corners)
    rows, pixels = part.target[0], part.guide[0]
    assert 0 <= rows.start < rows.stop <= target[0]
    assert 0 <= pixels.start < pixels.stop <= guide[0]
    size = pixels.stop - pixels.start, rows.stop - rows.start
    most = LONGEST + 1.5 * factor if factor * FEWEST <= LONGEST else max(LONGEST, factor)
    assert factor <= size[0] <= most + 4
    _, sampling = place((size[0],) * 2, (size[1],) * 2, part.settings)
    whole = rows.start > 0 and rows.stop < target[0]
    assert sampling.inside.all() or not whole
    shift = settings.origin[0] + rows.start * factor - pixels.start
    assert part.settings.origin[0] == pytest.approx(shift, abs=1e-6)
    around = part.around[0]
    assert around.start <= rows.start
    assert around.start in (0, rows.start - AROUND)
    assert around.stop == rows.stop + AROUND


def test_preview_is_the_part_of_the_result_with_its_noise():
    """Few samples would tell another noise; those around the part tell that of the run."""
    scene, bank = make_scene((240, 320)), load_operators("intensity-depth")
    low = degrade(scene.depth, 4)
    span = np.ptp(np.quantile(low, (0.01, 0.99)))
    low += 0.02 * span * np.random.default_rng(0).standard_normal(low.shape, np.float32)
    settings = Settings(factor=(4, 4), origin=(1.5, 1.5))
    whole = drain(upsample_steps(low, scene.guide, bank, settings))
    corners = [[70, 160], [115, 225]]
    part = part_to_preview(pair_of(scene.depth.shape, low.shape), settings, corners)
    assert part.guide == (slice(68, 116), slice(160, 228))
    assert part.target == (slice(17, 29), slice(40, 57))
    samples, guide = low[part.target], scene.guide[part.guide]
    steps = begin((samples, guide), bank, part.settings, map, low[part.around], alone=True)
    made = drain(steps)
    alone = drain(begin((samples, guide), bank, part.settings, map, alone=True))
    assert abs(made.noise - whole.noise) < abs(alone.noise - whole.noise)
    difference = made.image - whole.image[part.guide]
    assert np.sqrt(np.mean(difference**2)) < 0.03 * span
