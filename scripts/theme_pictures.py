"""Pictures of the three panels with a result, in both themes, on a small screen: to be looked at.

python scripts/theme_pictures.py FOLDER
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from panel_pictures import PLUGIN, open_panel, open_viewer, run, shot
from PIL import Image

SCREEN = (1366, 728)  # what a desktop's bar leaves of 768 pixels
THEMES = ("dark", "light")


def main() -> int:
    """Drive each panel once and take its pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--only", choices=sorted(DRIVEN), help="one panel")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as settings:
        os.environ.update(NAPARI_CONFIG=f"{settings}/settings.yaml", NAPARI_ASYNC="0")
        for name, drive in DRIVEN.items():
            if options.only in (None, name):
                viewer = open_viewer()
                viewer.window.resize(*SCREEN)
                panel = drive(viewer)
                take(viewer, panel, options.folder / name)
                viewer.close()
    return 0


def take(viewer: Any, panel: Any, path: Path) -> None:  # noqa: ANN401 napari's viewer
    """Take pictures of a panel after a run, folded and unfolded, in both themes."""
    for theme in THEMES:
        viewer.theme = theme
        for unfolded in (False, True):
            panel.form.fold.setChecked(unfolded)
            ending = f"-{theme}{'-advanced' * unfolded}.png"
            picture = Image.fromarray(shot(viewer))
            picture.save(path.with_name(path.name + ending))
            print(f"{path.name}{ending}: {picture.size[0]} x {picture.size[1]} pixels")


def register(viewer: Any) -> Any:  # noqa: ANN401
    """Register the displaced sample."""
    viewer.open_sample(PLUGIN, "displaced_scene")
    panel = open_panel(viewer, "Register two modalities")
    run(panel, panel.button)
    return panel


def upsample(viewer: Any) -> Any:  # noqa: ANN401
    """Upsample the sample; the edges do not coincide, so that the warning is seen."""
    viewer.open_sample(PLUGIN, "textured_scene")
    panel = open_panel(viewer, "Upsample with a guide")
    viewer.layers["low-resolution depth"].translate = (1.5, 13.5)
    run(panel, panel.button)
    return panel


def learn(viewer: Any) -> Any:  # noqa: ANN401
    """Learn from two pairs."""
    viewer.open_sample(PLUGIN, "textured_scene")
    panel = open_panel(viewer, "Learn operators")
    layers = {layer.name: layer for layer in viewer.layers}
    panel.form.pairs.value = [(layers["guide"], layers["true depth"])] * 2
    panel.form.side.value = 3
    panel.form.iterations.value = 60
    run(panel, panel.button)
    return panel


DRIVEN = {"register": register, "upsample": upsample, "learn": learn}

if __name__ == "__main__":
    sys.exit(main())
