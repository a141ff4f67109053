"""Drive the panels in a real viewer, as a newcomer would, and take pictures of the window."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

SECONDS = 180  # that a run may take
SIZE = (1180, 760)
PLUGIN = "napari-cosparse"

Picture = tuple[str, np.ndarray]


def panel_pictures() -> Iterator[Picture]:
    """Yield name and pixels of each picture of the tutorials."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(NAPARI_CONFIG=f"{folder}/settings.yaml", NAPARI_ASYNC="0")
        for tutorial in (align, upsample, learn):
            viewer = open_viewer()
            yield from tutorial(viewer)
            viewer.close()


def align(viewer: Any) -> Iterator[Picture]:  # noqa: ANN401 napari's viewer
    """Open the displaced sample, register, compare."""
    viewer.open_sample(PLUGIN, "displaced_scene")
    panel = open_panel(viewer, "Register two modalities")
    yield "align-open", shot(viewer)
    run(panel, panel.button)
    viewer.layers["depth"].visible = False
    yield "align-done", shot(viewer)
    panel.tools.buttons["Checkerboard"].click()
    viewer.layers["depth [registered]"].visible = False
    yield "align-checkerboard", shot(viewer)


def upsample(viewer: Any) -> Iterator[Picture]:  # noqa: ANN401
    """Open the sample, preview, run."""
    viewer.open_sample(PLUGIN, "textured_scene")
    panel = open_panel(viewer, "Upsample with a guide")
    viewer.layers["guide"].visible = False
    viewer.layers["low-resolution depth"].opacity = 1
    run(panel, panel.preview_button)
    yield "upsample-preview", shot(viewer)
    run(panel, panel.button)
    yield "panel", shot(viewer)


def learn(viewer: Any) -> Iterator[Picture]:  # noqa: ANN401
    """Open the sample, choose guide and true depth, learn."""
    viewer.open_sample(PLUGIN, "textured_scene")
    panel = open_panel(viewer, "Learn operators")
    layers = {layer.name: layer for layer in viewer.layers}
    panel.form.pairs.value = [(layers["guide"], layers["true depth"])]
    panel.form.side.value = 3
    layers["low-resolution depth"].visible = False
    run(panel, panel.button)
    yield "learn-done", shot(viewer)


def open_viewer() -> Any:  # noqa: ANN401 napari's viewer
    """Open a window of the pictures' size."""
    import napari

    viewer = napari.Viewer(show=True)
    viewer.window.resize(*SIZE)
    return viewer


def open_panel(viewer: Any, name: str) -> Any:  # noqa: ANN401
    """Open a panel as the menu does."""
    return viewer.window.add_plugin_dock_widget(PLUGIN, name)[1]


def run(panel: Any, button: Any) -> None:  # noqa: ANN401
    """Press a button and wait for the end of the run."""
    from qtpy.QtTest import QTest

    button.click()
    for _ in range(SECONDS * 20):
        QTest.qWait(50)
        if not panel.runner.running:
            print(f"panel: {panel.message.text()}")
            return
    raise SystemExit(f"the run took more than {SECONDS} seconds")


def shot(viewer: Any) -> np.ndarray:  # noqa: ANN401
    """Picture of the whole window."""
    from qtpy.QtTest import QTest

    QTest.qWait(500)  # the window finds its layout first
    viewer.reset_view()
    QTest.qWait(1500)
    picture = viewer.screenshot(canvas_only=False, flash=False)
    return np.ascontiguousarray(picture[..., :3])
