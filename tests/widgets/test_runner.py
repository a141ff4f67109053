"""Cancel and close during a run, in a real viewer and with the real computation (K14)."""

import time

import numpy as np
import pytest
from napari.utils import progress
from qtpy.QtCore import QTimer

from napari_cosparse.core.progress import Progress
from napari_cosparse.core.reconstruction import degrade
from napari_cosparse.io import make_scene
from napari_cosparse.tiles import Cancelled


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


def test_bar_says_what_is_computed(panel, long_run):
    assert panel.bar.isVisibleTo(panel)
    assert panel.bar.toolTip().startswith("Upsampling ")


def test_window_has_come_round_before_the_worker_begins(panel, qtbot):
    """Else both fight for Python's lock while the window draws that the run begins."""
    begun, turned = [], []

    def steps():
        begun.append(len(turned))
        yield Progress("working", 1, 1)
        return "done"

    panel.succeed = str
    panel.start(steps, "test")
    QTimer.singleShot(0, lambda: turned.append(True))
    assert panel.runner.running
    time.sleep(0.2)
    assert not begun
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=10_000)
    assert begun == [1]


@pytest.mark.parametrize("way", ["cancel", "close"])
def test_run_may_be_stopped_before_its_worker_begins(panel, qtbot, way):
    ended = []

    def steps():
        yield Progress("working", 1, 1)
        ended.append(True)
        return "done"

    panel.start(steps, "test")
    getattr(panel.runner, way)()
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=10_000)
    qtbot.wait(200)
    assert not ended
    panel.runner.close()


def test_napari_shows_no_bar_of_its_own(panel, qtbot):
    """It would draw the window anew; after a layer was deleted that has ended napari."""

    def steps():
        while True:
            time.sleep(0.05)
            yield Progress("waiting", 1, 2)

    panel.start(steps, "test")
    qtbot.wait(2500)
    assert panel.runner.running
    assert not progress._all_instances
    panel.runner.close()


def test_closing_the_panel_ends_the_run(panel, viewer, qtbot, long_run):
    worker = panel.runner._worker
    viewer.window.remove_dock_widget(panel)
    assert not worker.is_running
    assert not panel.runner.running
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


def test_progress_of_thousands_of_steps_comes_ten_times_a_second(panel, qtbot):
    """The window has other things to do; still no step is lost to who keeps the best."""
    seen, drawn = [], []

    def steps():
        for step in range(3000):
            yield Progress("working" if step < 2990 else "ending", step, 3000, cost=1.0)
        return "done"

    panel.succeed = lambda outcome: f"{outcome} now"
    panel.runner.stepped.connect(seen.append)
    panel.runner.told.connect(lambda: drawn.append(len(seen)))
    panel.start(steps, "test")
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=20_000)
    assert [progress.step for progress in seen] == list(range(3000))
    assert len(drawn) < 300
    assert len(panel.plot.lines[""]) == 3001  # with a gap between the stages
    assert panel.message.text() == "done now"


def test_window_is_drawn_thrice_a_second_however_many_stages_there_are(panel, qtbot):
    """Drawing them all took a preview half a second of both cores; a long stage is told soon."""
    shown, stages = [], 20

    def steps():
        for stage in range(stages):
            yield Progress(f"stage {stage}", stage, stages, cost=1.0)
            time.sleep(0.05)
        yield Progress("last stage", stages, stages)
        time.sleep(1.0)
        return "done"

    panel.succeed = str
    panel.runner.told.connect(lambda: shown.append(panel.last.stage))
    panel.start(steps, "test")
    qtbot.waitUntil(lambda: panel.message.text() == "last stage ...", timeout=10_000)
    assert panel.runner.running  # the stage that takes long is not kept back until it has ended
    qtbot.waitUntil(lambda: not panel.runner.running, timeout=10_000)
    assert shown[0] == "stage 0"
    assert len(shown) <= 6


def test_job_may_ask_whether_to_stop_between_two_steps(panel, qtbot):
    """A long step is left in the middle, and the next run begins afresh."""
    begun, ended = [], []

    def job(asked):
        def steps():
            yield Progress("working", 1, 2)
            begun.append(True)  # told to stop before that, it would end between the steps
            while not asked():
                time.sleep(0.005)
            ended.append(True)
            raise Cancelled

        return steps

    for number in range(2):
        panel.start(job(panel.runner.told_to_stop), "test")
        qtbot.waitUntil(lambda n=number: len(begun) > n, timeout=10_000)
        assert panel.runner.running
        panel.button.click()
        qtbot.waitUntil(lambda: not panel.runner.running, timeout=10_000)
        assert panel.message.text() == "Cancelled."
    assert len(ended) == 2
