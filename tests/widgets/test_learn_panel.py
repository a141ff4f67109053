"""The learning panel in a real viewer: layers in, atoms out, at once usable in other panels."""

from inspect import signature
from itertools import pairwise

import dask.array as da
import numpy as np
import pytest
import zarr
from qtpy.QtCore import Qt

from napari_cosparse.core.operators import bank, learn_operators
from napari_cosparse.io import load_operators
from napari_cosparse.layers import METADATA_KEY, pairs_in
from napari_cosparse.widgets._learn_job import skipped_text

FEW = {"side": 3, "samples": 800, "iterations": 12}


@pytest.fixture
def filled(learn_panel, viewer, scene):
    """The panel on one pair, with a short run."""
    viewer.add_image(scene.guide, name="photo", rgb=True)
    viewer.add_image(scene.depth, name="depth")
    learn_panel.form.pairs.value = [tuple(viewer.layers)]
    for name, value in FEW.items():
        getattr(learn_panel.form, name).value = value
    return learn_panel


def pair_of_viewer(viewer, name="learned"):
    return pairs_in(viewer.layers)[name].groups[0]


def test_panel_offers_the_knobs_of_the_core_and_explains_each(learn_panel):
    offered = {row.name for row in learn_panel.form.rows}
    wanted = set(signature(learn_operators).parameters) - {"report", "invalid"}
    assert offered == wanted | {"invalid_u", "invalid_v", "bank", "pair_name", "level"}
    assert all(row.tooltip for row in learn_panel.form.rows)


def test_untouched_settings_are_the_defaults_of_the_core(learn_panel):
    defaults = {k: p.default for k, p in signature(learn_operators).parameters.items()}
    assert learn_panel.form.keywords() == {
        name: defaults[name] for name in defaults if name not in ("pairs", "report")
    }


def test_without_layers_it_says_what_it_needs(learn_panel):
    assert "Choose a pair of image layers" in learn_panel.about.text()
    assert not learn_panel.button.isEnabled()
    assert not learn_panel.save_button.isEnabled()


def test_layers_that_lie_on_one_another_are_suggested_until_somebody_chooses(
    learn_panel, viewer, scene
):
    viewer.add_image(scene.coarse, name="coarse", scale=(4, 4), translate=(1.5, 1.5))
    viewer.add_image(scene.guide, name="photo", rgb=True)
    assert "Choose a pair of image layers" in learn_panel.about.text()
    depth = viewer.add_image(scene.depth, name="depth")
    assert learn_panel.about.text() == "1 image pair: photo with depth."
    assert learn_panel.button.isEnabled()
    u, v = learn_panel.form.pairs.first
    u.value, v.value = depth, u.value
    viewer.add_image(scene.depth, name="another")
    assert learn_panel.about.text() == "1 image pair: depth with photo."


def test_learned_pair_is_what_python_gives_and_is_shown_and_saved(
    filled, viewer, scene, press, tmp_path
):
    wide = viewer.add_image(np.zeros((4, 300)), name="wide")
    press(filled)
    expected = learn_operators([(scene.guide, scene.depth)], **FEW)
    group = pair_of_viewer(viewer)
    np.testing.assert_array_equal(group.coefficients_u, expected.pair.groups[0].coefficients_u)
    left, right = viewer.layers[-2:]
    assert (left.name, right.name) == ("learned U (guide, fixed)", "learned V (target, moving)")
    assert left.extent.world[0, 1] > wide.extent.world[1, 1]  # it covers none
    record = left.metadata[METADATA_KEY]
    assert record["inputs"]["u0"]["name"] == "photo"
    assert record["parameters"]["seed"] == 0
    rates = expected.diagnostics.summary()
    times = rates["matched"] / rates["shuffled"]
    assert f"{times:.2f} times as often as in shuffled pairs" in filled.diagnostics.text()
    assert len(filled.coupling.lines["matched"]) == 18
    assert filled.plot.lines[""] == pytest.approx(expected.history)
    filled.save(str(tmp_path / "mine"))
    saved = load_operators(tmp_path / "mine.npz").groups[0]
    np.testing.assert_array_equal(saved.coefficients_v, group.coefficients_v)


