"""What the panels tell before a run: a reason for what would fail, a word on what would be idle."""

from types import SimpleNamespace

import dask.array as da
import numpy as np
import pytest

from napari_cosparse.core.operators import learn_operators
from napari_cosparse.core.reconstruction import Settings, place, upsample
from napari_cosparse.io import load_operators
from napari_cosparse.widgets._before import on_guide

CENTRE = {"scale": (4, 4), "translate": (1.5, 1.5)}


@pytest.fixture
def show(panel, viewer, scene):
    """Add a target, and the scene's guide unless another one is given, and choose them."""

    def show(target, guide=None, **place):
        rgb = guide is None
        viewer.add_image(scene.guide if rgb else guide, name="guide", rgb=rgb)
        viewer.add_image(target, name="low", **{**CENTRE, **place})
        for name in ("guide", "target"):
            row = panel.form.row(name)
            wanted = {"guide": "guide", "target": "low"}[name]
            row.value = next(layer for layer in row.choices if layer.name == wanted)

    return show


def refused(panel, word):
    """Whether Run and Preview are disabled, with a reason."""
    assert word in panel.about.text()
    assert word in panel.button.toolTip()
    assert not panel.button.isEnabled()
    assert not panel.preview_button.isEnabled()
    return True


def unreadable(shape, dtype=np.float32):
    """Array that fails when it is read."""

    def fail(block):
        raise AssertionError("it was read")

    meta = np.empty((0,) * len(shape), dtype)
    return da.zeros(shape, dtype=dtype, chunks=64).map_blocks(fail, meta=meta)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_target_without_a_known_sample(panel, show, scene, value):
    show(np.full(scene.coarse.shape, value), contrast_limits=(0, 1))
    assert refused(panel, "'low' has no known sample")


def test_target_of_which_all_is_the_unknown_value(panel, show, scene):
    show(np.full(scene.coarse.shape, 7, np.uint16))
    assert panel.button.isEnabled()
    panel.form.invalid.value = "7"
    assert refused(panel, "Unknown value")


def test_plane_of_a_stack_that_is_unknown_is_named(panel, show, scene):
    stack = np.stack([scene.coarse] * 3)
    stack[2] = np.nan
    show(stack, scale=(1, 4, 4), translate=(0, 1.5, 1.5))
    assert "Plane 2 has no known sample on the guide and stays unknown." in panel.about.text()
    assert panel.button.isEnabled()
    stack[:] = np.nan
    panel.refresh()
    assert refused(panel, "'low' has no known sample")


@pytest.mark.parametrize("place", [{}, {"rotate": 3}])
def test_target_that_is_known_beside_the_guide_only(panel, show, scene, place):
    wide = np.pad(scene.coarse, ((0, 0), (0, 12)), constant_values=np.nan)
    wide[:, :-6] = np.nan
    wide[:, -6:] = 3
    show(wide, contrast_limits=(0, 4), **place)
    assert refused(panel, "'low' has no known sample on the guide")
    wide[5, 5] = 3
    panel.refresh()
    assert panel.button.isEnabled()


@pytest.mark.parametrize("slant", [0, 0.05])
def test_plane_that_is_known_beside_the_guide_only_is_named(panel, show, scene, run, slant):
    """Before the run, and after it the same."""
    wide = np.pad(scene.coarse, ((0, 0), (0, 12)), mode="edge")
    stack = np.stack([wide] * 2)
    stack[1, :, :-6] = np.nan
    affine = np.eye(4)
    affine[1:3, 1:3] += [[0, -slant], [slant, 0]]
    show(stack, scale=(1, 4, 4), translate=(0, 1.5, 1.5), affine=affine)
    told = "Plane 1 has no known sample on the guide and stays unknown."
    assert told in panel.about.text()
    run()
    assert told in panel.message.text()


