"""Which part a preview computes, and that it is the part of the run's result."""

from functools import partial
from types import SimpleNamespace

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from napari.layers import Image

from napari_cosparse.core.errors import InputError
from napari_cosparse.core.progress import drain
from napari_cosparse.core.reconstruction import Settings, place
from napari_cosparse.io import make_scene
from napari_cosparse.layers import METADATA_KEY
from napari_cosparse.widgets import _pace, _preview_job, _upsample
from napari_cosparse.widgets._job import pair_up, placed, upsampling
from napari_cosparse.widgets._pace import LEAST
from napari_cosparse.widgets._preview import AROUND, part_to_preview
from napari_cosparse.widgets._preview_axis import FEWEST, LONGEST, NOT_VISIBLE, room_of
from napari_cosparse.widgets._preview_job import previewing

SCENE = make_scene((240, 320))


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
    longest=st.integers(LEAST, LONGEST),
)
def test_samples_of_a_part_lie_on_its_pixels(factor, start, low, length, longest):
    """None lies beside them, where it would cost the solver its direct way."""
    guide, target = (3000, 3000), (int(3000 / factor) + 3,) * 2
    settings = Settings(factor=(factor,) * 2, origin=(start * factor,) * 2)
    corners = [[low] * 2, [low + length] * 2]
    part = part_to_preview(pair_of(guide, target), settings, corners, longest)
    rows, pixels, shown = part.target[0], part.guide[0], part.shown[0]
    assert 0 <= rows.start < rows.stop <= target[0]
    assert 0 <= pixels.start <= shown.start < shown.stop <= pixels.stop <= guide[0]
    size = pixels.stop - pixels.start, rows.stop - rows.start
    room = room_of(factor, longest)
    most = room + 2 * factor if factor * FEWEST <= room else max(room, factor)
    assert factor <= size[0] <= most + 4
    _, sampling = place((size[0],) * 2, (size[1],) * 2, part.settings)
    cut = pixels.start > 0 and pixels.stop < guide[0]
    assert sampling.inside.all() or not cut
    shift = settings.origin[0] + rows.start * factor - pixels.start
    assert part.settings.origin[0] == pytest.approx(shift, abs=1e-6)
    around = part.around[0]
    assert around.start <= rows.start
    assert around.start in (0, rows.start - AROUND)
    assert around.stop == rows.stop + AROUND


@given(
    factor=st.floats(1, 43),
    degrees=st.floats(-180, 180),
    low=st.floats(200, 500),
    length=st.floats(20, 300),
    longest=st.integers(LEAST, LONGEST),
)
def test_what_is_shown_has_a_halo_on_all_sides(factor, degrees, low, length, longest):
    """Four samples, 24 pixels at least, 44 or a quarter of all at most, where the image goes on."""
    angle, samples = np.deg2rad(degrees), int(2000 / factor)
    matrix = np.eye(3)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix[:2, :2] = turn / factor
    matrix[:2, 2] = samples / 2 - matrix[:2, :2] @ (450, 450)
    settings = Settings(transform=matrix)
    corners = [[low] * 2, [low + length] * 2]
    part = part_to_preview(pair_of((900, 900), (samples,) * 2), settings, corners, longest)
    for inner, outer, seen in zip(part.shown, part.guide, np.transpose(corners), strict=True):
        room = room_of(factor, longest)
        halo = min(max(24, 4 * factor), 44, room / 4)
        assert inner.start - outer.start >= halo - 1
        assert outer.stop - inner.stop >= halo - 1
        assert outer.stop - outer.start <= room + 2
        assert inner.start >= seen[0] - 1
        assert inner.stop <= seen[1] + 2
    assert part.corner == (part.shown[0].start, part.shown[1].start)