def test_pair_is_offered_by_the_upsampling_panel_at_once(filled, panel, viewer, scene, press):
    filled.form.bank.value = True
    filled.form.pair_name.value = "mine"
    press(filled)
    press(filled)
    offered = panel.form.pair.choice.choices
    here = [name for name in offered if name.startswith("in this viewer")]
    assert here == ["in this viewer: mine", "in this viewer: mine 2"]
    panel.form.pair.choice.value = here[0]
    expected = bank(learn_operators([(scene.guide, scene.depth)], **FEW).pair)
    chosen = panel.form.pair.source()
    assert [len(g.coefficients_u) for g in chosen.groups] == [
        len(g.coefficients_u) for g in expected.groups
    ]
    for layer in list(viewer.layers[-2:]):
        viewer.layers.remove(layer)
    assert here[0] in panel.form.pair.choice.choices
    assert here[1] not in panel.form.pair.choice.choices


def test_stacks_and_several_pairs_are_learned_from_together(learn_panel, viewer, scene, press):
    half = scene.depth.shape[1] // 2
    u = np.stack([scene.guide[..., 1][:, :half], scene.guide[..., 1][:, half:]])
    v = np.stack([scene.depth[:, :half], scene.depth[:, half:]])
    viewer.add_image(da.from_array(u, 20), name="u", contrast_limits=(0, 255))
    viewer.add_image(v, name="v")
    viewer.add_image(scene.guide, rgb=True, name="photo")
    viewer.add_image(scene.depth, name="depth")
    layers = list(viewer.layers)
    learn_panel.form.pairs.add_button.click()
    learn_panel.form.pairs.value = [tuple(layers[:2]), tuple(layers[2:])]
    assert learn_panel.about.text().startswith("3 image pairs: u with v, photo with depth")
    for name, value in FEW.items():
        getattr(learn_panel.form, name).value = value
    press(learn_panel)
    pairs = [(u[0], v[0]), (u[1], v[1]), (scene.guide, scene.depth)]
    expected = learn_operators(pairs, **FEW).pair.groups[0]
    np.testing.assert_array_equal(pair_of_viewer(viewer).coefficients_v, expected.coefficients_v)


def test_pairs_that_do_not_lie_on_one_another_are_refused(filled, viewer, scene):
    viewer.layers["depth"].translate = (0, 3)
    assert "do not lie on one another" in filled.about.text()
    assert not filled.button.isEnabled()
    viewer.layers["depth"].translate = (0, 0)
    assert filled.button.isEnabled()
    viewer.add_image(scene.coarse, name="low")
    photo, _, low = viewer.layers
    filled.form.pairs.value = [(photo, low)]
    assert "register them first" in filled.about.text()


@pytest.mark.parametrize(
    ("row", "text"), [("atoms", "2.5"), ("nu", "-1"), ("kappa", "x"), ("mu", "1, 2, 3")]
)
def test_wrong_setting_disables_run_with_its_reason(filled, row, text):
    getattr(filled.form, row).value = text
    assert row in filled.about.text()
    assert not filled.button.isEnabled()


def test_cancel_leaves_nothing(filled, viewer, qtbot):
    filled.form.samples.value = 200_000
    filled.form.iterations.value = 100_000
    filled.button.click()
    qtbot.waitUntil(lambda: len(filled.plot.lines.get("", ())) > 2, timeout=30_000)
    filled.button.click()
    qtbot.waitUntil(lambda: not filled.runner.running, timeout=30_000)
    assert filled.message.text() == "Cancelled."
    assert len(viewer.layers) == 2


