"""Which part a preview computes, and that it is the part of the run's result."""

from types import SimpleNamespace

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from napari_cosparse.core.progress import drain
from napari_cosparse.core.reconstruction import Settings, degrade, place, upsample_steps
from napari_cosparse.io import load_operators, make_scene
from napari_cosparse.layers import METADATA_KEY
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


@pytest.fixture
def stacks(panel, viewer, scene):
    """Two planes of target and guide, of which the second one is shown."""
    place = {"units": ("s", "um", "um"), "axis_labels": ("t", "y", "x")}
    guide = np.stack([scene.guide[..., 0]] * 2)
    viewer.add_image(guide, name="guide", scale=(3, 2, 2), translate=(5, 7, 8), **place)
    target = np.stack([scene.coarse, scene.coarse[::-1]])
    place |= {"scale": (3, 8, 8), "translate": (5, 10, 11)}
    viewer.add_image(target, name="low", **place)
    viewer.dims.set_current_step(0, 1)
    return target


@pytest.fixture
def preview(panel, viewer, qtbot):
    """Press Preview, wait for the end and give the layers of previews."""

    def preview():
        panel.preview_button.click()
        qtbot.waitUntil(lambda: not panel.runner.running, timeout=120_000)
        return [layer for layer in viewer.layers if layer.name.endswith("preview")]

    return preview


def test_preview_of_a_stack_is_shown_on_its_plane_alone(stacks, viewer, preview, run):
    (made,) = preview()
    assert made.data.shape == (1, 64, 96)
    guide = viewer.layers["guide"]
    np.testing.assert_allclose(made.data_to_world((0, 3, 4)), guide.data_to_world((1, 3, 4)))
    assert (made.units, made.axis_labels) == (guide.units, guide.axis_labels)
    assert made.metadata[METADATA_KEY]["preview"] == [1, 0, 0]
    there = guide.data_to_world((1, 3, 4))
    assert made.get_value(there, world=True) is not None
    viewer.dims.set_current_step(0, 0)
    assert made.get_value(guide.data_to_world((0, 3, 4)), world=True) is None
    run()
    np.testing.assert_allclose(made.data[0], viewer.layers[-1].data[1], rtol=1e-3)


def test_preview_of_a_target_series_over_one_guide(panel, viewer, scene, preview):
    """The guide has no such axis: the target says where the plane lies."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    series = np.stack([scene.coarse] * 3)
    viewer.add_image(series, name="low", scale=(2, 4, 4), translate=(1, 1.5, 1.5))
    viewer.dims.set_current_step(0, 2)
    (made,) = preview()
    assert made.data.shape == (1, 64, 96)
    np.testing.assert_allclose(made.data_to_world((0, 3, 4)), (5, 3, 4))


def test_planes_of_a_preview_belong_together_as_in_the_run(panel, viewer, scene, preview):
    """Axes of other steps: planes are paired by their index, and the guide's is the one shown."""
    viewer.add_image(np.stack([scene.guide[..., 0]] * 3), name="guide")
    series = np.stack([np.zeros_like(scene.coarse), scene.coarse, scene.coarse + 50])
    viewer.add_image(series, name="low", scale=(2, 4, 4), translate=(0, 1.5, 1.5))
    viewer.dims.set_point(0, 2)
    (made,) = preview()
    assert made.metadata[METADATA_KEY]["preview"] == [2, 0, 0]
    assert made.data.min() > 40


def test_plane_without_a_known_sample_is_told_and_the_old_preview_goes(
    stacks, panel, preview, notifications
):
    assert len(preview()) == 1
    stacks[1] = np.nan
    notifications.clear()
    assert not preview()
    text = "Plane (1,) of 'low' has no known sample in the middle of the view"
    assert text in panel.message.text()
    assert "another plane" in panel.message.text()
    assert len(notifications) == 1


def test_part_without_a_known_sample_is_told(panel, viewer, scene, preview):
    """The target is not small, or known elsewhere: what is looked at is told alone."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    low = np.full(scene.coarse.shape, np.nan)
    hidden = da.from_array(low, chunks=8)
    place = {"scale": (4, 4), "translate": (1.5, 1.5), "contrast_limits": (0, 1)}
    viewer.add_image(hidden, name="low", **place)
    assert not preview()
    assert "'low' has no known sample in the middle of the view" in panel.message.text()
    assert "another plane" not in panel.message.text()