@pytest.mark.parametrize("origin", [(1.5, 1.5), (-9.9, -6.0), (30.2, 70.5), (-2.0, -1.99)])
@pytest.mark.parametrize("degrees", [0, 20])
def test_samples_that_are_refused_before_lie_beside_the_guide_for_the_core(origin, degrees):
    """Of straight targets all of them are, of turned ones no other."""
    guide, target, angle = (64, 96), (16, 24), np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    back = np.eye(3)
    back[:2, :2], back[:2, 2] = 4 * turn, origin
    settings = Settings(factor=(4, 4), origin=origin)
    if degrees:
        settings = Settings(transform=np.linalg.inv(back))
    pair = SimpleNamespace(
        guide_grid=SimpleNamespace(shape=guide), target_grid=SimpleNamespace(shape=target)
    )
    told, inside = on_guide(pair, settings), place(guide, target, settings)[1].inside
    assert told[inside].all()
    assert degrees or not told[~inside].any()
    assert not told.all() or inside.all()


def test_planes_of_a_long_stack_that_are_unknown_are_counted(panel, show, scene):
    stack = np.full((9, *scene.coarse.shape), 7, np.uint16)
    stack[4] += (scene.coarse > scene.coarse.mean()).astype(np.uint16)
    show(stack, scale=(1, 4, 4), translate=(0, 1.5, 1.5))
    assert "known sample" not in panel.about.text()
    panel.form.invalid.value = "7"
    named = "Planes 0, 1, 2, 3, 5 and 3 more have no known sample on the guide"
    assert f"{named} and stay unknown." in panel.about.text()
    assert panel.button.isEnabled()


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")  # napari draws
def test_numbers_beyond_float32(panel, show, scene):
    show(scene.coarse.astype(np.float64) * 1e300, contrast_limits=(0, 1))
    assert refused(panel, "change its unit")


@pytest.mark.parametrize("copied", [False, True])
def test_two_layers_of_the_same_pixels(panel, show, scene, copied):
    image = scene.depth
    show(image.copy() if copied else image, image, scale=(1, 1), translate=(0, 0))
    assert refused(panel, "show the same pixels")


def test_factors_that_do_not_fit_are_refused_in_the_words_of_the_core(panel, show, scene):
    show(scene.coarse)
    panel.form.factor.value = "500"
    assert refused(panel, "more than the whole guide")
    panel.form.factor.value, panel.form.positions.value = "2", False
    assert refused(panel, "Give the factor")


@pytest.mark.parametrize("place", [{"rotate": 3}, {}])
def test_whole_numbers_cannot_leave_pixels_unknown(panel, show, scene, place):
    show((scene.coarse[:8] * 100).astype(np.uint16), **place)
    assert panel.button.isEnabled()
    panel.form.dtype.value = "input"
    assert refused(panel, "does not cover the whole guide")


def test_turned_target_wider_than_the_guide(panel, show, scene):
    show(scene.coarse, scale=(300, 300), rotate=10)
    assert refused(panel, "more than the whole guide")


def test_target_as_fine_as_the_guide_may_be_run_and_is_told(panel, show, scene):
    holes = scene.depth.copy()
    holes[20:24, 20:24] = np.nan
    show(holes, scale=(1, 1), translate=(0, 0))
    assert "nothing becomes sharper" in panel.about.text()
    assert panel.button.isEnabled()
    panel.form.origin.value = "0.5, 0.5"
    assert panel.button.isEnabled()


def test_guide_that_is_constant_is_told(panel, show, scene):
    show(scene.coarse, np.ones(scene.depth.shape), contrast_limits=(0, 1))
    assert "has no say" in panel.about.text()
    assert panel.button.isEnabled()
    panel.form.guided.value = False
    assert "has no say" not in panel.about.text()