def test_cancel_of_a_second_run_leaves_the_first_pair_to_be_saved(
    filled, viewer, press, qtbot, tmp_path
):
    press(filled)
    first = pair_of_viewer(viewer)
    filled.form.iterations.value = 100_000
    filled.form.seed.value = 1
    filled.button.click()
    assert not filled.save_button.isEnabled()
    qtbot.waitUntil(lambda: len(filled.plot.lines.get("", ())) > 2, timeout=30_000)
    filled.button.click()
    filled.button.click()  # once more: it is no new run
    assert filled.message.text().startswith("Cancelling, waiting for the end of: learning")
    qtbot.waitUntil(lambda: not filled.runner.running, timeout=30_000)
    assert filled.message.text() == "Cancelled. What can be saved is the pair of the run before."
    assert len(viewer.layers) == 4
    assert filled.save_button.isEnabled()
    filled.save(str(tmp_path / "mine.npz"))
    saved = load_operators(tmp_path / "mine.npz").groups[0]
    np.testing.assert_array_equal(saved.coefficients_u, first.coefficients_u)


def test_planes_that_were_left_out_are_named(learn_panel, viewer, scene, press):
    u = np.stack([scene.guide[..., 1]] * 3)
    v = np.stack([scene.depth, np.zeros_like(scene.depth), np.full_like(scene.depth, np.nan)])
    viewer.add_image(u, name="u")
    viewer.add_image(v, name="v", contrast_limits=(0, 9))
    viewer.add_image(np.zeros((20, 30)), name="dark")
    viewer.add_image(np.zeros((20, 30)), name="void")
    learn_panel.form.pairs.value = [tuple(viewer.layers[:2]), tuple(viewer.layers[2:])]
    for name, value in FEW.items():
        getattr(learn_panel.form, name).value = value
    press(learn_panel)
    assert learn_panel.message.text().endswith(
        "Left out, because all patches are constant, unknown or flatter than the thresholds: "
        "planes 1, 2 of 'u' with 'v'; 'dark' with 'void'."
    )
    assert viewer.layers[-1].metadata[METADATA_KEY]["parameters"]["skipped"] == [2, 3, 4]


def test_of_many_planes_that_were_left_out_the_first_are_named():
    names = [("'u' with 'v'", f"({t}, {z})") for t in range(2) for z in range(5)]
    assert skipped_text((), names) == ""
    assert skipped_text((7,), names).endswith(": plane (1, 1) of 'u' with 'v'.")
    told = skipped_text(range(2, 10), names)
    assert "planes (0, 1), (0, 2), (0, 3), (0, 4), (1, 0) and 3 more of 'u' with 'v'" in told


def test_tabulator_goes_through_all_rows_of_pairs_and_on(make_napari_viewer, qtbot, qtlog):
    """Real keys in a window: U, V, remove of each row, then *Add a pair*, then what follows."""
    viewer = make_napari_viewer(show=True)
    panel = viewer.window.add_plugin_dock_widget("napari-cosparse", "Learn operators")[1]
    form = panel.form
    qtbot.waitUntil(form.side.native.isVisible, timeout=10_000)
    after = [form.side.native, form.atoms.native, form.samples.native]

    def press_through(rows):
        assert len(form.pairs.stops) == 3 * rows + 1
        stops = [*form.pairs.stops, *after]
        qtbot.waitUntil(lambda: all(part.isVisible() for part in stops), timeout=10_000)
        stops[0].setFocus()
        for here, then in pairwise(stops):
            assert panel.window().focusWidget() is here
            qtbot.keyClick(here, Qt.Key.Key_Tab)
            assert panel.window().focusWidget() is then
        qtbot.keyClick(after[-1], Qt.Key.Key_Backtab)
        assert panel.window().focusWidget() is after[-2]

    press_through(1)
    form.pairs.add_button.click()
    form.pairs.add_button.click()
    press_through(3)
    form.pairs.stops[2].click()  # remove the first row
    press_through(2)
    form.pairs.add_button.click()
    press_through(3)
    assert not [record for record in qtlog.records if "setTabOrder" in record.message]


