"""A viewer with the panels, and a small real problem to run in them."""

import gc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from napari.utils.notifications import notification_manager

from napari_cosparse import api
from napari_cosparse.core.reconstruction import degrade
from napari_cosparse.io import make_scene
from support.fake_registration import FakeRegister
from support.register_case import MATRIX

PLUGIN = "napari-cosparse"


@dataclass
class Scene:
    """A crop of the generated scene: guide (64, 96, 3) and its depth, 4x coarser depth."""

    guide: Any
    depth: Any
    coarse: Any


@pytest.fixture(scope="session")
def scene():
    whole = make_scene()
    crop = np.s_[150:214, 200:296]
    depth = whole.depth[crop]
    return Scene(whole.guide[crop], depth, degrade(depth, 4))


@pytest.fixture(scope="module", autouse=True)
def _modules_are_no_garbage():
    """Take what lives by now, modules above all, out of the garbage collector's sight.

    Napari collects all garbage whenever layers are removed, and looking through modules takes it
    most of that time. What a test makes is collected as ever.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@pytest.fixture
def viewer(make_napari_viewer_proxy):
    return make_napari_viewer_proxy()


@pytest.fixture
def panel(viewer):
    """The upsampling panel as napari's menu opens it."""
    return viewer.window.add_plugin_dock_widget(PLUGIN, "Upsample with a guide")[1]


@pytest.fixture
def learn_panel(viewer):
    return viewer.window.add_plugin_dock_widget(PLUGIN, "Learn operators")[1]


@pytest.fixture
def register_panel(viewer):
    return viewer.window.add_plugin_dock_widget(PLUGIN, "Register two modalities")[1]


@pytest.fixture
def fake(monkeypatch):
    """Make the facade find MATRIX; other answers are set on it."""
    found = FakeRegister(MATRIX)
    monkeypatch.setattr(api, "register_steps", lambda *a, **k: found.steps(*a, **k))
    return found


@pytest.fixture
def press(qtbot):
    """Press Run of a panel and wait for the end."""

    def press(panel):
        assert panel.button.isEnabled(), panel.about.text()
        panel.button.click()
        assert panel.runner.running
        qtbot.waitUntil(lambda: not panel.runner.running, timeout=300_000)

    return press


@pytest.fixture
def run(panel, press):
    """Press Run of the upsampling panel and wait for the end."""
    return lambda: press(panel)


@pytest.fixture
def notifications():
    """What napari has told the user during the test."""
    notification_manager.records.clear()
    return notification_manager.records