@given(
    factor=st.floats(1.5, 60),
    degrees=st.floats(-180, 180),
    samples=st.tuples(st.integers(4, 60), st.integers(4, 60)),
    middle=st.tuples(st.floats(0, 600), st.floats(0, 800)),
    low=st.tuples(st.floats(-100, 500), st.floats(-100, 700)),
    length=st.floats(20, 500),
    longest=st.integers(LEAST, LONGEST),
)
def test_part_of_a_turned_target_is_one_that_the_core_takes(
    factor, degrees, samples, middle, low, length, longest
):
    """Where its extent is in view it may be out of view itself; that is told in plain words."""
    angle, matrix = np.deg2rad(degrees), np.eye(3)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix[:2, :2] = factor * turn
    matrix[:2, 2] = np.subtract(middle, matrix[:2, :2] @ (np.subtract(samples, 1) / 2))
    settings = Settings(transform=np.linalg.inv(matrix))
    corners = np.stack([low, np.add(low, length)])
    try:
        part = part_to_preview(pair_of((600, 800), samples), settings, corners, longest)
    except InputError as error:
        assert str(error) == NOT_VISIBLE  # noqa: PT017 either is right
        return
    size = [[side.stop - side.start for side in window] for window in (part.guide, part.target)]
    place(tuple(size[0]), tuple(size[1]), part.settings)


@pytest.mark.parametrize("longest", [LEAST, LONGEST])
def test_view_whose_middle_is_beside_a_turned_target(longest):
    """Its corner is in view: that is previewed."""
    turn = np.array([[1, -1], [1, 1]]) / np.sqrt(2)
    matrix = np.eye(3)
    matrix[:2, :2] = turn / 8
    matrix[:2, 2] = 24.5 - matrix[:2, :2] @ (300, 400)
    settings, corners = Settings(transform=matrix), [[0, 100], [160, 400]]
    part = part_to_preview(pair_of((600, 800), (50, 50)), settings, corners, longest)
    rows, columns = (np.mean([side.start, side.stop - 1]) for side in part.shown)
    assert ((matrix @ (rows, columns, 1))[:2] > -0.5).all()
    assert part.shown[0].stop <= 162