def test_script_learns_the_same_pair(filled, viewer, press):
    press(filled)
    first = pair_of_viewer(viewer)
    exec(filled.python(), {})  # noqa: S102
    again = pair_of_viewer(viewer)
    assert again is not first
    np.testing.assert_array_equal(again.coefficients_u, first.coefficients_u)
    ends = [layer.extent.world[:, 1] for layer in viewer.layers[2:]]  # the atoms, twice
    assert len(ends) == 4
    assert all(left[1] < right[0] for left, right in pairwise(ends))
    assert ends[0][0] > max(layer.extent.world[1, 1] for layer in viewer.layers[:2])


def test_layers_that_replace_all_others_are_suggested(filled, viewer, press, scene):
    press(filled)
    viewer.layers.clear()
    assert filled.form.pairs.value == [(None, None)]
    viewer.add_image(scene.guide, name="new photo", rgb=True)
    viewer.add_image(scene.depth, name="new depth")
    assert [layer.name for layer in filled.form.pairs.value[0]] == ["new photo", "new depth"]


def test_settings_to_and_from_a_file(filled, viewer, tmp_path):
    filled.form.pairs.add()
    filled.form.kappa.value = "1, 2"
    told = filled.form.state()
    assert told["pairs"] == [["photo", "depth"], [None, None]]
    filled.save_settings(tmp_path / "s.json")
    filled.form.pairs.value = [(None, None)]
    filled.form.kappa.value = ""
    filled.load_settings(tmp_path / "s.json")
    assert filled.form.state() == told


def test_level_of_pyramids_and_a_stack_from_a_store(learn_panel, viewer, scene, press, tmp_path):
    """Only layers with levels have a choice; a Zarr stack is read plane by plane."""
    stack = zarr.create_array(
        tmp_path / "u.zarr", shape=(2, 32, 48), chunks=(1, 16, 16), dtype="f4"
    )
    stack[:] = np.stack([scene.guide[::2, ::2, 1], scene.guide[1::2, ::2, 1]])
    depths = np.stack([scene.depth, scene.depth])
    place = {"scale": (1, 2, 2), "translate": (0, 0.5, 0.5)}
    viewer.add_image(stack, name="u", contrast_limits=(0, 255), **place)
    assert not learn_panel.form.level.native.isVisibleTo(learn_panel)
    viewer.add_image([depths, depths[:, ::2, ::2]], name="v", contrast_limits=(0, 9))
    learn_panel.form.pairs.value = [tuple(viewer.layers)]
    assert learn_panel.form.level.native.isVisibleTo(learn_panel)
    assert "do not lie on one another" in learn_panel.about.text()
    learn_panel.form.level.value = 1
    assert learn_panel.about.text().startswith("2 image pairs")
    for name, value in FEW.items():
        getattr(learn_panel.form, name).value = value
    press(learn_panel)
    pairs = [(stack[plane], scene.depth[::2, ::2]) for plane in (0, 1)]
    expected = learn_operators(pairs, **FEW).pair.groups[0]
    np.testing.assert_array_equal(pair_of_viewer(viewer).coefficients_u, expected.coefficients_u)
    record = viewer.layers[-1].metadata[METADATA_KEY]["inputs"]
    assert (record["u0"]["level"], record["v0"]["level"]) == (0, 1)
    exec(learn_panel.python(), {})  # noqa: S102
    again = pair_of_viewer(viewer)
    np.testing.assert_array_equal(again.coefficients_u, expected.coefficients_u)


def test_pair_that_is_chosen_twice_is_told(filled, viewer):
    pair, mirrored = tuple(viewer.layers), tuple(viewer.layers)[::-1]
    assert "again" not in filled.about.text()
    filled.form.pairs.value = [pair, mirrored, pair]
    assert filled.about.text().endswith("Pair 3 is pair 1 again, and counts once more.")
    assert filled.button.isEnabled()
    assert "Compute" in filled.button.toolTip()
