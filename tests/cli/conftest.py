"""Real files for the command line: a small scene, its coarse depth, a pair of operators."""

from __future__ import annotations

import numpy as np
import pytest

from napari_cosparse import cli
from napari_cosparse.core.operators import bank, random_frame
from napari_cosparse.core.reconstruction import degrade
from napari_cosparse.io import make_scene, save_operators, write_image

SHAPE = (48, 60)


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Folder with guide.png, depth.tif, low.tif (metres), low16.png (millimetres), pair.npz."""
    folder = tmp_path_factory.mktemp("inputs")
    scene = make_scene(SHAPE, 1)
    low = degrade(scene.depth, 4)
    write_image(folder / "guide.png", scene.guide)
    write_image(folder / "gray.png", scene.guide[..., 1].copy())
    write_image(folder / "depth.tif", scene.depth)
    write_image(folder / "low.tif", low)
    write_image(folder / "low16.png", np.rint(1000 * low).astype(np.uint16))
    write_image(folder / "colour.png", scene.guide[::4, ::4])
    save_operators(folder / "pair.npz", bank(random_frame()))
    (folder / "text.tif").write_text("this is no image")
    (folder / "broken.npz").write_bytes((folder / "pair.npz").read_bytes()[:-100])
    return folder


@pytest.fixture
def run(capsys):
    """Run the command line in this process: exit code, lines of stdout, lines of stderr."""

    def call(*words):
        code = cli.main([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err.splitlines()

    return call
