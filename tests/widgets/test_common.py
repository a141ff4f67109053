"""What all three panels do alike."""

import time

import numpy as np
import pytest
from napari.utils.notifications import ErrorNotification
from qtpy import API_NAME
from qtpy.QtCore import Qt
from qtpy.QtGui import QGuiApplication
from qtpy.QtWidgets import QPushButton

from napari_cosparse.core.progress import Progress

NAMES = ["Learn operators", "Register two modalities", "Upsample with a guide"]
SCREEN = 768  # pixels
AROUND = 168  # pixels for napari's title, menus and status bar


@pytest.fixture(params=NAMES)
def any_panel(request, viewer, scene):
    viewer.add_image(scene.guide, name="photo", rgb=True)
    viewer.add_image(scene.depth, name="depth")
    panel = viewer.window.add_plugin_dock_widget("napari-cosparse", request.param)[1]
    if request.param == NAMES[0]:
        panel.form.pairs.value = [tuple(viewer.layers)]
    assert panel.button.isEnabled(), panel.about.text()
    return panel


def test_it_fits_a_small_screen_and_nothing_is_cut_off(any_panel, qtbot):
    any_panel.form.fold.click()
    hint = any_panel.minimumSizeHint()
    assert hint.height() < SCREEN - AROUND
    assert hint.width() < 480
    inside = any_panel.pane.widget()
    assert any_panel.pane.minimumSizeHint().width() >= inside.minimumSizeHint().width()


def test_three_panels_with_results_fit_below_one_another_with_all_their_buttons(any_panel):
    """What a run says scrolls where there is no room for it."""
    any_panel.bar.setVisible(True)
    any_panel.plot.show_lines({"": [3, 2, 1]}, "Cost")
    any_panel.message.setText("Many words are said of a result. " * 9)
    any_panel.grab()  # lays it out
    title = any_panel.parent().titleBarWidget().sizeHint().height()
    assert 3 * (any_panel.minimumSizeHint().height() + title) < SCREEN - AROUND


def test_title_of_the_dock_is_not_cut(any_panel):
    dock = any_panel.parent()
    title = dock.titleBarWidget().layout()
    wanted = title.minimumSize().width()
    assert wanted > title.parent().fontMetrics().horizontalAdvance(dock.windowTitle())
    assert any_panel.minimumSizeHint().width() >= wanted


@pytest.mark.skipif(API_NAME == "PySide6", reason="PySide6 deletes the widgets that are visited")
def test_keyboard_goes_down_the_rows(any_panel):
    stops = [row.native for row in any_panel.form.rows]
    stops = [part for part in stops if part.focusPolicy() != Qt.FocusPolicy.NoFocus]
    seen, part = [], stops[0]
    for _ in range(400):
        if part in stops and part not in seen:
            seen.append(part)
        part = part.nextInFocusChain()
    assert seen == stops


@pytest.mark.skipif(API_NAME == "PySide6", reason="PySide6 deletes the widgets that are visited")
def test_keyboard_comes_to_run_last(any_panel):
    inside = any_panel.pane.widget()
    below = [b for b in inside.findChildren(QPushButton) if not any_panel.form.isAncestorOf(b)]
    assert below
    part, seen = next(row.native for row in any_panel.form.rows), []
    for _ in range(400):
        if part in (*below, any_panel.button, any_panel.more) and part not in seen:
            seen.append(part)
        part = part.nextInFocusChain()
    assert seen == [*below, any_panel.button, any_panel.more]


def test_script_is_put_on_the_clipboard(any_panel):
    any_panel.copy_python()
    clipboard = QGuiApplication.clipboard()
    assert clipboard.text() == any_panel.python()
    compile(clipboard.text(), "script", "exec")


def test_settings_survive_a_file(any_panel, tmp_path, notifications):
    told = any_panel.form.state()
    any_panel.save_settings(tmp_path / "s.json")
    any_panel.load_settings(tmp_path / "s.json")
    assert any_panel.form.state() == told
    assert not notifications  # rows that were empty are not missed


def test_window_stays_alive_and_progress_is_seen(any_panel, qtbot):
    """The event loop turns while the worker works."""
    seen = []
    any_panel.runner.stepped.connect(lambda progress: seen.append(progress))

    def steps():
        for step in range(20):
            time.sleep(0.01)
            yield Progress("working", step, 20, cost=20.0 - step)
        return None

    any_panel.start(steps, "test")
    assert any_panel.button.text() == "Cancel"
    assert any_panel.bar.isVisibleTo(any_panel)
    qtbot.waitUntil(lambda: len(seen) > 5, timeout=10_000)
    assert any_panel.plot.lines[""][0] == 20.0
    any_panel.button.click()
    qtbot.waitUntil(lambda: not any_panel.runner.running, timeout=10_000)
    assert any_panel.button.text() == "Run"
    assert not any_panel.bar.isVisibleTo(any_panel)


def test_fault_is_one_notification_and_leaves_the_panel_usable(any_panel, qtbot, notifications):
    def steps():
        yield Progress("working", 1, 2)
        raise RuntimeError("a fault of ours")

    any_panel.start(steps, "test")
    qtbot.waitUntil(lambda: not any_panel.runner.running, timeout=10_000)
    assert len(notifications) == 1
    assert isinstance(notifications[0], ErrorNotification)
    assert any_panel.button.isEnabled()


def test_closing_the_panel_in_the_middle_stops_the_job(any_panel, viewer, qtbot):
    ended = []

    def steps():
        try:
            for step in range(10_000):
                time.sleep(0.005)
                yield Progress("working", step, 10_000)
        finally:
            ended.append(True)

    any_panel.start(steps, "test")
    qtbot.waitUntil(lambda: any_panel.last is not None, timeout=10_000)
    viewer.window.remove_dock_widget(any_panel)
    qtbot.waitUntil(lambda: bool(ended), timeout=10_000)
    assert not any_panel.runner.running
    count = len(viewer.layers)
    any_panel.grab()  # lays it out
    assert len(viewer.layers) == count


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_plot_is_drawn_in_the_colours_of_the_theme(any_panel, viewer, theme):
    viewer.theme = theme
    any_panel.plot.show_lines({"a": [5.0, 3.0, np.nan, 1.0], "b": [1.0, 2.0, 3.0, 1.5]}, "Cost")
    image = any_panel.plot.grab().toImage()
    colours = {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }
    assert {"#3daee9", "#f28e2b"} <= colours


def test_menu_offers_settings_and_script(any_panel, tmp_path, monkeypatch, notifications):
    """What the dialogs return is written and read; a file that is none is told."""
    path = tmp_path / "s.json"
    answer = lambda *_: (str(path), "")  # noqa: E731
    monkeypatch.setattr("qtpy.QtWidgets.QFileDialog.getSaveFileName", answer)
    monkeypatch.setattr("qtpy.QtWidgets.QFileDialog.getOpenFileName", answer)
    save, load, copy = any_panel.more.menu().actions()
    save.trigger()
    assert path.exists()
    load.trigger()
    copy.trigger()
    assert "clipboard" in notifications[-1].message
    path.write_text("{")
    load.trigger()
    assert "is not a settings file" in notifications[-1].message
