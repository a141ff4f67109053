"""Pyramids of 8192 x 8192 pixels with the real core: only what is asked for is read."""

import tracemalloc

import dask.array as da
import numpy as np
import pytest

from napari_cosparse.core.reconstruction import degrade
from napari_cosparse.io import make_scene
from napari_cosparse.layers import METADATA_KEY

SIDE, STEPS, CHUNK = 512, (16, 8, 4, 2, 1), 1024
FINEST = SIDE * STEPS[0]


class Pyramid:
    """Lazy levels of an image whose finest one has 8192 x 8192 pixels; notes what is computed."""

    def __init__(self, base):
        self.base, self.read = base, []
        self.levels = [self._level(number, step) for number, step in enumerate(STEPS)]

    def _level(self, number, step):
        def block(block_info):
            rows, columns = block_info[None]["array-location"][:2]
            self.read.append(number)
            return self.base[np.arange(*rows) // step][:, np.arange(*columns) // step]

        size = SIDE * step
        tail = self.base.shape[2:]
        chunks = ((min(CHUNK, size),) * -(-size // CHUNK),) * 2 + tuple((n,) for n in tail)
        return da.map_blocks(block, chunks=chunks, dtype=self.base.dtype, meta=self.base[:0])

    def count(self, level):
        return self.read.count(level)


@pytest.fixture(scope="module")
def whole():
    return make_scene((SIDE, SIDE))


@pytest.fixture
def guide(viewer, whole):
    """A colour slide of 0.25 um pixels."""
    made = Pyramid(whole.guide)
    viewer.add_image(made.levels, name="slide", rgb=True, scale=(0.25, 0.25), units="um")
    return made


@pytest.fixture
def target(viewer, whole, guide):
    """A map of 16 um pixels on it."""
    low = degrade(whole.depth, 4)
    place = (0.25 * (64 - 1) / 2,) * 2
    viewer.add_image(low, name="map", scale=(16, 16), translate=place, units="um")
    return low


def choose(panel, viewer):
    named = {layer.name: getattr(layer, "__wrapped__", layer) for layer in viewer.layers}
    panel.form.target.value, panel.form.guide.value = named["map"], named["slide"]


def test_preview_reads_the_visible_part_of_the_finest_level(
    panel, viewer, guide, target, qtbot, whole
):
    choose(panel, viewer)
    assert "8192 x 8192 pixels: factor 64 x 64" in panel.about.text()
    guide.read.clear()
    panel.preview_button.click()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=60_000)
    assert 1 <= guide.count(0) <= 4
    preview = viewer.layers[-1]
    assert max(preview.data.shape) <= 226
    first = np.array(viewer.layers["slide"].world_to_data(preview.data_to_world((0, 0))))
    np.testing.assert_allclose(first, np.rint(first), atol=1e-6)
    middle = first + (np.array(preview.data.shape) - 1) / 2
    assert np.abs(middle - FINEST / 2).max() < 32  # of the view
    assert preview.metadata[METADATA_KEY]["inputs"]["guide"]["level"] == 0


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("place", [(300, 1700), (1150, 400)])
def test_preview_lies_in_the_middle_of_what_is_seen(
    panel, viewer, guide, target, qtbot, place, level
):
    """However large the chunks are, and in whatever unit the viewer counts."""
    viewer.layers["map"].units = "nm"
    viewer.layers["map"].scale = (16e3, 16e3)
    viewer.layers["map"].translate = (0.25e3 * (64 - 1) / 2,) * 2
    choose(panel, viewer)
    panel.form.guide_level.value = level
    viewer.scene.camera.center = (0, *(1e3 * np.array(place)))  # nm
    viewer.scene.camera.zoom = 20 / 250  # pixels of the screen for one of the guide
    qtbot.wait(300)
    panel.preview_button.click()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=60_000)
    assert panel.message.text().startswith("Preview of the middle of the view.")
    preview, slide = viewer.layers[-1], viewer.layers["slide"]
    middle = (np.array(preview.data.shape) - 1) / 2
    there = slide.world_to_data(preview.data_to_world(middle))
    assert np.abs(np.array(there) - np.array(place) * 4).max() < 34  # half a sample, and rounding


def test_level_of_the_guide_gives_the_grid_and_the_finest_is_never_read(
    panel, viewer, guide, target, press, whole
):
    """K12."""
    choose(panel, viewer)
    guide.read.clear()
    panel.form.guide_level.value = 4
    assert "512 x 512 pixels: factor 4 x 4" in panel.about.text()
    press(panel)
    assert guide.count(0) == guide.count(1) == 0
    result = viewer.layers[-1]
    assert result.data.shape == (SIDE, SIDE)
    slide = viewer.layers["slide"]
    for pixel in ((0, 0), (100, 511)):
        there = 16 * np.array(pixel) + 7.5
        np.testing.assert_allclose(result.data_to_world(pixel), slide.data_to_world(there))
    assert np.median(np.abs(result.data - whole.depth)) < 0.01 * np.ptp(whole.depth)
    assert result.metadata[METADATA_KEY]["inputs"]["guide"]["level"] == 4


def test_pyramids_are_registered_on_a_coarse_level_and_the_finest_moves(
    register_panel, viewer, guide, whole, press
):
    """K10, K12, G02: what is added is shown from its coarsest level."""
    depth = Pyramid(whole.depth)
    lost = {"scale": (250, 250), "units": "nm", "rotate": 4, "translate": (60e3, -40e3)}
    limits = float(whole.depth.min()), float(whole.depth.max())
    viewer.add_image(depth.levels, name="depth", contrast_limits=limits, **lost)
    register_panel.choose(viewer.layers["slide"], viewer.layers["depth"])
    assert register_panel.form.levels == (0, 0)
    form = register_panel.form
    form.fixed_level.value = form.moving_level.value = 4
    form.insist.value, form.verdict.value = True, False
    guide.read.clear()
    depth.read.clear()
    press(register_panel)
    assert guide.count(0) == guide.count(1) == depth.count(0) == depth.count(1) == 0
    new = viewer.layers["depth [registered]"]
    assert [level.shape for level in new.data] == [level.shape for level in depth.levels]
    slide = viewer.layers["slide"]
    for pixel in ((0, 0), (0, FINEST - 1), (FINEST - 1, 0), (FINEST - 1, FINEST - 1)):
        off = np.subtract(new.data_to_world(pixel), slide.data_to_world(pixel))
        assert np.abs(off).max() < 2 * 16 * 0.25  # two pixels of the level that was read
    record = new.metadata[METADATA_KEY]
    assert record["inputs"]["fixed"]["level"] == record["inputs"]["moving"]["level"] == 4


def test_finest_level_is_registered_and_read_in_windows(
    register_panel, viewer, guide, whole, press
):
    """K06, K10: strips come from a coarser level; what belongs to the layer moves along."""
    depth = Pyramid(whole.depth)
    lost = {"scale": (250, 250), "units": "nm", "rotate": 2, "translate": (60e3, -40e3)}
    limits = float(whole.depth.min()), float(whole.depth.max())
    viewer.add_image(depth.levels, name="depth", contrast_limits=limits, **lost)
    viewer.add_points([[0, 0], [FINEST - 1, 17]], name="spots", **lost)
    register_panel.choose(viewer.layers["slide"], viewer.layers["depth"])
    register_panel.form.verdict.value = False
    guide.read.clear()
    depth.read.clear()
    tracemalloc.start()
    press(register_panel)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < FINEST**2 * 8 * 0.8  # not one plane of numbers at full resolution
    for made in (guide, depth):
        assert made.count(2) > 0
        assert 10 < made.count(0) < 500  # windows
        assert made.count(3) == made.count(4) == 0
    if not register_panel.tools.found.layers:
        register_panel.tools.buttons["Move anyway"].click()
    assert "windows at full resolution" in viewer.layers[-1].metadata[METADATA_KEY]["because"]
    viewer.layers.selection = {viewer.layers["spots"]}
    register_panel.tools.buttons["Apply to selected"].click()
    slide = viewer.layers["slide"]
    for name in ("depth [registered]", "spots [registered]"):
        for pixel in ((0, 0), (0, FINEST - 1), (FINEST - 1, 0), (FINEST - 1, FINEST - 1)):
            off = np.subtract(viewer.layers[name].data_to_world(pixel), slide.data_to_world(pixel))
            assert np.abs(off).max() < 8 * 0.25  # pixels of the finest level


def test_resampling_onto_a_pyramid_computes_what_is_looked_at(
    register_panel, viewer, guide, whole, press
):
    """K10."""
    depth = Pyramid(whole.depth)
    viewer.add_image(
        depth.levels, name="depth", contrast_limits=(0, 9), scale=(0.25,) * 2, units="um"
    )
    register_panel.choose(viewer.layers["slide"], viewer.layers["depth"])
    form = register_panel.form
    form.fixed_level.value = form.moving_level.value = 4
    form.insist.value, form.verdict.value, form.resample.value = True, False, True
    form.start.value = "place"
    depth.read.clear()
    press(register_panel)
    made = viewer.layers["depth [resampled]"]
    assert made.multiscale
    assert tuple(made.data[0].shape) == (FINEST, FINEST)
    assert depth.count(0) <= 4  # of 64 chunks
