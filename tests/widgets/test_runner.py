"""Cancel and close during a run, in a real viewer and with the real computation (K14)."""

import numpy as np
import pytest
from napari.utils import progress

from napari_cosparse.core.reconstruction import degrade
from napari_cosparse.io import make_scene


@pytest.fixture
def long_run(panel, viewer, qtbot):
    """A run of seconds that has made its first steps; nothing of it is left afterwards."""
    scene = make_scene()
    viewer.add_image(scene.guide, rgb=True)
    viewer.add_image(degrade(scene.depth, 4), scale=(4, 4), translate=(1.5, 1.5))
    seen = []
    panel.runner.stepped.connect(seen.append)
    panel.button.click()
    qtbot.waitUntil(lambda: any(step.total for step in seen), timeout=30_000)
    assert panel.runner.running
    yield seen
    panel.runner.close()


def test_run_button_cancels(panel, viewer, qtbot, long_run):
    assert panel.button.text() == "Cancel"
    assert not panel.form.isEnabled()
    panel.button.click()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=10_000)
    assert panel.message.text() == "Cancelled."
    assert panel.button.text() == "Run"
    assert panel.form.isEnabled()
    assert len(viewer.layers) == 2
    assert long_run[-1].step < long_run[-1].total


def test_activity_bar_cancels(panel, viewer, qtbot, long_run):
    (bar,) = progress._all_instances
    bar.cancel()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=10_000)
    assert panel.message.text() == "Cancelled."
    assert not progress._all_instances
    assert len(viewer.layers) == 2


def test_closing_the_panel_ends_the_run(panel, viewer, qtbot, long_run):
    worker = panel.runner._worker
    viewer.window.remove_dock_widget(panel)
    assert not worker.is_running
    assert not panel.runner.running
    assert not progress._all_instances
    steps = len(long_run)
    qtbot.wait(200)
    assert len(long_run) == steps  # nothing arrives any more
    assert len(viewer.layers) == 2


def test_closing_the_viewer_ends_the_run(panel, viewer, qtbot, long_run):
    worker = panel.runner._worker
    viewer.close()
    qtbot.waitUntil(lambda: not worker.is_running, timeout=10_000)


def test_layers_may_be_removed_during_the_run(panel, viewer, qtbot, long_run):
    viewer.layers.clear()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=60_000)
    assert [layer.data.shape for layer in viewer.layers] == [(384, 512)]
    assert np.isfinite(viewer.layers[0].data).all()