def lay(degrees, noise, step=8):
    """A target that is turned about the middle of the scene, as a pair of layers, and its range."""
    angle, shape = np.deg2rad(degrees), SCENE.depth.shape
    matrix = np.eye(3)  # target pixel to guide pixel
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    samples = tuple(n // step for n in shape)
    matrix[:2, :2] = step * turn
    matrix[:2, 2] = (np.array(shape) - 1) / 2 - matrix[:2, :2] @ (np.array(samples) - 1) / 2
    coverage, phi = place(shape, samples, Settings(transform=np.linalg.inv(matrix)))
    low = np.where(phi.inside, phi.forward(SCENE.depth[coverage.window]), np.nan)
    span = np.ptp(np.nanquantile(low, (0.01, 0.99)))
    low += noise * span * np.random.default_rng(0).standard_normal(low.shape)
    target = Image(low.astype(np.float32), affine=matrix, contrast_limits=(0, 9), name="low")
    return pair_up(target, Image(SCENE.guide, rgb=True, name="guide"), positions=True), span


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("degrees", [0, 58])
def test_preview_is_what_the_run_gives_there(degrees, noise, monkeypatch):
    """Up to its rim, with the noise and range of the run, which few samples would not tell.

    Single pixels at edges differ all the same: there are two solutions that cost the same.
    """
    monkeypatch.setattr(_preview_job, "LONGEST", 160)
    monkeypatch.setattr(_preview_job, "SECONDS", np.inf)
    pair, span = lay(degrees, noise)
    settings = placed(pair, Settings())
    (whole,) = drain(upsampling(pair, "intensity-depth", settings)()).known
    choose = partial(part_to_preview, pair, settings, [[60, 100], [200, 260]])
    part = choose(160)
    (made,) = drain(previewing(pair, "intensity-depth", settings, choose, ((), ()))()).known
    assert made.image.shape == (97, 97)
    assert part.guide != (slice(0, 240), slice(0, 320))
    assert made.noise == pytest.approx(whole.noise, rel=0.01)
    difference = np.abs(made.image - whole.image[part.shown]) / span
    rim = np.concatenate(
        [difference[:4], difference[-4:], difference[:, :4].T, difference[:, -4:].T]
    )
    assert np.sqrt(np.mean(difference**2)) < 0.012
    assert np.quantile(rim, 0.98) < 0.05


@pytest.mark.parametrize("hidden", [False, True])
def test_slow_machine_shows_less_of_the_same(hidden, monkeypatch):
    """It begins again with fewer pixels; with the first ones where of those no sample is known."""
    pair, _ = lay(0, 0.0)
    if hidden:
        pair.target.data[12:18, 17:23] = np.nan
    settings, asked = placed(pair, Settings()), []

    def choose(longest):
        asked.append(longest)
        return part_to_preview(pair, settings, [[120, 160]] * 2 + np.array([[-80], [80]]), longest)

    monkeypatch.setattr(_preview_job, "LEAST", 20)
    monkeypatch.setattr(_pace, "LEAST", 20)
    monkeypatch.setattr(_preview_job, "SECONDS", 0.0)
    made = drain(previewing(pair, "intensity-depth", settings, choose, ((), ()))())
    assert asked == [LONGEST, 20, 20]
    part = choose(LONGEST if hidden else 20)
    assert made.corner == part.corner
    alone = drain(previewing(pair, "intensity-depth", settings, lambda _: part, ((), ()))())
    np.testing.assert_array_equal(made.known[0].image, alone.known[0].image)


def test_preview_that_cannot_be_smaller_is_not_begun_again(monkeypatch):
    pair, _ = lay(0, 0.0)
    settings, asked = placed(pair, Settings()), []

    def choose(longest):
        asked.append(longest)
        if longest < LONGEST:
            raise InputError(NOT_VISIBLE)  # as of a turned target, of which a corner is in view
        return part_to_preview(pair, settings, [[100, 140], [140, 180]], longest)

    monkeypatch.setattr(_preview_job, "SECONDS", 0.0)
    steps = list(previewing(pair, "intensity-depth", settings, choose, ((), ()))())
    assert asked == [LONGEST, LEAST]
    assert len({step.step for step in steps}) == len(steps) - 1  # but for the two before the first


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
    text = "Plane 1 of 'low' has no known sample in the middle of the view"
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


def test_preview_of_a_small_image_is_the_run_s_to_the_bit(
    panel, viewer, scene, preview, run, monkeypatch
):
    """Zoomed in on a small image all of it is computed, and what is visible is shown."""
    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.coarse, name="low", scale=(4, 4), translate=(1.5, 1.5))
    monkeypatch.setattr(_upsample, "visible_part", lambda *_: np.array([[10, 20], [40, 70]]))
    (made,) = preview()
    np.testing.assert_allclose(made.data_to_world((0, 0)), (10, 20))
    run()
    np.testing.assert_array_equal(made.data, viewer.layers[-1].data[10:41, 20:71])


def test_next_preview_is_shown_in_the_layer_of_the_one_before(
    panel, viewer, scene, preview, monkeypatch
):
    """Removing a layer and adding one takes napari a third of a second; a new name asks for it."""

    def look_at(first):
        monkeypatch.setattr(_upsample, "visible_part", lambda *_: np.array([first, (50, 80)]))
        return preview()

    viewer.add_image(scene.guide, name="guide", rgb=True)
    viewer.add_image(scene.coarse, name="low", scale=(4, 4), translate=(1.5, 1.5))
    (first,) = look_at((10, 20))
    image = first.data
    first.visible = False
    viewer.layers["low"].colormap = "viridis"
    viewer.add_image(scene.guide, name="above", rgb=True)
    (second,) = look_at((30, 40))
    assert second is first
    assert viewer.layers.index(second) == len(viewer.layers) - 1
    assert second.visible
    assert second.colormap.name == "viridis"
    np.testing.assert_allclose(second.data_to_world((0, 0)), (30, 40))
    np.testing.assert_array_equal(second.data, image[20:, 20:])
    assert second.metadata[METADATA_KEY]["preview"] == [30, 40]
    second.name = "mine"
    (third,) = look_at((30, 40))
    assert third is not second
    assert "mine" not in viewer.layers