def test_lazy_layers_are_not_read(panel, viewer):
    hidden = {"contrast_limits": (0, 1), "visible": False}
    viewer.add_image(unreadable((4, 512, 512)), name="guide", **hidden)
    place = {"scale": (1, 4, 4), "translate": (0, 1.5, 1.5)}
    viewer.add_image(unreadable((4, 128, 128)), name="low", **hidden, **place)
    assert panel.button.isEnabled(), panel.about.text()


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 3), (3, 3)])
@pytest.mark.parametrize("times", [1, 2, 4])
def test_small_images_run_or_are_refused_before(panel, viewer, show, run, shape, times):
    """K03: patches and halos larger than the image; nothing fails after Run was pressed."""
    rng = np.random.default_rng(0)
    fine = tuple(times * n for n in shape)
    centre = (times - 1) / 2
    place = {"scale": (times, times), "translate": (centre, centre), "contrast_limits": (0, 1)}
    show(rng.random(shape).astype(np.float32), rng.random(fine).astype(np.float32), **place)
    if panel.button.isEnabled():
        run()
        assert panel.message.text().startswith("Done")
        assert viewer.layers[-1].data.shape == fine
    else:
        with pytest.raises(ValueError, match=r"."):
            upsample(
                viewer.layers[1].data, viewer.layers[0].data, load_operators("intensity-depth")
            )


@pytest.fixture
def learn(learn_panel, viewer):
    """Choose two arrays to learn from."""

    def learn(u, v):
        viewer.add_image(u, name="u", rgb=False, contrast_limits=(0, 1), visible=False)
        viewer.add_image(v, name="v", rgb=False, contrast_limits=(0, 1), visible=False)
        learn_panel.form.pairs.value = [tuple(viewer.layers)]
        return learn_panel

    return learn


@pytest.mark.parametrize(
    ("u", "v", "word"),
    [
        (np.eye(4), np.eye(4), "choose a smaller patch side"),
        (np.zeros((20, 20)), np.eye(20), "'u' is constant"),
        (np.eye(20), np.full((20, 20), np.nan), "'v' holds unknown values only"),
    ],
)
def test_images_without_a_patch(learn, u, v, word):
    panel = learn(u, v)
    assert word in panel.about.text()
    assert not panel.button.isEnabled()
    with pytest.raises(ValueError, match=r"patch"):
        learn_operators([(u, v)])


def test_unknown_values_count_as_such(learn):
    panel = learn(np.eye(20), np.where(np.eye(20) > 0, 5.0, -1.0))
    assert panel.button.isEnabled()
    panel.form.invalid_v.value = "-1"
    assert "'v' is constant" in panel.about.text()


def test_row_of_which_one_half_is_chosen_is_no_pair(learn, viewer):
    panel = learn(np.eye(20), np.eye(20)[::-1])
    layers = tuple(viewer.layers)
    panel.form.pairs.value = [layers, (layers[0], None)]
    assert "Pair 2 has no V yet" in panel.about.text()
    assert not panel.button.isEnabled()
    panel.form.pairs.value = [layers, (None, None)]
    assert panel.button.isEnabled(), panel.about.text()


def test_large_layers_are_learned_from_in_parts(learn, press, scene):
    """Of 4096 x 4096 pixels those that are looked at are read, and none before the run."""
    read = []

    def note(block):
        read.append(block.size)
        return block

    panel = learn(*(wave.map_blocks(note, meta=np.empty((0, 0), np.float32)) for wave in _large()))
    assert not read
    panel.form.side.value, panel.form.samples.value, panel.form.iterations.value = 3, 500, 3
    press(panel)
    assert panel.message.text().startswith("Done")
    assert 0 < sum(read) < 4096 * 4096


def _large():
    shape, options = (4096, 4096), {"chunks": 256, "dtype": np.float32}
    first = da.fromfunction(lambda r, c: np.sin(r / 3) + np.cos(c / 5), shape=shape, **options)
    second = da.fromfunction(lambda r, c: np.sin(r / 3) + np.cos(c / 2), shape=shape, **options)
    return first, second
